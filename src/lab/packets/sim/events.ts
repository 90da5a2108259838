/** The event queue: a binary heap by time, first scheduled first served among equals. */
interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

function before(a: Event, b: Event): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

export class EventQueue {
  /** Microseconds since the simulation began. */
  now = 0;
  processed = 0;
  /** World time of the beginning, for clocks that must not depend on when a simulation began. */
  readonly originMs: number;
  readonly #heap: Event[] = [];
  #order = 0;

  constructor(originMs = 0) {
    this.originMs = originMs;
  }

  at(time: number, run: () => void): void {
    const event = { at: Math.max(time, this.now), order: this.#order, run };
    this.#order += 1;
    const heap = this.#heap;
    heap.push(event);
    let index = heap.length - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(event, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = event;
  }

  after(delay: number, run: () => void): void {
    this.at(this.now + delay, run);
  }

  /** Runs until `end`, until nothing is left, or until `stop` says so (asked after every event). */
  run(end: number, stop: () => boolean): void {
    for (;;) {
      const next = this.#heap[0];
      if (next === undefined || next.at > end) return;
      this.#removeFirst();
      this.now = next.at;
      this.processed += 1;
      next.run();
      if (stop()) return;
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
      if (!before(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
  }
}
