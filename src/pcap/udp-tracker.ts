/** UDP streams: how many, and who talked most. Bounded like TCP streams. */
import type { Talker } from './analysis.ts';
import type { Engine } from './engine.ts';
import { addressText, endpointText } from './facts/text.ts';
import { TopList } from './facts/top-list.ts';
import { type Endpoints, FlowTable } from './tcp/flow-table.ts';

export const MAX_UDP_STREAMS = 131_072;
const KEPT = 20;
/** A stream's row: words for packets, last frame and SNMP, and as doubles the bytes of both directions. */
const ROW = 8;
const PACKETS = 0;
const LAST_FRAME = 1;
/** Whether a stream of SNMP was met, and went on under its second number. */
const SNMP = 2;
const BYTES = 2;
const NOT_MET = 0;
const MET = 1;
const WENT_ON = 2;

export class UdpTracker {
  streams = 0;
  readonly table: FlowTable;
  #words = new Int32Array(0);
  #doubles = new Float64Array(0);
  /** Where the row of the datagram in hand starts. */
  #row = 0;
  readonly #top = new TopList<Talker>(KEPT);

  constructor() {
    this.table = new FlowTable(MAX_UDP_STREAMS, {
      grow: (slots) => this.#grow(slots),
      evict: (slot) => this.#fold(slot),
      lastFrame: (slot) => this.#words[slot * ROW + LAST_FRAME]!,
    });
  }

  datagram(e: Engine): void {
    const side = this.table.direction(e);
    let slot = this.table.find(e, side);
    if (slot < 0) {
      slot = this.table.insert();
      this.streams++;
      this.#words.fill(0, slot * ROW, slot * ROW + ROW);
    }
    const w = this.#words;
    const row = slot * ROW;
    this.#row = row;
    if (w[row + SNMP] === MET) {
      w[row + SNMP] = WENT_ON;
      this.streams++;
    }
    w[row + LAST_FRAME] = e.frameNumber;
    w[row + PACKETS]!++;
    this.#doubles[row / 2 + BYTES + side]! += e.wireLength;
  }

  /** The datagram in hand is SNMP. */
  becomesSnmp(): void {
    if (this.#words[this.#row + SNMP] === NOT_MET) this.#words[this.#row + SNMP] = MET;
  }

  talkers(): TopList<Talker> {
    for (const slot of this.table.live()) this.#fold(slot);
    return this.#top;
  }

  #grow(slots: number): void {
    const words = new Int32Array(slots * ROW);
    words.set(this.#words);
    this.#words = words;
    this.#doubles = new Float64Array(words.buffer);
  }

  #fold(slot: number): void {
    const forth = this.#doubles[slot * (ROW / 2) + BYTES]!;
    const back = this.#doubles[slot * (ROW / 2) + BYTES + 1]!;
    if (!this.#top.wants(forth + back)) {
      this.#top.skip();
      return;
    }
    const ends: Endpoints = {
      src: new Int32Array(4),
      dst: new Int32Array(4),
      family: 4,
      srcPort: 0,
      dstPort: 0,
    };
    this.table.endpoints(slot, ends);
    this.#top.add(forth + back, {
      a: endpointText(addressText(ends.src, ends.family), ends.srcPort),
      b: endpointText(addressText(ends.dst, ends.family), ends.dstPort),
      protocol: 'udp',
      packets: this.#words[slot * ROW + PACKETS]!,
      bytes: forth + back,
      a_to_b_bytes: forth,
    });
  }
}
