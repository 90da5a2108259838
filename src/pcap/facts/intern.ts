/** Small numbers for 64-bit keys: an open-addressing table in flat arrays, bounded. */
const FIRST = 1024;

export class InternTable {
  size = 0;
  readonly #capacity: number;
  #low = new Int32Array(FIRST);
  #high = new Int32Array(FIRST);
  #slots = new Int32Array(FIRST * 2).fill(-1);
  #mask = FIRST * 2 - 1;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Number of a known key, or -1. */
  find(low: number, high: number): number {
    for (let at = low & this.#mask; ; at = (at + 1) & this.#mask) {
      const index = this.#slots[at]!;
      if (index < 0 || (this.#low[index] === low && this.#high[index] === high)) return index;
    }
  }

  /** Gives the next number to a key that is not known yet; -1 when the table is full. */
  add(low: number, high: number): number {
    if (this.size >= this.#capacity) return -1;
    if (this.size === this.#low.length) this.#grow();
    const index = this.size++;
    this.#low[index] = low;
    this.#high[index] = high;
    this.#place(index);
    return index;
  }

  #place(index: number): void {
    let at = this.#low[index]! & this.#mask;
    while (this.#slots[at]! >= 0) at = (at + 1) & this.#mask;
    this.#slots[at] = index;
  }

  #grow(): void {
    const length = this.#low.length * 2;
    const low = new Int32Array(length);
    low.set(this.#low);
    const high = new Int32Array(length);
    high.set(this.#high);
    this.#low = low;
    this.#high = high;
    this.#slots = new Int32Array(length * 2).fill(-1);
    this.#mask = length * 2 - 1;
    for (let i = 0; i < this.size; i++) this.#place(i);
  }
}
