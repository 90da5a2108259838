/**
 * The same IPv4 packet again with a lower TTL. Only packets whose TTL is low are remembered (a packet that loops
 * gets there soon), in a small ring, so that ordinary traffic costs one comparison.
 */
import { type Bounded, LIST_BOUND, type LoopFact } from '../analysis.ts';
import type { Engine } from '../engine.ts';
import { i32be } from '../read/bytes.ts';
import { Hasher } from './pending.ts';
import { addressText } from './text.ts';

const RING = 8192;

interface Loop {
  readonly src: string;
  readonly dst: string;
  readonly id: number;
  sightings: number;
  high: number;
  low: number;
  readonly frames: number[];
}

export class LoopCollector {
  readonly #hash = new Hasher();
  readonly #keys = new Float64Array(RING);
  readonly #ttls = new Uint8Array(RING);
  readonly #frames = new Uint32Array(RING);
  readonly #loops = new Map<number, Loop>();

  /** `o` is at the header of a packet whose TTL and identity are already in the engine. */
  ipv4(e: Engine, b: Uint8Array, o: number, end: number): void {
    const payload = o + ((b[o]! & 15) << 2);
    if (payload + 8 > end) return;
    const h = this.#hash;
    h.start();
    h.add(e.src[0]!);
    h.add(e.dst[0]!);
    h.add((e.ipId << 16) | (b[o + 9]! << 8));
    h.add(i32be(b, o + 4) & 0xffff);
    h.add(i32be(b, payload));
    h.add(i32be(b, payload + 4));
    h.finish();
    const key = (h.high >>> 0) * 0x20_0000 + (h.low >>> 11);
    const at = h.low & (RING - 1);
    if (this.#keys[at] === key && this.#ttls[at]! > e.ttl) this.#again(e, key, at);
    this.#keys[at] = key;
    this.#ttls[at] = e.ttl;
    this.#frames[at] = e.frameNumber;
  }

  facts(): Bounded<LoopFact> {
    // Two sightings are a capture on both sides of one router; three and more go round.
    const loops = [...this.#loops.values()].filter((loop) => loop.sightings > 2);
    loops.sort((a, b) => b.sightings - a.sightings || a.frames[0]! - b.frames[0]!);
    return {
      total: loops.length,
      items: loops.slice(0, LIST_BOUND).map((loop) => ({
        src: loop.src,
        dst: loop.dst,
        ip_id: loop.id,
        sightings: loop.sightings,
        ttl_high: loop.high,
        ttl_low: loop.low,
        sample_frames: loop.frames,
      })),
    };
  }

  #again(e: Engine, key: number, at: number): void {
    let loop = this.#loops.get(key);
    if (loop === undefined) {
      if (this.#loops.size >= 4096) return;
      const [src, dst] = [addressText(e.src, 4), addressText(e.dst, 4)];
      const high = this.#ttls[at]!;
      loop = { src, dst, id: e.ipId, sightings: 1, high, low: high, frames: [this.#frames[at]!] };
      this.#loops.set(key, loop);
    }
    loop.sightings++;
    loop.low = e.ttl;
    if (loop.frames.length < 5) loop.frames.push(e.frameNumber);
  }
}
