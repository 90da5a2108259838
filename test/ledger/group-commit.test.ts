import { describe, expect, it } from 'vitest';
import { GroupCommit } from '../../src/ledger/group-commit.ts';

/** A disk whose flushes are counted, by the lines each of them held. */
function counted(shared = true, commitOf: (lines: string) => Promise<void> = async () => undefined) {
  const flushes: string[] = [];
  const queue = new GroupCommit({
    shared,
    commit: async (batches) => {
      const lines = batches.map(({ buffer, used }) => buffer.toString('latin1', 0, used)).join('');
      flushes.push(lines);
      await commitOf(lines);
    },
  });
  const push = (line: string, when?: 'now' | 'soon') => {
    const batch = queue.reserve(line.length);
    batch.buffer.write(line, batch.used, 'latin1');
    return queue.push(batch, line.length, line, when);
  };
  return { queue, push, flushes };
}

describe('lines that nobody waits for', () => {
  it('share the flush of the next line, before it', async () => {
    for (const shared of [true, false]) {
      const { push, flushes } = counted(shared);
      const soon = push('a', 'soon');
      expect(flushes).toEqual([]);
      expect(await push('b')).toBe('b');
      expect(flushes).toEqual(shared ? ['ab'] : ['a', 'b']);
      expect(await soon).toBe('a');
    }
  });

  it('have a flush of their own when nothing comes, and start none while another runs', async () => {
    const slow = Promise.withResolvers<void>();
    const { push, flushes } = counted(true, (lines) => (lines === 'a' ? slow.promise : Promise.resolve()));
    const first = push('a');
    await new Promise(setImmediate);
    const late = push('b', 'soon');
    const next = push('c', 'soon');
    slow.resolve();
    await first;
    expect(flushes).toEqual(['a']);
    expect(await Promise.all([late, next])).toEqual(['b', 'c']);
    expect(flushes).toEqual(['a', 'bc']);
  });

  it('are out when the queue is idle, and fail with what fails', async () => {
    const { queue, push, flushes } = counted();
    void push('a', 'soon');
    await queue.idle();
    expect(flushes).toEqual(['a']);
    const broken = counted(true, () => Promise.reject(new Error('ENOSPC')));
    const soon = broken.push('a', 'soon');
    await expect(broken.push('b')).rejects.toThrow('ENOSPC');
    await expect(soon).rejects.toThrow('ENOSPC');
    expect(() => broken.push('c', 'soon')).toThrow('ENOSPC');
  });

  it('a buffer used again holds nothing of its last lines', async () => {
    const { push, flushes } = counted();
    for (const line of ['long line', 'short', 'x']) await push(line);
    expect(flushes).toEqual(['long line', 'short', 'x']);
  });
});
