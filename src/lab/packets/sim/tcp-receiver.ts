/**
 * The receiving half of a TCP endpoint: what arrived, what the application has read, what window that leaves.
 *
 * 1. The right edge of the window never moves left.
 * 2. Data outside the advertised window is not taken, only acknowledged: that is how probes are answered.
 * 3. An application that reads at once keeps the window constant; a slow one lets it close.
 */
import { type Range, RangeSet } from './ranges.ts';

export type Taken = 'duplicate' | 'out_of_order' | 'in_order' | 'refused';

export class TcpReceiver {
  next = 1;
  finAt: number | null = null;
  unread = 0;
  readonly buffer: number;
  readonly scale: number;
  readonly #early = new RangeSet();
  #newest: Range | null = null;
  #edge: number;

  constructor(buffer: number, scale: number) {
    this.buffer = buffer;
    this.scale = scale;
    this.#edge = 1 + buffer;
  }

  get finReached(): boolean {
    return this.finAt !== null && this.next > this.finAt;
  }

  /** The window to advertise now, in bytes, a multiple of the scale's unit. Remembers it as promised. */
  advertise(): number {
    const unit = 1 << this.scale;
    let free = Math.max(0, this.buffer - this.unread);
    // Receiver's side of silly window avoidance: a scrap is advertised as nothing.
    if (free < Math.min(1460, this.buffer / 2)) free = 0;
    const promised = Math.max(this.#edge, this.next + Math.floor(free / unit) * unit);
    const window = Math.floor((promised - this.next) / unit) * unit;
    this.#edge = this.next + window;
    return window;
  }

  /** What the next advertisement would open up beyond the promised edge. */
  get opening(): number {
    return this.next + (this.buffer - this.unread) - this.#edge;
  }

  take(offset: number, length: number, fin: boolean): Taken {
    const end = offset + length;
    if (fin) this.finAt = end;
    if (end + (fin ? 1 : 0) <= this.next) return 'duplicate';
    if (length > 0 && end > this.#edge) return 'refused';
    if (offset > this.next) {
      this.#early.add(offset, end);
      this.#newest = { from: offset, to: end };
      return 'out_of_order';
    }
    const before = this.next;
    this.#early.add(this.next, end);
    this.next = this.#early.firstGap(this.next);
    this.#early.dropBelow(this.next);
    this.unread += this.next - before;
    if (this.finAt === this.next) this.next += 1;
    return 'in_order';
  }

  /** The application takes up to `bytes`; returns how many there were. */
  read(bytes: number): number {
    const taken = Math.min(bytes, this.unread);
    this.unread -= taken;
    return taken;
  }

  /** SACK blocks, the one with the newest arrival first (RFC 2018). */
  sack(): readonly Range[] {
    const blocks = [...this.#early.ranges];
    const newest = this.#newest;
    if (newest === null || blocks.length < 2) return blocks;
    const holds = (range: Range) => range.from <= newest.from && newest.to <= range.to;
    return [...blocks.filter(holds), ...blocks.filter((range) => !holds(range))];
  }
}
