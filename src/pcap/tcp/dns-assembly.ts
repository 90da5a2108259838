/**
 * DNS over TCP in one direction: messages with a length before each, over any segmentation, in any order a
 * network delivers. Like the reference, it looks into a message in the frame that completes it, and not into
 * segments that came late.
 *
 * Bounds: at most `MAX_PDUS` messages are remembered, each at most 65,537 bytes.
 */
import { u16be } from '../read/bytes.ts';

type OnMessage = (bytes: Uint8Array, start: number, end: number) => void;

const LENGTH = 2;
const MAX_PDUS = 32;
/** Needs of a reader: nothing more, or as much as the next segment brings (even the length is incomplete). */
const SATISFIED = 0;
const NEXT_SEGMENT = -1;

/** One message that spans segments. Sequence numbers are 32-bit and compared by difference. */
class Pdu {
  readonly seq: number;
  end: number;
  /** The next segment is taken whole: how much is needed will be known then. */
  whole: boolean;
  done = false;
  lastFrame: number;
  #pieces: { readonly offset: number; readonly bytes: Uint8Array }[] = [];
  #total = -1;

  constructor(seq: number, end: number, whole: boolean, frame: number) {
    this.seq = seq;
    this.end = end;
    this.whole = whole;
    this.lastFrame = frame;
  }

  /** Adds a piece; answers the message when nothing is missing any more. */
  add(offset: number, bytes: Uint8Array, final: boolean): Uint8Array | undefined {
    this.#pieces.push({ offset, bytes });
    if (final) this.#total = Math.max(this.#total, offset + bytes.length);
    if (this.#total < 0) return undefined;
    const sorted = [...this.#pieces].sort((a, b) => a.offset - b.offset);
    const out = new Uint8Array(this.#total);
    let have = 0;
    for (const piece of sorted) {
      if (piece.offset > have) return undefined;
      const stop = Math.min(this.#total, piece.offset + piece.bytes.length);
      if (stop <= have) continue;
      out.set(piece.bytes.subarray(have - piece.offset, stop - piece.offset), have);
      have = stop;
    }
    return have >= this.#total ? out : undefined;
  }

  /** What was complete turned out to be a beginning. */
  reopen(): void {
    this.#total = -1;
  }

  close(): void {
    this.done = true;
    this.#pieces = [];
  }
}

export class DnsAssembly {
  #pdus: Pdu[] = [];
  /** Where the reader stopped, and what it needs. */
  #stoppedAt = 0;
  #needs = SATISFIED;

  /** Whether a message is in the making: if not, there is nothing to remember. */
  get waiting(): boolean {
    return this.#pdus.some((pdu) => !pdu.done);
  }

  /**
   * Takes a segment. `again` says it repeats what was seen, `readable` that messages in it may be looked into.
   */
  take(
    b: Uint8Array,
    start: number,
    end: number,
    sequence: number,
    frame: number,
    again: boolean,
    readable: boolean,
    onMessage: OnMessage,
  ): void {
    let o = start;
    let seq = sequence | 0;
    // Every turn moves forward in the segment, so there are at most as many as bytes.
    for (let turns = 0; turns <= end - start && o < end; turns++) {
      const next = (seq + (end - o)) | 0;
      const same = this.#pdus.find((pdu) => pdu.seq === seq);
      if (same !== undefined && ((next - same.end) | 0) <= 0 && same.lastFrame !== frame) return;
      if (again) return;
      const pdu = same ?? this.#before(seq);
      if (pdu === undefined || ((pdu.end - seq) | 0) <= 0) {
        if (readable) this.#read(b, o, end, onMessage);
        if (readable && this.#needs !== SATISFIED) this.#open(b, o, end, seq, next, frame);
        return;
      }
      const step = this.#continue(pdu, b, o, end, seq, frame, readable, onMessage);
      if (step === 0) return;
      o += step;
      seq = (seq + step) | 0;
    }
  }

  /** Adds the segment to the message it belongs to; answers how much of it was used up, 0 for all. */
  #continue(
    pdu: Pdu,
    b: Uint8Array,
    o: number,
    end: number,
    seq: number,
    frame: number,
    readable: boolean,
    onMessage: OnMessage,
  ): number {
    pdu.lastFrame = frame;
    const size = end - o;
    const next = (seq + size) | 0;
    const used = pdu.whole ? size : Math.min(size, (pdu.end - seq) | 0);
    const message = pdu.done
      ? undefined
      : pdu.add((seq - pdu.seq) | 0, b.slice(o, o + used), ((next - pdu.end) | 0) >= 0);
    if (pdu.whole) {
      pdu.whole = false;
      if (((pdu.end - next) | 0) < 0) pdu.end = next;
    }
    const follows = ((pdu.end - next) | 0) < 0 && used > 0 ? (pdu.end - seq) | 0 : 0;
    if (message === undefined) return follows;
    if (readable) this.#read(message, 0, message.length, onMessage);
    else this.#needs = SATISFIED;
    if (this.#needs === SATISFIED) {
      pdu.close();
      return follows;
    }
    this.#extend(pdu, message, seq, used, size, frame);
    return used;
  }

  /** The message goes on: either the same one, or its last part is a new one. */
  #extend(pdu: Pdu, message: Uint8Array, seq: number, used: number, size: number, frame: number): void {
    let target = pdu;
    if (this.#stoppedAt > 0 && ((pdu.seq + this.#stoppedAt - seq) | 0) > 0) {
      const from = (pdu.seq + this.#stoppedAt) | 0;
      target = new Pdu(from, pdu.end, false, frame);
      target.add(0, message.slice(this.#stoppedAt), false);
      pdu.close();
      pdu.end = from;
      this.#keep(target);
    } else pdu.reopen();
    if (this.#needs === NEXT_SEGMENT) {
      const reach = (seq + size) | 0;
      target.end = ((((reach - target.end) | 0) > 0 ? reach : target.end) + 1) | 0;
      target.whole = true;
    } else {
      const reach = (seq + used) | 0;
      target.end = ((((reach - target.end) | 0) >= 0 ? reach : target.end) + this.#needs) | 0;
    }
  }

  #open(b: Uint8Array, o: number, end: number, seq: number, next: number, frame: number): void {
    const from = (seq + (this.#stoppedAt - o)) | 0;
    const whole = this.#needs === NEXT_SEGMENT;
    const pdu = new Pdu(from, (next + (whole ? 1 : this.#needs)) | 0, whole, frame);
    pdu.add(0, b.slice(this.#stoppedAt, end), false);
    this.#keep(pdu);
  }

  #keep(pdu: Pdu): void {
    this.#pdus = this.#pdus.filter(({ seq }) => seq !== pdu.seq);
    this.#pdus.push(pdu);
    if (this.#pdus.length > MAX_PDUS) this.#pdus.shift();
  }

  /** The message that starts closest before a number. */
  #before(seq: number): Pdu | undefined {
    let best: Pdu | undefined;
    for (const pdu of this.#pdus) {
      const distance = (seq - pdu.seq) | 0;
      if (distance > 0 && (best === undefined || distance < ((seq - best.seq) | 0))) best = pdu;
    }
    return best;
  }

  #read(b: Uint8Array, start: number, end: number, onMessage: OnMessage): void {
    let o = start;
    while (o < end) {
      const want = end - o < LENGTH ? 0 : LENGTH + u16be(b, o);
      if (want === 0 || end - o < want) {
        this.#stoppedAt = o;
        this.#needs = want === 0 ? NEXT_SEGMENT : want - (end - o);
        return;
      }
      onMessage(b, o + LENGTH, o + want);
      o += want;
    }
    this.#needs = SATISFIED;
  }
}
