export interface TerminalStreams {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
}

/** Lines from a person, one at a time. */
export interface LineReader {
  /** A line, or undefined when there will be none. */
  read(prompt: string): Promise<string | undefined>;
  say(text: string): void;
  /** Why there will be no line. */
  why(): string;
  close(): void;
}

/** How long keys that were pressed before the question may take to arrive. */
const STALE_MS = 40;
/** Nobody types more than this in a line. */
const LONGEST_LINE = 64 * 1024;

/**
 * Reads lines until closed or until the signal fires.
 *
 * L1 What was typed at a terminal before the question was shown is thrown away: nobody approves what they
 *    have not seen.
 * L2 Only a line that was ended by the person counts; what is left over when the input closes does not.
 * L3 The terminal itself edits the line and turns Ctrl-C into a signal: there is no raw mode to leave behind.
 */
export async function lineReader(streams: TerminalStreams, signal: AbortSignal): Promise<LineReader> {
  const { input, output } = streams;
  if (input.isTTY === true) await discardTyped(input);
  const decoder = new TextDecoder();
  const waiting: string[] = [];
  let partial = '';
  let wanted: ((line: string | undefined) => void) | undefined;
  let ended = signal.aborted ? 'nobody answered in time' : '';

  const hand = (line: string | undefined) => {
    const take = wanted;
    wanted = undefined;
    if (take) take(line);
    else if (line !== undefined) waiting.push(line);
  };
  const end = (why: string) => {
    if (ended === '') ended = why;
    hand(undefined);
  };
  const data = (chunk: Buffer | string) => {
    if (ended !== '') return;
    partial += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true });
    const lines = partial.split(/\r\n|\n|\r/);
    partial = lines.pop() ?? '';
    for (const line of lines) hand(line);
    if (partial.length > LONGEST_LINE) end('the line was too long to be an answer');
  };
  const closed = () => end('the terminal was closed');
  const late = () => end('nobody answered in time');
  input.on('data', data);
  for (const event of ['end', 'close', 'error']) input.on(event, closed);
  signal.addEventListener('abort', late, { once: true });
  if (readableEnded(input)) closed();
  else input.resume();

  return {
    read: (prompt) => {
      output.write(prompt);
      const ready = ended === '' ? waiting.shift() : undefined;
      if (ready !== undefined) return Promise.resolve(ready);
      if (ended !== '') return Promise.resolve(undefined);
      return new Promise((resolve) => {
        wanted = resolve;
      });
    },
    say: (text) => void output.write(`${text}\n`),
    why: () => ended || 'nobody answered',
    close: () => {
      signal.removeEventListener('abort', late);
      input.off('data', data);
      for (const event of ['end', 'close', 'error']) input.off(event, closed);
      input.pause();
    },
  };
}

function readableEnded(
  input: NodeJS.ReadableStream & { readonly readableEnded?: boolean; readonly destroyed?: boolean },
) {
  return input.readableEnded === true || input.destroyed === true;
}

function discardTyped(input: NodeJS.ReadableStream): Promise<void> {
  return new Promise((resolve) => {
    const drop = () => {};
    input.on('data', drop);
    input.resume();
    setTimeout(() => {
      input.off('data', drop);
      input.pause();
      resolve();
    }, STALE_MS);
  });
}
