/**
 * TCP and UDP checksums. A wrong one may mean damage on the way, but most wrong ones mean that the capture was
 * taken before the network card had filled them in. Offload is told from damage by two signs:
 *
 * 1. its checksum is zero, or the bare sum over the addresses that the card goes on from;
 * 2. it befalls every packet of a sender, damage only some.
 *
 * Summing every byte would take longer than the rest of the analysis: after the first `ALL` frames one in
 * `EVERY` is checked, and the result says so.
 */
import { type ChecksumFacts, LIST_BOUND } from '../analysis.ts';
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { Tally } from './tally.ts';
import { addressText } from './text.ts';

const ALL = 10_000;
const EVERY = 64;
const MAX_SENDERS = 4096;
/** 16-bit words that can be added before the sum has to be folded. */
const FOLD = 16_384;

export class ChecksumCollector {
  #checked = 0;
  #offloaded = 0;
  #sampled = false;
  readonly #senders = new Tally(MAX_SENDERS, () => ({ checked: 0, bad: 0 }));

  /** `o` to `end` is a whole segment or datagram; its checksum stands at `field`. */
  transport(e: Engine, b: Uint8Array, o: number, end: number, protocol: number, field: number): void {
    if (e.frameNumber > ALL) {
      this.#sampled = true;
      if (e.frameNumber % EVERY !== 0) return;
    }
    const claimed = u16be(b, field);
    // Not used, or not filled in yet.
    if (claimed === 0) return;
    const pseudo = pseudoHeader(e, end - o, protocol);
    this.#checked++;
    if (claimed === pseudo) {
      this.#offloaded++;
      return;
    }
    const sender = this.#senders.of(addressText(e.src, e.family));
    if (sender === undefined) return;
    sender.value.checked++;
    if (sumOf(b, o, end, pseudo) === 0xffff) return;
    sender.value.bad++;
    sender.frame(e.frameNumber);
  }

  facts(): ChecksumFacts | null {
    if (this.#checked === 0) return null;
    const bad = this.#senders.top(LIST_BOUND, ({ value }) => value.bad);
    return {
      checked: this.#checked,
      sampled: this.#sampled,
      offloaded: this.#offloaded,
      senders: {
        total: bad.length,
        items: bad.map(({ key, value, frames }) => ({ address: key, ...value, sample_frames: frames })),
      },
    };
  }
}

/** Addresses, length and protocol, which the checksum covers besides the segment itself. */
function pseudoHeader(e: Engine, length: number, protocol: number): number {
  let sum = length + protocol;
  const words = e.family === 4 ? 1 : 4;
  for (let i = 0; i < words; i++) {
    sum += (e.src[i]! >>> 16) + (e.src[i]! & 0xffff);
    sum += (e.dst[i]! >>> 16) + (e.dst[i]! & 0xffff);
  }
  return folded(sum);
}

function sumOf(b: Uint8Array, from: number, to: number, start: number): number {
  let sum = start;
  let at = from;
  while (at + 1 < to) {
    const stop = Math.min(to - 1, at + 2 * FOLD);
    for (; at < stop; at += 2) sum += (b[at]! << 8) | b[at + 1]!;
    sum = folded(sum);
  }
  return folded(at < to ? sum + (b[at]! << 8) : sum);
}

function folded(sum: number): number {
  let s = sum;
  while (s > 0xffff) s = (s & 0xffff) + (s >>> 16);
  return s;
}
