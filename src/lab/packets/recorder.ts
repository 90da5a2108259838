/** Turns what passes a capture point into a pcap file: clock, window of time, filters, limits. */

import type { PacketFilter } from './filter.ts';
import { putFrame } from './frame.ts';
import type { Packet } from './sim/packet.ts';
import { ARP_BYTES, type Arp, ETHERNET_BYTES, type Mac, putArpFrame } from './wire/ethernet.ts';
import { PcapWriter } from './wire/pcap-writer.ts';

export interface RecorderSettings {
  readonly vm: string;
  readonly mac: Mac;
  /** World time of the simulation's beginning, milliseconds. */
  readonly originMs: number;
  readonly startMs: number;
  readonly endMs: number;
  /** How far this VM's clock is off, microseconds. */
  readonly clockOffsetUs: number;
  readonly snaplen: number;
  readonly resolution: 'us' | 'ns';
  readonly filter: PacketFilter;
  readonly maxPackets: number;
  readonly maxBytes: number;
}

export class Recorder {
  cutShort: 'packets' | 'bytes' | null = null;
  readonly #settings: RecorderSettings;
  readonly #writer: PcapWriter;
  readonly #fromUs: number;
  readonly #toUs: number;
  #lastUs = Number.NEGATIVE_INFINITY;

  constructor(settings: RecorderSettings) {
    this.#settings = settings;
    this.#writer = new PcapWriter({ resolution: settings.resolution, snaplen: settings.snaplen });
    this.#fromUs = (settings.startMs - settings.originMs) * 1000;
    this.#toUs = (settings.endMs - settings.originMs) * 1000;
  }

  get packets(): number {
    return this.#writer.packets;
  }

  see(nowUs: number, way: 'out' | 'in', packet: Packet): void {
    if (!this.#wants(nowUs) || !this.#settings.filter.passes(packet, way)) return;
    const { buffer, at } = this.#writer.reserve(ETHERNET_BYTES + packet.bytes);
    this.#commit(nowUs, putFrame(buffer, at, packet, this.#settings.mac, way));
  }

  seeArp(nowUs: number, arp: Arp): void {
    if (!this.#wants(nowUs) || !this.#settings.filter.passesAll) return;
    const { buffer, at } = this.#writer.reserve(ETHERNET_BYTES + ARP_BYTES);
    this.#commit(nowUs, putArpFrame(buffer, at, arp) - at);
  }

  finish(): Uint8Array {
    return this.#writer.finish();
  }

  #wants(nowUs: number): boolean {
    return this.cutShort === null && nowUs >= this.#fromUs && nowUs < this.#toUs;
  }

  #commit(nowUs: number, bytes: number): void {
    const { originMs, clockOffsetUs, maxPackets, maxBytes } = this.#settings;
    // Two packets never share a time in one file, or a reader that sorts could swap them.
    const atUs = Math.max(nowUs, this.#lastUs + 1);
    this.#lastUs = atUs;
    const us = (originMs % 1000) * 1000 + atUs + clockOffsetUs;
    const carry = Math.floor(us / 1e6);
    this.#writer.commit(Math.floor(originMs / 1000) + carry, (us - carry * 1e6) / 1e6, bytes);
    if (this.#writer.packets >= maxPackets) this.cutShort = 'packets';
    else if (this.#writer.bytes >= maxBytes) this.cutShort = 'bytes';
  }
}
