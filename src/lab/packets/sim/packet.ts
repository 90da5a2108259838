import type { IcmpKind } from '../wire/icmp.ts';
import type { TcpOptions } from '../wire/tcp.ts';
import type { Link } from './link.ts';

/** Payload bytes as a function of their place in the stream, so that a retransmission repeats them exactly. */
export interface Content {
  fill(buffer: Uint8Array, at: number, offset: number, length: number): void;
}

export type Body =
  | {
      readonly kind: 'tcp';
      readonly sourcePort: number;
      readonly destinationPort: number;
      readonly sequence: number;
      readonly acknowledgment: number;
      readonly flags: number;
      readonly window: number;
      readonly options: TcpOptions | undefined;
      readonly content: Content;
      readonly offset: number;
      readonly length: number;
    }
  | {
      readonly kind: 'udp';
      readonly sourcePort: number;
      readonly destinationPort: number;
      readonly content: Content;
      readonly offset: number;
      readonly length: number;
    }
  | {
      readonly kind: 'echo';
      readonly request: boolean;
      readonly identifier: number;
      readonly sequence: number;
      readonly length: number;
    }
  | { readonly kind: 'error'; readonly icmp: IcmpKind; readonly mtu: number; readonly about: Packet };

/** One direction of one conversation: what a FIFO wire must keep in order. */
export interface Lane {
  readonly seed: number;
  readonly lastArrival: Map<Link, number>;
  readonly held: Map<Link, HeldPacket>;
}

/** A packet that a reordering wire lets others overtake. */
export interface HeldPacket {
  overtakenBy: number;
  readonly release: () => void;
}

export function newLane(seed: number): Lane {
  return { seed, lastArrival: new Map(), held: new Map() };
}

/** A packet under way. Header fields that change in transit are the only ones that may be written. */
export interface Packet {
  readonly lane: Lane;
  /** Number of the packet in its lane: with the lane's seed, what random draws are about. */
  readonly serial: number;
  readonly id: number;
  readonly dontFragment: boolean;
  /** Length of the whole IP packet. */
  readonly bytes: number;
  readonly body: Body;
  source: number;
  destination: number;
  ttl: number;
  /** A bit was flipped on the wire: the checksum no longer matches and the receiver drops it. */
  corrupted: boolean;
}
