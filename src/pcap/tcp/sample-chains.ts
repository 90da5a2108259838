/**
 * A few hundred durations a stream, in shared flat arrays: chains of small chunks. Beyond `PER_CHAIN` values a
 * chain keeps a uniform sample (the generator is seeded, so results repeat); beyond `MAX_CHUNKS` nothing is added.
 */
import type { Spread } from '../analysis.ts';
import { spreadOf } from '../facts/samples.ts';

const CHUNK = 15;
const PER_CHAIN = 255;
const MAX_CHUNKS = 1 << 18;
const FIRST_CHUNKS = 1024;

export class SampleChains {
  #values = new Float32Array(FIRST_CHUNKS * CHUNK);
  #links = new Int32Array(FIRST_CHUNKS);
  #heads = new Int32Array(0);
  #counts = new Uint32Array(0);
  #sums = new Float64Array(0);
  #free = -1;
  #used = 0;
  #random = 0x2545f491;

  grow(chains: number): void {
    const heads = new Int32Array(chains).fill(-1);
    heads.set(this.#heads);
    this.#heads = heads;
    const counts = new Uint32Array(chains);
    counts.set(this.#counts);
    this.#counts = counts;
    const sums = new Float64Array(chains);
    sums.set(this.#sums);
    this.#sums = sums;
  }

  add(chain: number, value: number): void {
    const count = this.#counts[chain]!++;
    this.#sums[chain]! += value;
    if (count >= PER_CHAIN) {
      this.#replace(chain, count, value);
      return;
    }
    const within = count % CHUNK;
    let chunk = this.#heads[chain]!;
    if (within === 0) {
      const fresh = this.#allocate();
      if (fresh < 0) {
        this.#counts[chain]!--;
        return;
      }
      this.#links[fresh] = chunk;
      this.#heads[chain] = fresh;
      chunk = fresh;
    }
    this.#values[chunk * CHUNK + within] = value;
  }

  spread(chain: number): Spread | null {
    const count = this.#counts[chain]!;
    if (count === 0) return null;
    const kept = Math.min(count, PER_CHAIN);
    const values = new Float64Array(kept);
    let at = 0;
    let inHead = ((kept - 1) % CHUNK) + 1;
    for (let chunk = this.#heads[chain]!; chunk >= 0; chunk = this.#links[chunk]!) {
      for (let i = 0; i < inHead; i++) values[at++] = this.#values[chunk * CHUNK + i]!;
      inHead = CHUNK;
    }
    values.sort();
    return { ...spreadOf(values), count, mean: this.#sums[chain]! / count, exact: count <= PER_CHAIN };
  }

  release(chain: number): void {
    for (let chunk = this.#heads[chain]!; chunk >= 0; ) {
      const next = this.#links[chunk]!;
      this.#links[chunk] = this.#free;
      this.#free = chunk;
      chunk = next;
    }
    this.#heads[chain] = -1;
    this.#counts[chain] = 0;
    this.#sums[chain] = 0;
  }

  /** Reservoir sampling: every value has had the same chance to stay. */
  #replace(chain: number, count: number, value: number): void {
    let x = this.#random;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#random = x;
    const pick = (x >>> 0) % (count + 1);
    if (pick >= PER_CHAIN) return;
    let hops = Math.floor((PER_CHAIN - 1) / CHUNK) - Math.floor(pick / CHUNK);
    let chunk = this.#heads[chain]!;
    while (hops-- > 0) chunk = this.#links[chunk]!;
    this.#values[chunk * CHUNK + (pick % CHUNK)] = value;
  }

  #allocate(): number {
    if (this.#free >= 0) {
      const at = this.#free;
      this.#free = this.#links[at]!;
      return at;
    }
    if (this.#used === this.#links.length) {
      const size = this.#used * 2;
      if (size > MAX_CHUNKS) return -1;
      const values = new Float32Array(size * CHUNK);
      values.set(this.#values);
      this.#values = values;
      const links = new Int32Array(size);
      links.set(this.#links);
      this.#links = links;
    }
    return this.#used++;
  }
}
