/**
 * Conversations by both endpoints, in flat arrays: no object a packet, no object a flow.
 *
 * Invariants:
 * 1. A key is stored in one orientation (greater address first, then greater port), so both directions meet.
 * 2. At most `capacity` flows live at once; when full, the quarter that was quiet longest is given up and
 *    `evicted` counts it. Its owner is told first.
 * 3. Slot numbers are stable while a flow lives and reused afterwards.
 */
const WORDS = 10;
const EMPTY = -1;
const FIRST_SLOTS = 1024;

/** Both ends of the packet in hand: addresses as four 32-bit words (IPv4 uses the first), then ports. */
export interface Endpoints {
  readonly src: Int32Array;
  readonly dst: Int32Array;
  family: number;
  srcPort: number;
  dstPort: number;
}

/** Who keeps the data of the flows. */
export interface FlowOwner {
  /** There are this many slots now. */
  grow(slots: number): void;
  evict(slot: number): void;
  /** Frame of the flow's last packet: the quiet ones go first. */
  lastFrame(slot: number): number;
}

export class FlowTable {
  readonly capacity: number;
  size = 0;
  evicted = 0;
  #keys: Int32Array;
  #hashes: Int32Array;
  /** Pairs of slot and hash. */
  #table: Int32Array;
  #mask: number;
  #slots: number;
  #free: number[] = [];
  #used = 0;
  readonly #owner: FlowOwner;
  #probe = new Int32Array(WORDS);

  constructor(capacity: number, owner: FlowOwner) {
    this.capacity = capacity;
    this.#slots = Math.min(FIRST_SLOTS, capacity);
    this.#keys = new Int32Array(this.#slots * WORDS);
    this.#hashes = new Int32Array(this.#slots);
    this.#table = new Int32Array(this.#slots * 4).fill(EMPTY);
    this.#mask = this.#slots * 2 - 1;
    this.#owner = owner;
    owner.grow(this.#slots);
  }

  /** 0 when the packet goes from the key's first endpoint to its second, 1 the other way. */
  direction(e: Endpoints): 0 | 1 {
    const words = e.family === 4 ? 1 : 4;
    for (let i = 0; i < words; i++) {
      const s = e.src[i]! >>> 0;
      const d = e.dst[i]! >>> 0;
      if (s !== d) return s > d ? 0 : 1;
    }
    return e.srcPort > e.dstPort ? 0 : 1;
  }

  /** Slot of the packet's flow, or -1. Leaves the key ready for `insert`. */
  find(e: Endpoints, direction: 0 | 1): number {
    const k = this.#probe;
    const a = direction === 0 ? e.src : e.dst;
    const b = direction === 0 ? e.dst : e.src;
    const v6 = e.family === 6;
    const first = a[0]!;
    const second = b[0]!;
    const ports = direction === 0 ? (e.srcPort << 16) | e.dstPort : (e.dstPort << 16) | e.srcPort;
    let h = Math.imul(first ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(second, 0xc2b2ae35);
    h = Math.imul(h ^ (h >>> 15) ^ ports, 0x27d4eb2f);
    k[0] = first;
    k[1] = second;
    k[8] = ports;
    k[9] = e.family;
    if (v6) {
      for (let i = 1; i < 4; i++) {
        k[i + 1] = a[i]!;
        k[i + 4] = b[i]!;
      }
      for (let i = 2; i < 8; i++) {
        h = Math.imul(h ^ k[i]!, 0x85ebca6b);
        h ^= h >>> 13;
      }
    }
    h ^= h >>> 16;
    this.hash = h;
    const keys = this.#keys;
    const table = this.#table;
    const mask = this.#mask;
    for (let at = h & mask; ; at = (at + 1) & mask) {
      const slot = table[at * 2]!;
      if (slot === EMPTY) return -1;
      if (table[at * 2 + 1] !== h) continue;
      const base = slot * WORDS;
      if (
        keys[base] === first &&
        keys[base + 1] === second &&
        keys[base + 8] === ports &&
        keys[base + 9] === e.family &&
        (!v6 ||
          (keys[base + 2] === k[2] &&
            keys[base + 3] === k[3] &&
            keys[base + 4] === k[4] &&
            keys[base + 5] === k[5] &&
            keys[base + 6] === k[6] &&
            keys[base + 7] === k[7]))
      )
        return slot;
    }
  }

  hash = 0;

  /** Makes a flow of the key `find` just looked for. */
  insert(): number {
    if (this.size >= this.capacity) this.#evictQuiet();
    let slot = this.#free.pop();
    if (slot === undefined) {
      if (this.#used === this.#slots) this.#grow();
      slot = this.#used++;
    }
    const base = slot * WORDS;
    for (let i = 0; i < WORDS; i++) this.#keys[base + i] = this.#probe[i]!;
    this.#hashes[slot] = this.hash;
    this.#link(slot);
    this.size++;
    return slot;
  }

  /** Reads the endpoints of a flow back: first and second of the key. */
  endpoints(slot: number, into: Endpoints): void {
    const k = this.#keys;
    const base = slot * WORDS;
    into.src[0] = k[base]!;
    into.dst[0] = k[base + 1]!;
    for (let i = 1; i < 4; i++) {
      into.src[i] = k[base + 1 + i]!;
      into.dst[i] = k[base + 4 + i]!;
    }
    into.family = k[base + 9]!;
    into.srcPort = k[base + 8]! >>> 16;
    into.dstPort = k[base + 8]! & 0xffff;
  }

  *live(): Generator<number> {
    for (let at = 0; at < this.#table.length; at += 2) if (this.#table[at] !== EMPTY) yield this.#table[at]!;
  }

  #link(slot: number): void {
    const hash = this.#hashes[slot]!;
    let at = hash & this.#mask;
    while (this.#table[at * 2] !== EMPTY) at = (at + 1) & this.#mask;
    this.#table[at * 2] = slot;
    this.#table[at * 2 + 1] = hash;
  }

  #grow(): void {
    const slots = Math.min(this.#slots * 2, this.capacity);
    this.#keys = enlarge(this.#keys, slots * WORDS);
    this.#hashes = enlarge(this.#hashes, slots);
    this.#slots = slots;
    const live = [...this.live()];
    this.#table = new Int32Array(slots * 4).fill(EMPTY);
    this.#mask = slots * 2 - 1;
    for (const slot of live) this.#link(slot);
    this.#owner.grow(slots);
  }

  #evictQuiet(): void {
    const live = [...this.live()].sort((a, b) => this.#owner.lastFrame(a) - this.#owner.lastFrame(b));
    const gone = live.slice(0, Math.max(1, live.length >> 2));
    for (const slot of gone) {
      this.#owner.evict(slot);
      this.#free.push(slot);
    }
    this.evicted += gone.length;
    this.size -= gone.length;
    this.#table.fill(EMPTY);
    for (const slot of live.slice(gone.length)) this.#link(slot);
  }
}

function enlarge(old: Int32Array, length: number): Int32Array {
  const bigger = new Int32Array(length);
  bigger.set(old);
  return bigger;
}
