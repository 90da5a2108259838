import { describe, expect, it } from 'vitest';
import { inputLines } from '../../src/cli/json-lines.ts';

async function* chunks(...parts: string[]) {
  for (const part of parts) yield Buffer.from(part);
}

async function read(parts: readonly string[], longest?: number) {
  const lines: unknown[] = [];
  for await (const batch of inputLines(chunks(...parts), longest))
    lines.push(...batch.map((line) => (line.ok ? line.text : 'too long')));
  return lines;
}

describe('lines of input', () => {
  it('[SHL-56] come whole and in order, wherever the chunks are cut', async () => {
    expect(await read(['a\nb', 'c\n', '\n', 'd'])).toEqual(['a', 'bc', '', 'd']);
    expect(await read([])).toEqual([]);
    expect(await read(['a\n'])).toEqual(['a']);
  });

  it('[SHL-56] that are too long keep their place and cost no memory', async () => {
    expect(await read(['short\n', 'x'.repeat(50), 'y'.repeat(50), '\nnext\n'], 60)).toEqual([
      'short',
      'too long',
      'next',
    ]);
  });
});
