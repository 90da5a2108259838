/**
 * One TCP conversation as the world's flows have it: connect, send the request, read the answer, close. The
 * server may be closed, read slowly, or reset; the client gives up in the end, as clients do.
 */
import { ICMP, type IcmpKind } from '../wire/icmp.ts';
import { FLAG, optionBytes, TCP_BYTES } from '../wire/tcp.ts';
import type { Carrier } from './carrier.ts';
import type { EventQueue } from './events.ts';
import { Direction, type Exchange } from './exchange.ts';
import type { Content, Packet } from './packet.ts';
import { draw, drawBetween, mix } from './random.ts';
import { type Application, HEADER_AND_TIMESTAMP, type Segment, TcpEndpoint } from './tcp-endpoint.ts';

export interface TcpTraits {
  /** Which side's application reads too slowly, if any. */
  readonly slowReader: 'client' | 'server' | null;
  /** The server resets this conversation before it is done. */
  readonly resets: boolean;
}

/** The client's patience: it closes, and what could not be closed by then is forgotten by both, without a word. */
export const CLOSE_AFTER_US = 20_000_000;
export const LEAVE_AFTER_US = 30_000_000;

const MSS = 1460;
/** 502 × 128: what a Linux socket offers by default. */
const NORMAL_BUFFER = 64_256;
const NORMAL_SCALE = 7;
const SLOW_READ_US = 900_000;
const ABOUT = { think: 11, clientSequence: 12, serverSequence: 13, clock: 14, reset: 15, read: 16 } as const;

export class TcpConversation {
  readonly #events: EventQueue;
  readonly #exchange: Exchange;
  readonly #traits: TcpTraits;
  readonly #there: Direction;
  readonly #back: Direction;
  readonly #client: TcpEndpoint;
  readonly #server: TcpEndpoint;
  #requestLeft: number;
  #replyLeft: number;
  #answered = false;
  #slowReading = false;
  #hasReset = false;

  constructor(events: EventQueue, carrier: Carrier, exchange: Exchange, traits: TcpTraits) {
    this.#events = events;
    this.#exchange = exchange;
    this.#traits = traits;
    this.#requestLeft = exchange.bytes;
    this.#replyLeft = exchange.replyBytes;
    const { client, server, seed, ways } = exchange;
    this.#there = new Direction(
      events,
      carrier,
      { source: client, destination: server, seed: mix(seed, 1) },
      ways.there,
    );
    this.#back = new Direction(
      events,
      carrier,
      { source: server, destination: client, seed: mix(seed, 2) },
      ways.back,
    );
    this.#client = new TcpEndpoint(
      events,
      this.#settings('client', exchange.replyBytes),
      (segment) => this.#fromClient(segment),
      this.#clientApplication(),
    );
    this.#server = new TcpEndpoint(
      events,
      this.#settings('server', exchange.bytes),
      (segment) => this.#fromServer(segment),
      this.#serverApplication(),
    );
  }

  start(): void {
    this.#server.listen();
    this.#client.connect();
    this.#events.after(CLOSE_AFTER_US, () => this.#giveUp());
    this.#events.after(LEAVE_AFTER_US, () => {
      this.#client.stop();
      this.#server.stop();
    });
  }

  #giveUp(): void {
    if (this.#client.state === 'open') this.#client.sender.abandonUnsent();
    else this.#client.stop();
  }

  /** A slow reader's buffer is small enough for what it is sent to fill it. */
  #settings(side: 'client' | 'server', incoming: number) {
    const clockBase = mix(this.#exchange.seed, side === 'client' ? ABOUT.clock : ABOUT.clock + 100);
    if (this.#traits.slowReader !== side) {
      return { mss: MSS, buffer: NORMAL_BUFFER, scale: NORMAL_SCALE, clockBase };
    }
    const buffer = Math.round(Math.min(NORMAL_BUFFER, Math.max(256, incoming / 2)));
    return { mss: MSS, buffer, scale: 0, clockBase };
  }

  #clientApplication(): Application {
    return {
      connected: () => {
        if (this.#exchange.bytes > 0) this.#client.sender.write(this.#exchange.bytes);
        if (this.#exchange.replyBytes === 0) this.#client.sender.close();
      },
      readable: () =>
        this.#read('client', this.#client, (bytes) => {
          this.#replyLeft -= bytes;
          if (this.#replyLeft <= 0) this.#client.sender.close();
        }),
      peerClosed: () => this.#client.sender.close(),
      ended: () => undefined,
    };
  }

  #serverApplication(): Application {
    const maybeAnswer = () => {
      if (this.#requestLeft > 0 || this.#answered) return;
      this.#answered = true;
      const think = drawBetween(this.#exchange.seed, ABOUT.think, 400, 3_000);
      this.#events.after(think, () => this.#answer());
    };
    return {
      connected: maybeAnswer,
      readable: () =>
        this.#read('server', this.#server, (bytes) => {
          this.#requestLeft -= bytes;
          maybeAnswer();
        }),
      peerClosed: () => {
        // Nothing more will come; what the answer still owes goes out before the FIN does.
        this.#server.sender.close();
      },
      ended: () => undefined,
    };
  }

  #answer(): void {
    if (this.#server.state !== 'open') return;
    const { replyBytes, seed } = this.#exchange;
    if (this.#traits.resets) {
      // Half of the resets come before any answer, the others part of the way through it.
      if (draw(seed, ABOUT.reset) < 0.5 || replyBytes < 2) {
        this.#resetByServer();
        return;
      }
      this.#server.sender.write(Math.floor(replyBytes / 2));
      this.#events.after(drawBetween(seed, ABOUT.reset + 100, 2_000, 12_000), () => this.#resetByServer());
      return;
    }
    if (replyBytes > 0) this.#server.sender.write(replyBytes);
  }

  /** A quick application takes what there is; a slow one half a buffer now and then. */
  #read(side: 'client' | 'server', endpoint: TcpEndpoint, taken: (bytes: number) => void): void {
    if (this.#traits.slowReader !== side) {
      taken(endpoint.receiver.read(Number.POSITIVE_INFINITY));
      return;
    }
    if (this.#slowReading) return;
    this.#slowReading = true;
    const wait = SLOW_READ_US * drawBetween(this.#exchange.seed, ABOUT.read, 0.8, 1.2);
    this.#events.after(wait, () => {
      this.#slowReading = false;
      if (endpoint.state !== 'open') return;
      const chunk = Math.max(1, Math.ceil(endpoint.receiver.buffer / 2));
      const bytes = endpoint.receiver.read(chunk);
      // Tell the sender that there is room again, once it is worth telling.
      if (endpoint.receiver.opening >= Math.min(MSS, endpoint.receiver.buffer / 2)) endpoint.acknowledge();
      taken(bytes);
      if (endpoint.receiver.unread > 0) this.#read(side, endpoint, taken);
    });
  }

  #fromClient(segment: Segment): void {
    const base = mix(this.#exchange.seed, ABOUT.clientSequence);
    const peer = mix(this.#exchange.seed, ABOUT.serverSequence);
    const body = this.#body(segment, base, peer, true, this.#exchange.request);
    this.#there.send(body, TCP_BYTES + optionBytes(body.options) + segment.length, true, {
      arrive: () => this.#atServer(segment),
      refused: (icmp, mtu) => this.#refused(this.#client, icmp, mtu),
    });
  }

  #fromServer(segment: Segment): void {
    const base = mix(this.#exchange.seed, ABOUT.serverSequence);
    const peer = mix(this.#exchange.seed, ABOUT.clientSequence);
    const body = this.#body(segment, base, peer, false, this.#exchange.reply);
    this.#back.send(body, TCP_BYTES + optionBytes(body.options) + segment.length, true, {
      arrive: () => this.#client.receive(segment),
      refused: (icmp, mtu) => this.#refused(this.#server, icmp, mtu),
    });
  }

  #atServer(segment: Segment): void {
    const opening = (segment.flags & FLAG.syn) !== 0;
    if (opening && !this.#exchange.ways.accepts()) {
      // A closed port answers from sequence number zero and acknowledges the SYN.
      this.#refuse(0, { offset: 0, ack: 1, flags: FLAG.rst | FLAG.ack });
    } else if (this.#hasReset && (segment.flags & FLAG.rst) === 0) {
      // Whatever still comes for a connection that was reset is told so again.
      const base = mix(this.#exchange.seed, ABOUT.serverSequence);
      this.#refuse(base, { offset: segment.ack, ack: 0, flags: FLAG.rst });
    } else {
      this.#server.receive(segment);
    }
  }

  #resetByServer(): void {
    this.#hasReset = true;
    this.#server.reset();
  }

  #refuse(base: number, reset: { offset: number; ack: number; flags: number }): void {
    const segment: Segment = { ...reset, window: 0, length: 0, options: {} };
    const peer = mix(this.#exchange.seed, ABOUT.clientSequence);
    const body = this.#body(segment, base, peer, false, this.#exchange.reply);
    this.#back.send(body, TCP_BYTES, true, {
      arrive: () => this.#client.receive(segment),
      refused: () => undefined,
    });
  }

  /** Linux takes an unreachable as final only while connecting; a smaller MTU is always believed. */
  #refused(endpoint: TcpEndpoint, icmp: IcmpKind, mtu: number): void {
    if (icmp.type === ICMP.fragmentationNeeded.type && icmp.code === ICMP.fragmentationNeeded.code) {
      endpoint.sender.limitSegment(Math.max(536, mtu - HEADER_AND_TIMESTAMP));
    } else if (endpoint.state === 'syn_sent') {
      endpoint.stop();
    }
  }

  #body(
    segment: Segment,
    base: number,
    peerBase: number,
    forward: boolean,
    content: Content,
  ): Packet['body'] & { kind: 'tcp' } {
    const { clientPort, serverPort } = this.#exchange;
    const { sack } = segment.options;
    return {
      kind: 'tcp',
      sourcePort: forward ? clientPort : serverPort,
      destinationPort: forward ? serverPort : clientPort,
      sequence: (base + segment.offset) >>> 0,
      acknowledgment: (segment.flags & FLAG.ack) === 0 ? 0 : (peerBase + segment.ack) >>> 0,
      flags: segment.flags,
      window: segment.window,
      options: (segment.flags & FLAG.rst) !== 0 ? undefined : this.#absoluteSack(segment, peerBase, sack),
      content,
      offset: segment.offset - 1,
      length: segment.length,
    };
  }

  #absoluteSack(segment: Segment, peerBase: number, sack: Segment['options']['sack']) {
    if (sack === undefined) return segment.options;
    return {
      ...segment.options,
      sack: sack.map(({ from, to }) => ({ from: (peerBase + from) >>> 0, to: (peerBase + to) >>> 0 })),
    };
  }
}
