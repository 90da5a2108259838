/** Conversations without connections: UDP exchanges, pings and name lookups. */

import { type DnsAnswer, dnsQuery, dnsResponse } from '../wire/dns.ts';
import { ICMP_BYTES, type IcmpKind } from '../wire/icmp.ts';
import { UDP_BYTES } from '../wire/udp.ts';
import type { Carrier } from './carrier.ts';
import type { EventQueue } from './events.ts';
import { Direction, type Exchange } from './exchange.ts';
import type { Content, Packet } from './packet.ts';
import { drawBetween, mix } from './random.ts';

/** Applications cut what they send so that it fits a packet. */
const DATAGRAM = 1400;
const RETRY_US = 1_000_000;
const RETRIES = 2;
const ABOUT_THINK = 21;

function directions(events: EventQueue, carrier: Carrier, exchange: Exchange) {
  const { client, server, seed, ways } = exchange;
  return {
    there: new Direction(
      events,
      carrier,
      { source: client, destination: server, seed: mix(seed, 1) },
      ways.there,
    ),
    back: new Direction(
      events,
      carrier,
      { source: server, destination: client, seed: mix(seed, 2) },
      ways.back,
    ),
  };
}

/** Request datagrams, answer datagrams; a request that fits one packet is repeated when no answer comes. */
export function udpConversation(events: EventQueue, carrier: Carrier, exchange: Exchange): void {
  const { there, back } = directions(events, carrier, exchange);
  const quiet = { arrive: () => undefined, refused: () => undefined };
  let settled = exchange.replyBytes === 0 || exchange.bytes > DATAGRAM;
  const answer = () => {
    const think = drawBetween(exchange.seed, ABOUT_THINK, 200, 1_500);
    events.after(think, () => {
      sendDatagrams(back, exchange, exchange.replyBytes, exchange.reply, false, (last) => ({
        ...quiet,
        arrive: () => {
          if (last) settled = true;
        },
      }));
    });
  };
  const ask = (tries: number) => {
    sendDatagrams(there, exchange, Math.max(1, exchange.bytes), exchange.request, true, (last) => ({
      arrive: () => {
        if (last && exchange.replyBytes > 0) answer();
      },
      refused: () => {
        settled = true;
      },
    }));
    if (settled || tries >= RETRIES) return;
    events.after(RETRY_US * 2 ** tries, () => {
      if (!settled) ask(tries + 1);
    });
  };
  ask(0);
}

function sendDatagrams(
  direction: Direction,
  exchange: Exchange,
  total: number,
  content: Content,
  forward: boolean,
  receiver: (last: boolean) => { arrive(packet: Packet): void; refused(icmp: IcmpKind, mtu: number): void },
): void {
  const { clientPort, serverPort } = exchange;
  for (let offset = 0; offset < total; offset += DATAGRAM) {
    const length = Math.min(DATAGRAM, total - offset);
    direction.send(
      {
        kind: 'udp',
        sourcePort: forward ? clientPort : serverPort,
        destinationPort: forward ? serverPort : clientPort,
        content,
        offset,
        length,
      },
      UDP_BYTES + length,
      false,
      receiver(offset + length >= total),
    );
  }
}

/** One echo; `sequence` goes up from conversation to conversation, as in one long-running `ping`. */
export function pingConversation(
  events: EventQueue,
  carrier: Carrier,
  exchange: Exchange,
  echo: { readonly identifier: number; readonly sequence: number },
): void {
  const { there, back } = directions(events, carrier, exchange);
  const length = Math.min(1472, Math.max(8, exchange.bytes));
  const quiet = { arrive: () => undefined, refused: () => undefined };
  there.send({ kind: 'echo', request: true, ...echo, length }, ICMP_BYTES + length, true, {
    arrive: () => {
      events.after(drawBetween(exchange.seed, ABOUT_THINK, 20, 80), () => {
        back.send({ kind: 'echo', request: false, ...echo, length }, ICMP_BYTES + length, false, quiet);
      });
    },
    refused: () => undefined,
  });
}

/** A resolver's patience: 5 s a try, two tries (the defaults of glibc). */
const LOOKUP_US = 5_000_000;
const LOOKUP_TRIES = 2;

export interface Lookup {
  readonly name: string;
  readonly id: number;
  /** What the server answers at this moment; `null` = nothing. */
  answer(): DnsAnswer | null;
  /** Called once, when an answer with an address arrives. */
  resolved(address: number): void;
}

export function lookUp(events: EventQueue, carrier: Carrier, exchange: Exchange, lookup: Lookup): void {
  const { there, back } = directions(events, carrier, exchange);
  const { clientPort, serverPort } = exchange;
  let settled = false;
  const arrive = () => {
    const answer = lookup.answer();
    if (answer === null) return;
    const bytes = dnsResponse(lookup.id, lookup.name, answer);
    events.after(drawBetween(exchange.seed, ABOUT_THINK, 150, 900), () => {
      back.send(datagram(serverPort, clientPort, bytes), UDP_BYTES + bytes.length, false, {
        arrive: () => {
          if (settled) return;
          settled = true;
          const address = answer.addresses[0];
          if (address !== undefined) lookup.resolved(address);
        },
        refused: () => undefined,
      });
    });
  };
  const ask = (tries: number) => {
    const bytes = dnsQuery(lookup.id, lookup.name);
    there.send(datagram(clientPort, serverPort, bytes), UDP_BYTES + bytes.length, false, {
      arrive,
      refused: () => {
        settled = true;
      },
    });
    if (tries + 1 < LOOKUP_TRIES) {
      events.after(LOOKUP_US, () => {
        if (!settled) ask(tries + 1);
      });
    }
  };
  ask(0);
}

function datagram(sourcePort: number, destinationPort: number, bytes: Uint8Array) {
  return {
    kind: 'udp',
    sourcePort,
    destinationPort,
    content: fixedContent(bytes),
    offset: 0,
    length: bytes.length,
  } as const;
}

function fixedContent(bytes: Uint8Array): Content {
  return {
    fill: (buffer, at, offset, length) => buffer.set(bytes.subarray(offset, offset + length), at),
  };
}
