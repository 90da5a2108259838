import type { Cli } from './cli.ts';

/** A line of input: its text, or what is wrong with it. */
export type InputLine =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

const LONGEST = 16 * 1024 * 1024;

/**
 * Lines of a stream in order, all that have come at a time, with bounded memory: a line that is too long is passed
 * over and reported in its place. The last line may lack its line feed.
 */
export async function* inputLines(
  input: AsyncIterable<Buffer | string>,
  longest = LONGEST,
): AsyncGenerator<readonly InputLine[]> {
  let held: Buffer[] = [];
  let size = 0;
  const line = (): InputLine => {
    const result: InputLine =
      size > longest
        ? { ok: false, why: `the line is longer than ${longest} bytes` }
        : { ok: true, text: Buffer.concat(held).toString('utf8') };
    held = [];
    size = 0;
    return result;
  };
  const hold = (piece: Buffer) => {
    size += piece.length;
    if (size <= longest) held.push(piece);
    else held = [];
  };
  for await (const chunk of input) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    const lines: InputLine[] = [];
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      hold(bytes.subarray(from, end));
      from = end + 1;
      lines.push(line());
    }
    if (from < bytes.length) hold(Buffer.from(bytes.subarray(from)));
    if (lines.length > 0) yield lines;
  }
  if (size > 0) yield [line()];
}

/** Output that waits when its reader is slower than we are, and notices when the reader has gone. */
export interface Outlet {
  /** False once nobody reads any more: the caller stops. */
  write(data: string | Uint8Array): Promise<boolean>;
  /** Gathers small pieces; a promise when it had to write. */
  add(text: string): Promise<boolean> | undefined;
  flush(): Promise<boolean>;
}

const PIECE = 64 * 1024;

export function outlet(cli: Cli): Outlet {
  let waiting: string[] = [];
  let size = 0;
  let gone = false;
  let wake = () => {};
  // `| head` closes the pipe when it has enough: no fault of ours, and nothing to say.
  cli.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    gone = true;
    wake();
  });
  const write = async (data: string | Uint8Array) => {
    if (gone) return false;
    if (!cli.stdout.write(data))
      await new Promise<void>((resolve) => {
        wake = resolve;
        cli.stdout.once('drain', resolve);
      });
    return !gone;
  };
  const flush = () => {
    const text = waiting.join('');
    waiting = [];
    size = 0;
    return text === '' ? Promise.resolve(!gone) : write(text);
  };
  return {
    write,
    flush,
    add: (text) => {
      waiting.push(text);
      size += text.length;
      return size > PIECE ? flush() : undefined;
    },
  };
}
