import type { Cli } from './cli.ts';

/** A line of input: its text, or what is wrong with it. */
export type InputLine =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly why: string };

const LONGEST = 16 * 1024 * 1024;

/**
 * Lines of a stream as they come, in order, with bounded memory: a line that is too long is passed over and
 * reported in its place. The last line may lack its line feed.
 */
export async function* inputLines(
  input: AsyncIterable<Buffer | string>,
  longest = LONGEST,
): AsyncGenerator<InputLine> {
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
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      hold(bytes.subarray(from, end));
      from = end + 1;
      yield line();
    }
    if (from < bytes.length) hold(Buffer.from(bytes.subarray(from)));
  }
  if (size > 0) yield line();
}

/** Output in large pieces, waiting when the reader is slower than we are. */
export function pieces(cli: Cli): { add(text: string): Promise<void> | undefined; flush(): Promise<void> } {
  let waiting: string[] = [];
  let size = 0;
  const flush = async () => {
    if (size === 0) return;
    const text = waiting.join('');
    waiting = [];
    size = 0;
    if (!cli.stdout.write(text)) await new Promise<void>((resolve) => cli.stdout.once('drain', resolve));
  };
  return {
    add: (text) => {
      waiting.push(text);
      size += text.length;
      return size > 64 * 1024 ? flush() : undefined;
    },
    flush,
  };
}
