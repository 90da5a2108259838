/** UDP streams: how many, and who talked most. Bounded like TCP streams. */
import type { Talker } from './analysis.ts';
import type { Engine } from './engine.ts';
import { addressText, endpointText } from './facts/text.ts';
import { TopList } from './facts/top-list.ts';
import { type Endpoints, FlowTable } from './tcp/flow-table.ts';

export const MAX_UDP_STREAMS = 131_072;
const KEPT = 20;
const NOT_MET = 0;
const MET = 1;
const WENT_ON = 2;

export class UdpTracker {
  streams = 0;
  readonly table: FlowTable;
  #packets = new Uint32Array(0);
  /** Whether a stream of SNMP was met, and went on under its second number. */
  #snmp = new Uint8Array(0);
  #slot = 0;
  #lastFrames = new Uint32Array(0);
  #bytes = new Float64Array(0);
  readonly #top = new TopList<Talker>(KEPT);

  constructor() {
    this.table = new FlowTable(MAX_UDP_STREAMS, {
      grow: (slots) => this.#grow(slots),
      evict: (slot) => this.#fold(slot),
      lastFrame: (slot) => this.#lastFrames[slot]!,
    });
  }

  datagram(e: Engine): void {
    const side = this.table.direction(e);
    let slot = this.table.find(e, side);
    if (slot < 0) {
      slot = this.table.insert();
      this.streams++;
      this.#packets[slot] = 0;
      this.#snmp[slot] = NOT_MET;
      this.#bytes[slot * 2] = 0;
      this.#bytes[slot * 2 + 1] = 0;
    }
    this.#slot = slot;
    if (this.#snmp[slot] === MET) {
      this.#snmp[slot] = WENT_ON;
      this.streams++;
    }
    this.#lastFrames[slot] = e.frameNumber;
    this.#packets[slot]!++;
    this.#bytes[slot * 2 + side]! += e.wireLength;
  }

  /** The datagram in hand is SNMP. */
  becomesSnmp(): void {
    if (this.#snmp[this.#slot] === NOT_MET) this.#snmp[this.#slot] = MET;
  }

  talkers(): TopList<Talker> {
    for (const slot of this.table.live()) this.#fold(slot);
    return this.#top;
  }

  #grow(slots: number): void {
    const packets = new Uint32Array(slots);
    packets.set(this.#packets);
    this.#packets = packets;
    const snmp = new Uint8Array(slots);
    snmp.set(this.#snmp);
    this.#snmp = snmp;
    const lastFrames = new Uint32Array(slots);
    lastFrames.set(this.#lastFrames);
    this.#lastFrames = lastFrames;
    const bytes = new Float64Array(slots * 2);
    bytes.set(this.#bytes);
    this.#bytes = bytes;
  }

  #fold(slot: number): void {
    const forth = this.#bytes[slot * 2]!;
    const back = this.#bytes[slot * 2 + 1]!;
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
      packets: this.#packets[slot]!,
      bytes: forth + back,
      a_to_b_bytes: forth,
    });
  }
}
