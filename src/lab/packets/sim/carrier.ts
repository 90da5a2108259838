import { ICMP, ICMP_BYTES, type IcmpKind, QUOTED_BYTES } from '../wire/icmp.ts';
import { IPV4_BYTES } from '../wire/ipv4.ts';
import type { EventQueue } from './events.ts';
import type { Packet } from './packet.ts';
import { type Path, wayBack } from './path.ts';
import { drawBetween, mix } from './random.ts';

/** What a capture point is told. */
export type Tap = (point: string, way: 'out' | 'in', packet: Packet) => void;

export interface Receiver {
  /** The packet arrived at the end of its path, whole. */
  arrive(packet: Packet): void;
  /** An ICMP error about the packet came back to its sender. */
  refused(icmp: IcmpKind, mtu: number): void;
}

/** Moves packets along their paths, stage by stage, in the order of time. */
export class Carrier {
  readonly #events: EventQueue;
  readonly #tap: Tap;

  constructor(events: EventQueue, tap: Tap) {
    this.#events = events;
    this.#tap = tap;
  }

  send(packet: Packet, path: Path, receiver: Receiver): void {
    this.#step(packet, path, 0, receiver);
  }

  #step(packet: Packet, path: Path, start: number, receiver: Receiver): void {
    for (let index = start; ; index += 1) {
      const stage = path[index];
      if (stage === undefined) {
        // The checksum is the receiver's to check: a spoiled packet is seen on the wire and goes no further.
        if (!packet.corrupted) receiver.arrive(packet);
        return;
      }
      const onward = () => this.#step(packet, path, index + 1, receiver);
      switch (stage.kind) {
        case 'tap':
          this.#tap(stage.point, stage.way, packet);
          break;
        case 'wire':
          // No two conversations take quite the same time, but within one the order is kept.
          this.#events.after(stage.delayUs * drawBetween(packet.lane.seed, index, 0.92, 1.2), onward);
          return;
        case 'forward':
          packet.ttl -= 1;
          if (packet.ttl <= 0) {
            this.#sendError(packet, path, index, stage.by, ICMP.ttlExceeded, 0, receiver);
            return;
          }
          this.#events.after(stage.delayUs, onward);
          return;
        case 'link':
          stage.link.carry(packet, onward, (mtu) => {
            this.#sendError(packet, path, index, stage.teller, ICMP.fragmentationNeeded, mtu, receiver);
          });
          return;
        case 'translate':
          packet.source = stage.source;
          packet.destination = stage.destination;
          break;
        case 'drop':
          return;
        case 'reject':
          this.#sendError(packet, path, index, stage.by, stage.icmp, 0, receiver);
          return;
      }
    }
  }

  #sendError(
    about: Packet,
    path: Path,
    index: number,
    by: number,
    icmp: IcmpKind,
    mtu: number,
    receiver: Receiver,
  ): void {
    // An error about an error, or about a packet its reader could not trust, is never sent (RFC 1122).
    if (about.body.kind === 'error' || about.corrupted) return;
    const error: Packet = {
      lane: about.lane,
      serial: about.serial + 0x40000000,
      source: by,
      destination: about.source,
      id: mix(about.lane.seed, about.serial) & 0xffff,
      dontFragment: false,
      bytes: IPV4_BYTES + ICMP_BYTES + QUOTED_BYTES,
      ttl: 64,
      corrupted: false,
      // The quote shows the packet as it was here, not as it may look later.
      body: { kind: 'error', icmp, mtu, about: { ...about } },
    };
    this.send(error, wayBack(path, index), {
      arrive: () => receiver.refused(icmp, mtu),
      refused: () => undefined,
    });
  }
}
