import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Capture } from '../../src/sandbox/capture.ts';

describe('capture', () => {
  it('[SBX-04] keeps exactly the first bytes and counts all, however they are cut up', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5000 })), fc.nat(12_000), (chunks, limit) => {
        const capture = new Capture(limit);
        for (const chunk of chunks) capture.push(chunk);
        const all = Buffer.concat(chunks);
        expect(Buffer.from(capture.bytes()).equals(all.subarray(0, limit))).toBe(true);
        expect(capture.total).toBe(all.byteLength);
        expect(capture.truncated).toBe(all.byteLength > limit);
      }),
    );
  });

  it('keeps its own copy', () => {
    const capture = new Capture(10);
    const chunk = Buffer.from('abc');
    capture.push(chunk);
    chunk.fill(0);
    expect(Buffer.from(capture.bytes()).toString()).toBe('abc');
  });
});
