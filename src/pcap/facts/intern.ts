/** Small numbers for 64-bit keys: an open-addressing table in one flat array, bounded. */
const FIRST = 2048;
/** Words of a place: the key, its number plus one (0: free), and one that keeps places from straddling cache lines. */
const PLACE = 4;
const HIGH = 1;
const NUMBER = 2;

export class InternTable {
  size = 0;
  readonly #capacity: number;
  #places = new Int32Array(FIRST * PLACE);
  #mask = FIRST - 1;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Number of a known key, or -1. */
  find(low: number, high: number): number {
    const places = this.#places;
    for (let at = low & this.#mask; ; at = (at + 1) & this.#mask) {
      const number = places[at * PLACE + NUMBER]!;
      if (number === 0 || (places[at * PLACE] === low && places[at * PLACE + HIGH] === high))
        return number - 1;
    }
  }

  /** Gives the next number to a key that is not known yet; -1 when the table is full. */
  add(low: number, high: number): number {
    if (this.size >= this.#capacity) return -1;
    // Half of the places stay free, so that searches are short.
    if (this.size * 2 > this.#mask) this.#grow();
    this.#place(low, high, ++this.size);
    return this.size - 1;
  }

  #place(low: number, high: number, number: number): void {
    const places = this.#places;
    let at = low & this.#mask;
    while (places[at * PLACE + NUMBER] !== 0) at = (at + 1) & this.#mask;
    places[at * PLACE] = low;
    places[at * PLACE + HIGH] = high;
    places[at * PLACE + NUMBER] = number;
  }

  #grow(): void {
    const old = this.#places;
    this.#places = new Int32Array(old.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let i = 0; i < old.length; i += PLACE)
      if (old[i + NUMBER] !== 0) this.#place(old[i]!, old[i + HIGH]!, old[i + NUMBER]!);
  }
}
