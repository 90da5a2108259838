/**
 * About a hundred durations a stream, in shared flat arrays: chains of small chunks. A chain that is full keeps
 * every second of its values and from then on takes every second (fourth, eighth …) new one; beyond `MAX_CHUNKS`
 * nothing is added.
 */
import type { Spread } from '../analysis.ts';
import { spreadOf } from '../facts/samples.ts';

const CHUNK = 15;
const PER_CHAIN = 120;
const MAX_CHUNKS = 1 << 18;
const FIRST_CHUNKS = 1024;

export class SampleChains {
  #values = new Float32Array(FIRST_CHUNKS * CHUNK);
  #links = new Int32Array(FIRST_CHUNKS);
  #heads = new Int32Array(0);
  #counts = new Uint32Array(0);
  #sums = new Float64Array(0);
  #kept = new Uint8Array(0);
  /** Every 2^stride-th value is taken. */
  #strides = new Uint8Array(0);
  #free = -1;
  #used = 0;

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
    const kept = new Uint8Array(chains);
    kept.set(this.#kept);
    this.#kept = kept;
    const strides = new Uint8Array(chains);
    strides.set(this.#strides);
    this.#strides = strides;
  }

  add(chain: number, value: number): void {
    const count = this.#counts[chain]!++;
    this.#sums[chain]! += value;
    if ((count & ((1 << this.#strides[chain]!) - 1)) !== 0) return;
    let kept = this.#kept[chain]!;
    if (kept === PER_CHAIN) {
      this.#halve(chain);
      kept = this.#kept[chain]!;
      if ((count & ((1 << this.#strides[chain]!) - 1)) !== 0) return;
    }
    const within = kept % CHUNK;
    let chunk = this.#heads[chain]!;
    if (within === 0) {
      const fresh = this.#allocate();
      if (fresh < 0) return;
      this.#links[fresh] = chunk;
      this.#heads[chain] = fresh;
      chunk = fresh;
    }
    this.#values[chunk * CHUNK + within] = value;
    this.#kept[chain] = kept + 1;
  }

  spread(chain: number): Spread | null {
    const count = this.#counts[chain]!;
    const values = Float64Array.from(this.#read(chain)).sort();
    if (values.length === 0) return null;
    return { ...spreadOf(values), count, mean: this.#sums[chain]! / count, exact: count === values.length };
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
    this.#kept[chain] = 0;
    this.#strides[chain] = 0;
  }

  /** The values of a chain in the order they came. */
  #read(chain: number): number[] {
    const chunks: number[] = [];
    for (let chunk = this.#heads[chain]!; chunk >= 0; chunk = this.#links[chunk]!) chunks.push(chunk);
    const kept = this.#kept[chain]!;
    return Array.from({ length: kept }, (_, i) => {
      const chunk = chunks[chunks.length - 1 - Math.floor(i / CHUNK)]!;
      return this.#values[chunk * CHUNK + (i % CHUNK)]!;
    });
  }

  #halve(chain: number): void {
    const values = this.#read(chain).filter((_, i) => i % 2 === 0);
    const count = this.#counts[chain]!;
    const sum = this.#sums[chain]!;
    const stride = this.#strides[chain]! + 1;
    this.release(chain);
    for (const value of values) this.add(chain, value);
    this.#counts[chain] = count;
    this.#sums[chain] = sum;
    this.#strides[chain] = stride;
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
