/**
 * Conversations by both endpoints, in flat arrays: no object a packet, no object a flow.
 *
 * Invariants:
 * 1. A key is stored in one orientation (greater address first, then greater port), so both directions meet.
 * 2. At most `capacity` flows live at once; when full, the quarter that was quiet longest is given up and
 *    `evicted` counts it. Its owner is told first.
 * 3. Slot numbers are stable while a flow lives and reused afterwards.
 * 4. A place of the table holds an IPv4 key whole, so that finding its flow touches one cache line.
 */
const WORDS = 10;
const EMPTY = -1;
/**
 * Words of a place: twice the slot, plus one for IPv6; then for IPv4 both addresses, for IPv6 the hash and the
 * beginning of the first address (the rest is with the keys); then the ports.
 */
const PLACE = 4;
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
  #table: Int32Array;
  #mask: number;
  #slots: number;
  #free: number[] = [];
  #used = 0;
  readonly #owner: FlowOwner;
  /** The key `find` looked for in vain, and its hash. */
  readonly #probe = new Int32Array(WORDS);
  #hash = 0;

  constructor(capacity: number, owner: FlowOwner) {
    this.capacity = capacity;
    this.#slots = Math.min(FIRST_SLOTS, capacity);
    this.#keys = new Int32Array(this.#slots * WORDS);
    this.#table = new Int32Array(this.#slots * 2 * PLACE).fill(EMPTY);
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

  /** Slot of the packet's flow, or -1. Then the key is ready for `insert`. */
  find(e: Endpoints, direction: 0 | 1): number {
    const a = direction === 0 ? e.src : e.dst;
    const b = direction === 0 ? e.dst : e.src;
    const ports = direction === 0 ? (e.srcPort << 16) | e.dstPort : (e.dstPort << 16) | e.srcPort;
    if (e.family === 6) return this.#findSix(a, b, ports);
    const first = a[0]!;
    const second = b[0]!;
    const hash = finished(mixed(first, second, ports));
    const table = this.#table;
    const mask = this.#mask;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const place = at * PLACE;
      const tag = table[place]!;
      if (tag === EMPTY) break;
      if (
        table[place + 1] === first &&
        table[place + 2] === second &&
        table[place + 3] === ports &&
        (tag & 1) === 0
      )
        return tag >> 1;
    }
    const k = this.#probe;
    k[0] = first;
    k[1] = second;
    k[8] = ports;
    k[9] = e.family;
    this.#hash = hash;
    return -1;
  }

  #findSix(a: Int32Array, b: Int32Array, ports: number): number {
    const k = this.#probe;
    k[0] = a[0]!;
    k[1] = b[0]!;
    for (let i = 1; i < 4; i++) {
      k[i + 1] = a[i]!;
      k[i + 4] = b[i]!;
    }
    k[8] = ports;
    k[9] = 6;
    let mix = mixed(k[0]!, k[1]!, ports);
    for (let i = 2; i < 8; i++) {
      mix = Math.imul(mix ^ k[i]!, 0x85ebca6b);
      mix ^= mix >>> 13;
    }
    const hash = finished(mix);
    this.#hash = hash;
    const table = this.#table;
    for (let at = hash & this.#mask; ; at = (at + 1) & this.#mask) {
      const tag = table[at * PLACE]!;
      if (tag === EMPTY) return -1;
      if ((tag & 1) === 1 && table[at * PLACE + 1] === hash && this.#isProbe(tag >> 1)) return tag >> 1;
    }
  }

  #isProbe(slot: number): boolean {
    const base = slot * WORDS;
    for (let i = 0; i < WORDS; i++) if (this.#keys[base + i] !== this.#probe[i]) return false;
    return true;
  }

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
    const k = this.#probe;
    const six = k[9] === 6;
    this.#place(this.#hash, slot * 2 + (six ? 1 : 0), six ? this.#hash : k[0]!, six ? k[0]! : k[1]!, k[8]!);
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

  /** Slots of the flows that live now. */
  live(): number[] {
    const slots: number[] = [];
    for (let at = 0; at < this.#table.length; at += PLACE)
      if (this.#table[at] !== EMPTY) slots.push(this.#table[at]! >> 1);
    return slots;
  }

  #place(hash: number, tag: number, one: number, two: number, ports: number): void {
    const table = this.#table;
    let at = hash & this.#mask;
    while (table[at * PLACE] !== EMPTY) at = (at + 1) & this.#mask;
    table[at * PLACE] = tag;
    table[at * PLACE + 1] = one;
    table[at * PLACE + 2] = two;
    table[at * PLACE + 3] = ports;
  }

  /** Puts the flows of a table into the present one, those that stay. */
  #refill(old: Int32Array, stays: (slot: number) => boolean): void {
    for (let i = 0; i < old.length; i += PLACE) {
      const tag = old[i]!;
      if (tag === EMPTY || !stays(tag >> 1)) continue;
      const [one, two, ports] = [old[i + 1]!, old[i + 2]!, old[i + 3]!];
      this.#place((tag & 1) === 1 ? one : finished(mixed(one, two, ports)), tag, one, two, ports);
    }
  }

  #grow(): void {
    const slots = Math.min(this.#slots * 2, this.capacity);
    this.#keys = enlarge(this.#keys, slots * WORDS);
    this.#slots = slots;
    const old = this.#table;
    this.#table = new Int32Array(slots * 2 * PLACE).fill(EMPTY);
    this.#mask = slots * 2 - 1;
    this.#refill(old, () => true);
    this.#owner.grow(slots);
  }

  #evictQuiet(): void {
    const live = this.live().sort((a, b) => this.#owner.lastFrame(a) - this.#owner.lastFrame(b));
    const gone = new Set(live.slice(0, Math.max(1, live.length >> 2)));
    for (const slot of gone) {
      this.#owner.evict(slot);
      this.#free.push(slot);
    }
    this.evicted += gone.size;
    this.size -= gone.size;
    const old = this.#table;
    this.#table = new Int32Array(old.length).fill(EMPTY);
    this.#refill(old, (slot) => !gone.has(slot));
  }
}

function mixed(first: number, second: number, ports: number): number {
  const h = Math.imul(first ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(second, 0xc2b2ae35);
  return Math.imul(h ^ (h >>> 15) ^ ports, 0x27d4eb2f);
}

function finished(hash: number): number {
  return hash ^ (hash >>> 16);
}

function enlarge(old: Int32Array, length: number): Int32Array {
  const bigger = new Int32Array(length);
  bigger.set(old);
  return bigger;
}
