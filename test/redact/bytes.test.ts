import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBytes, encodeBytes, unfinished } from '../../src/redact/index.ts';

describe('bytes and text', () => {
  it('[RED-10] go back and forth without loss, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(encodeBytes(decodeBytes(bytes))).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('[RED-10] valid text is decoded as such', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decodeBytes(Buffer.from(text))).toBe(text);
      }),
    );
  });

  it('[RED-10] a character cut in two waits for its rest', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (text, cut) => {
        const bytes = Buffer.from(text);
        const head = bytes.subarray(0, cut % (bytes.length + 1));
        const whole = head.length - unfinished(head);
        expect(decodeBytes(bytes.subarray(0, whole)) + decodeBytes(bytes.subarray(whole))).toBe(text);
      }),
    );
  });
});
