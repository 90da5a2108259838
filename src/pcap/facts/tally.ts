/** Counts by name, bounded: names beyond the bound are only totalled. */
const MAX_FRAMES = 5;

export interface TallyEntry<V> {
  readonly key: string;
  readonly value: V;
  readonly frames: readonly number[];
}

class Entry<V> implements TallyEntry<V> {
  readonly frames: number[] = [];
  readonly key: string;
  readonly value: V;

  constructor(key: string, value: V) {
    this.key = key;
    this.value = value;
  }

  frame(frame: number): void {
    if (this.frames.length < MAX_FRAMES && this.frames.at(-1) !== frame) this.frames.push(frame);
  }
}

export class Tally<V> {
  /** Names refused for want of room. */
  dropped = 0;
  readonly #capacity: number;
  readonly #make: () => V;
  readonly #entries = new Map<string, Entry<V>>();

  constructor(capacity: number, make: () => V) {
    this.#capacity = capacity;
    this.#make = make;
  }

  get total(): number {
    return this.#entries.size + this.dropped;
  }

  of(key: string): Entry<V> | undefined {
    let entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= this.#capacity) {
        this.dropped++;
        return undefined;
      }
      entry = new Entry(key, this.#make());
      this.#entries.set(key, entry);
    }
    return entry;
  }

  values(): IterableIterator<TallyEntry<V>> {
    return this.#entries.values();
  }

  top(limit: number, weight: (entry: TallyEntry<V>) => number): TallyEntry<V>[] {
    return [...this.#entries.values()]
      .filter((entry) => weight(entry) > 0)
      .sort((a, b) => weight(b) - weight(a) || (a.key < b.key ? -1 : 1))
      .slice(0, limit);
  }
}

/** The common case: just a count. */
export function counting(capacity: number): Tally<{ count: number }> {
  return new Tally(capacity, () => ({ count: 0 }));
}
