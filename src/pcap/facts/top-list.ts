import type { Bounded } from '../analysis.ts';

/** The heaviest `capacity` things seen, and how many there were. Ties keep the earlier one. */
export class TopList<T> {
  readonly #capacity: number;
  readonly #entries: { readonly weight: number; readonly order: number; readonly item: T }[] = [];
  #total = 0;
  /** Weight a newcomer must beat once the list is full. */
  #floor = Number.NEGATIVE_INFINITY;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Whether something of this weight would be kept: lets callers avoid building what would be dropped. */
  wants(weight: number): boolean {
    return weight > this.#floor;
  }

  add(weight: number, item: T): void {
    this.#entries.push({ weight, order: this.#total++, item });
    if (this.#entries.length >= this.#capacity * 4) this.#trim();
  }

  /** Forgets what is too light already, so that `wants` becomes strict. */
  settle(): void {
    this.#trim();
  }

  /** Counts one that was not wanted. */
  skip(): void {
    this.#total++;
  }

  get total(): number {
    return this.#total;
  }

  bounded(limit = this.#capacity): Bounded<T> {
    this.#trim();
    return { items: this.#entries.slice(0, limit).map((entry) => entry.item), total: this.#total };
  }

  #trim(): void {
    this.#entries.sort((a, b) => b.weight - a.weight || a.order - b.order);
    if (this.#entries.length >= this.#capacity) {
      this.#entries.length = this.#capacity;
      this.#floor = this.#entries[this.#capacity - 1]!.weight;
    }
  }
}
