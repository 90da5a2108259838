/** DNS over TCP in one direction: messages with a length before each, over any segmentation. */
import { u16be } from '../read/bytes.ts';

type OnMessage = (bytes: Uint8Array, start: number, end: number) => void;

const LENGTH = 2;
const MAX_HELD = 65_537;

export class DnsAssembly {
  #partial: Uint8Array | undefined;
  /** Sequence number where the partial message starts, and how much of it is there without a hole. */
  #seq = 0;
  #have = 0;
  /** Total bytes wanted, or 0 while even the length is incomplete. */
  #want = 0;

  /** Whether a message is in the making: if not, there is nothing to remember. */
  get waiting(): boolean {
    return this.#partial !== undefined;
  }

  /** Takes a segment; `isNew` is false for repetitions and late segments, which may only fill a gap. */
  take(b: Uint8Array, o: number, end: number, seq: number, isNew: boolean, onMessage: OnMessage): void {
    if (this.#partial === undefined) {
      if (isNew) this.#parse(b, o, end, seq, onMessage);
      return;
    }
    const offset = (seq - this.#seq) | 0;
    if (offset === this.#have) this.#append(b, o, end, seq, onMessage);
    else if (isNew && (offset < 0 || offset > MAX_HELD)) {
      this.#partial = undefined;
      this.#parse(b, o, end, seq, onMessage);
    }
  }

  #append(b: Uint8Array, o: number, end: number, seq: number, onMessage: OnMessage): void {
    let held = this.#partial!;
    let at = o;
    if (this.#want === 0) {
      while (this.#have < LENGTH && at < end) held[this.#have++] = b[at++]!;
      if (this.#have < LENGTH) return;
      this.#want = LENGTH + u16be(held, 0);
      const whole = new Uint8Array(this.#want);
      whole.set(held);
      this.#partial = whole;
      held = whole;
    }
    const step = Math.min(end - at, this.#want - this.#have);
    held.set(b.subarray(at, at + step), this.#have);
    this.#have += step;
    at += step;
    if (this.#have < this.#want) return;
    this.#partial = undefined;
    onMessage(held, LENGTH, this.#want);
    if (at < end) this.#parse(b, at, end, (seq + (at - o)) | 0, onMessage);
  }

  #parse(b: Uint8Array, start: number, end: number, seq: number, onMessage: OnMessage): void {
    let o = start;
    while (o < end) {
      const want = end - o < LENGTH ? 0 : LENGTH + u16be(b, o);
      if (want === 0 || end - o < want) {
        this.#hold(b, o, end, (seq + (o - start)) | 0, want);
        return;
      }
      onMessage(b, o + LENGTH, o + want);
      o += want;
    }
  }

  #hold(b: Uint8Array, o: number, end: number, seq: number, want: number): void {
    this.#partial = new Uint8Array(want === 0 ? LENGTH : want);
    this.#partial.set(b.subarray(o, end));
    this.#have = end - o;
    this.#want = want;
    this.#seq = seq;
  }
}
