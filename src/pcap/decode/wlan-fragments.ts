/** Fragments of 802.11 frames, numbered from 0: put together when all are there. Bounded, the oldest go first. */
const MAX_WAITING = 256;
const MAX_BYTES = 16_384;

interface Waiting {
  readonly pieces: Map<number, Uint8Array>;
  last: number;
}

export class WlanFragments {
  readonly #waiting = new Map<string, Waiting>();

  /** `o` is at the frame, `body` at its payload. Answers the whole payload once it is complete. */
  add(
    b: Uint8Array,
    o: number,
    body: number,
    end: number,
    sequence: number,
    more: boolean,
  ): Uint8Array | undefined {
    const number = sequence & 0xf;
    const key = `${b.subarray(o + 4, o + 16).join('.')}.${sequence >> 4}`;
    const known = this.#waiting.get(key);
    // A last fragment without others is a whole frame: some devices join fragments and keep the number.
    if (known === undefined && !more) return b.slice(body, end);
    const waiting = known ?? { pieces: new Map<number, Uint8Array>(), last: -1 };
    this.#waiting.set(key, waiting);
    if (!waiting.pieces.has(number))
      waiting.pieces.set(number, b.slice(body, Math.min(end, body + MAX_BYTES)));
    if (!more) waiting.last = number;
    if (waiting.last < 0 || waiting.pieces.size <= waiting.last) {
      if (this.#waiting.size > MAX_WAITING) this.#waiting.delete(this.#waiting.keys().next().value ?? '');
      return undefined;
    }
    this.#waiting.delete(key);
    const parts = Array.from({ length: waiting.last + 1 }, (_, i) => waiting.pieces.get(i));
    if (parts.some((part) => part === undefined)) return undefined;
    const whole = new Uint8Array(parts.reduce((sum, part) => sum + part!.length, 0));
    let at = 0;
    for (const part of parts) {
      whole.set(part!, at);
      at += part!.length;
    }
    return whole;
  }
}
