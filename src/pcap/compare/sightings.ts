/**
 * Packets seen at one place, a column for each property: a packet is its index, in the order of its frames.
 *
 * Invariants: 1. at most `MAX_SIGHTINGS` a capture; 2. texts are held once for both captures of a comparison and
 * packets refer to them by number, so that packets of both can be compared by number too.
 */

/** Enough for minutes of a busy machine, and a bound on memory; what comes later is not matched. */
export const MAX_SIGHTINGS = 100_000;
const FIRST = 4096;

export interface Sighting {
  /** 52 bits of a hash seeded for this process: the same for the same packet in any capture it reads. */
  readonly key: number;
  /** Number of source and destination in `Conversations`. */
  readonly route: number;
  /** Number of the service's text in `Conversations`. */
  readonly service: number;
  /** Milliseconds since the epoch, by the clock of this capture. */
  readonly at: number;
  readonly frame: number;
  readonly ttl: number;
  /** Payload bytes on the wire, those in the capture, and hashes of these and of the first of them. */
  readonly length: number;
  readonly captured: number;
  readonly content: number;
  readonly start: number;
}

export class SightingColumns {
  size = 0;
  key = new Float64Array(FIRST);
  at = new Float64Array(FIRST);
  route = new Int32Array(FIRST);
  service = new Int32Array(FIRST);
  frame = new Int32Array(FIRST);
  ttl = new Uint8Array(FIRST);
  length = new Int32Array(FIRST);
  captured = new Int32Array(FIRST);
  content = new Int32Array(FIRST);
  start = new Int32Array(FIRST);

  get full(): boolean {
    return this.size >= MAX_SIGHTINGS;
  }

  push(s: Sighting): void {
    if (this.size === this.key.length) this.#grow(Math.min(MAX_SIGHTINGS, this.size * 2));
    const i = this.size++;
    this.key[i] = s.key;
    this.at[i] = s.at;
    this.route[i] = s.route;
    this.service[i] = s.service;
    this.frame[i] = s.frame;
    this.ttl[i] = s.ttl;
    this.length[i] = s.length;
    this.captured[i] = s.captured;
    this.content[i] = s.content;
    this.start[i] = s.start;
  }

  /** The packets for which something holds, in their order. */
  where(holds: (index: number) => boolean): Int32Array {
    return Int32Array.from({ length: this.size }, (_, i) => i).filter(holds);
  }

  #grow(size: number): void {
    const doubles = (old: Float64Array) => {
      const bigger = new Float64Array(size);
      bigger.set(old);
      return bigger;
    };
    const words = (old: Int32Array) => {
      const bigger = new Int32Array(size);
      bigger.set(old);
      return bigger;
    };
    const ttl = new Uint8Array(size);
    ttl.set(this.ttl);
    this.key = doubles(this.key);
    this.at = doubles(this.at);
    this.route = words(this.route);
    this.service = words(this.service);
    this.frame = words(this.frame);
    this.ttl = ttl;
    this.length = words(this.length);
    this.captured = words(this.captured);
    this.content = words(this.content);
    this.start = words(this.start);
  }
}

/** Who talks to whom, and by which service: shared by the captures of one comparison. */
export class Conversations {
  readonly #routes = new Map<string, number>();
  readonly #pairs = new Map<string, number>();
  readonly #services = new Map<string, number>();
  readonly sources: string[] = [];
  readonly destinations: string[] = [];
  /** By route: the pair of machines, whichever way. */
  readonly pairs: number[] = [];
  /** By route: whether it goes from the machine whose address sorts first. */
  readonly fromLow: boolean[] = [];
  /** By pair: both addresses in order. */
  readonly ends: (readonly [string, string])[] = [];
  readonly services: string[] = [];

  route(source: string, destination: string): number {
    const name = `${source} ${destination}`;
    const known = this.#routes.get(name);
    if (known !== undefined) return known;
    const fromLow = source < destination;
    this.#routes.set(name, this.sources.length);
    this.destinations.push(destination);
    this.fromLow.push(fromLow);
    this.pairs.push(fromLow ? this.#pair(source, destination) : this.#pair(destination, source));
    return this.sources.push(source) - 1;
  }

  service(text: string): number {
    const known = this.#services.get(text);
    if (known !== undefined) return known;
    this.#services.set(text, this.services.length);
    return this.services.push(text) - 1;
  }

  #pair(low: string, high: string): number {
    const name = `${low} ${high}`;
    const known = this.#pairs.get(name);
    if (known !== undefined) return known;
    this.#pairs.set(name, this.ends.length);
    return this.ends.push([low, high]) - 1;
  }
}
