import { IPV4_BYTES } from '../wire/ipv4.ts';
import type { Carrier, Receiver } from './carrier.ts';
import type { EventQueue } from './events.ts';
import { type Body, type Content, type Lane, newLane } from './packet.ts';
import type { Path } from './path.ts';
import { mix } from './random.ts';

/** How the two ends reach each other and what the far end is, asked anew for every packet: worlds change. */
export interface Ways {
  there(): Path;
  back(): Path;
  /** Whether a connection to the port is accepted now. */
  accepts(): boolean;
}

/** What one conversation is about; `seed` makes all its random draws its own. */
export interface Exchange {
  readonly seed: number;
  readonly client: number;
  readonly server: number;
  readonly clientPort: number;
  readonly serverPort: number;
  readonly bytes: number;
  readonly replyBytes: number;
  readonly request: Content;
  readonly reply: Content;
  readonly ways: Ways;
}

/** Bytes a microsecond a NIC puts on the wire: bursts leave spaced, not all at once. */
const NIC_RATE = 125;

/** One direction of an exchange: numbers the packets, keeps the NIC's pace, hands them to the carrier. */
export class Direction {
  readonly #events: EventQueue;
  readonly #carrier: Carrier;
  readonly #source: number;
  readonly #destination: number;
  readonly #path: () => Path;
  readonly #lane: Lane;
  #serial = 0;
  #nicFreeAt = 0;
  #id: number;

  constructor(
    events: EventQueue,
    carrier: Carrier,
    ends: { readonly source: number; readonly destination: number; readonly seed: number },
    path: () => Path,
  ) {
    this.#events = events;
    this.#carrier = carrier;
    this.#source = ends.source;
    this.#destination = ends.destination;
    this.#path = path;
    this.#lane = newLane(ends.seed);
    this.#id = mix(ends.seed, 0x1d) & 0xffff;
  }

  send(body: Body, bodyBytes: number, dontFragment: boolean, receiver: Receiver): void {
    const bytes = IPV4_BYTES + bodyBytes;
    const leave = Math.max(this.#events.now, this.#nicFreeAt);
    this.#nicFreeAt = leave + bytes / NIC_RATE;
    const packet = {
      lane: this.#lane,
      serial: this.#serial,
      source: this.#source,
      destination: this.#destination,
      id: this.#id,
      dontFragment,
      bytes,
      body,
      ttl: 64,
      corrupted: false,
    };
    this.#serial += 1;
    this.#id = (this.#id + 1) & 0xffff;
    if (leave <= this.#events.now) this.#carrier.send(packet, this.#path(), receiver);
    else this.#events.at(leave, () => this.#carrier.send(packet, this.#path(), receiver));
  }
}
