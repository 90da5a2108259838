/**
 * What identifies a packet at two places: addresses, ports, sequence numbers, length and IP id, with the time it
 * was seen. IPv4 and IPv6 over Ethernet, Linux cooked, loopback and raw captures; the outermost packet counts.
 *
 * 1. The key holds nothing that routers change (TTL, checksums) and nothing a snap length cuts off.
 * 2. Payload is not in the key: a packet that arrives with other content must still be found again.
 * 3. Group addresses are left out: the same announcement is sent over and over.
 */
import { Hasher } from '../facts/pending.ts';
import { addressText } from '../facts/text.ts';
import { i32be, u16be, u32be } from '../read/bytes.ts';
import { readCapture } from '../read/capture-file.ts';
import type { FrameSink } from '../read/sink.ts';
import { type Conversations, type Sighting, SightingColumns } from './sightings.ts';

export interface Sightings {
  readonly packets: SightingColumns;
  readonly cut: boolean;
  /** Times of the first and the last frame, whatever they carried. */
  readonly first: number;
  readonly last: number;
  /** The machine the capture was taken on, as far as its own frames (ARP too) tell: often one, sometimes two. */
  readonly locals: readonly string[];
}

const MAX_ADDRESSES = 20_000;
/** How much of the payload is hashed apart, to compare captures with different snap lengths. */
const START = 16;

export async function sightingsOf(path: string, conversations: Conversations): Promise<Sightings> {
  const packets = new SightingColumns();
  const counts = new Map<string, number>();
  const count = (address: string) => {
    if (counts.has(address) || counts.size < MAX_ADDRESSES)
      counts.set(address, (counts.get(address) ?? 0) + 1);
  };
  let [cut, frame, first, last] = [false, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const sink: FrameSink = {
    frame(bytes, start, captured, _length, seconds, nanoseconds, link) {
      frame++;
      if (packets.full) {
        cut = true;
        return;
      }
      const at = seconds * 1000 + nanoseconds / 1e6;
      first = Math.min(first, at);
      last = Math.max(last, at);
      const end = start + captured;
      const network = networkStart(bytes, start, end, link);
      if (network === undefined) return;
      if (network.arp) {
        if (network.at + 28 <= end) {
          count(dotted(bytes, network.at + 14));
          count(dotted(bytes, network.at + 24));
        }
        return;
      }
      const sighting = sightingOf(conversations, bytes, network.at, end, at, frame);
      if (sighting === undefined) return;
      packets.push(sighting);
      count(conversations.sources[sighting.route]!);
      count(conversations.destinations[sighting.route]!);
    },
  };
  await readCapture(path, sink);
  const most = Math.max(0, ...counts.values());
  const locals = [...counts].filter(([, n]) => n === most).map(([address]) => address);
  return { packets, cut, first, last, locals };
}

interface Network {
  readonly at: number;
  readonly arp: boolean;
}

function networkStart(b: Uint8Array, start: number, end: number, link: number): Network | undefined {
  switch (link) {
    case 12:
    case 14:
    case 101:
    case 228:
    case 229:
      return { at: start, arp: false };
    case 0:
    case 108:
      return { at: start + 4, arp: false };
    case 113:
      return start + 16 <= end ? typed(u16be(b, start + 14), start + 16) : undefined;
    case 276:
      return start + 20 <= end ? typed(u16be(b, start), start + 20) : undefined;
    case 1: {
      let at = start + 12;
      while (at + 6 <= end && (u16be(b, at) === 0x8100 || u16be(b, at) === 0x88a8)) at += 4;
      return at + 2 <= end ? typed(u16be(b, at), at + 2) : undefined;
    }
    default:
      return undefined;
  }
}

function typed(type: number, at: number): Network | undefined {
  if (type === 0x0800 || type === 0x86dd) return { at, arp: false };
  return type === 0x0806 ? { at, arp: true } : undefined;
}

/** One seed for all captures of a comparison, so that keys can be compared. */
const HASH = new Hasher();

/** The packet under its network header: where the transport begins, and where it ends on the wire. */
interface Layer {
  readonly source: string;
  readonly destination: string;
  readonly protocol: number;
  readonly at: number;
  readonly wireEnd: number;
  readonly ttl: number;
  /** What tells packets of the same conversation apart at this layer: an id, and the place of a fragment. */
  readonly id: number;
  readonly place: number;
  /** A later fragment has no transport header. */
  readonly fragment: boolean;
}

function sightingOf(
  conversations: Conversations,
  b: Uint8Array,
  ip: number,
  end: number,
  at: number,
  frame: number,
): Sighting | undefined {
  if (ip >= end) return undefined;
  const layer = b[ip]! >> 4 === 4 ? ipv4(b, ip, end) : b[ip]! >> 4 === 6 ? ipv6(b, ip, end) : undefined;
  if (layer === undefined || isGroup(layer.destination)) return undefined;
  HASH.start();
  addresses(b, ip);
  const transport = transportOf(b, layer, Math.min(end, layer.wireEnd));
  if (transport === undefined) return undefined;
  const { payload, service } = transport;
  const stop = Math.min(end, layer.wireEnd);
  for (const word of [layer.protocol, layer.wireEnd - payload, layer.id, layer.place]) HASH.add(word);
  HASH.finish();
  return {
    key: (HASH.high >>> 0) * 0x10_0000 + (HASH.low >>> 12),
    route: conversations.route(layer.source, layer.destination),
    service: conversations.service(service),
    at,
    frame,
    ttl: layer.ttl,
    length: Math.max(0, layer.wireEnd - payload),
    captured: Math.max(0, stop - payload),
    content: hash(b, payload, stop),
    start: hash(b, payload, Math.min(stop, payload + START)),
  };
}

/** Both addresses into the key. */
function addresses(b: Uint8Array, ip: number): void {
  const [from, words] = b[ip]! >> 4 === 4 ? [ip + 12, 2] : [ip + 8, 8];
  for (let i = 0; i < words; i++) HASH.add(i32be(b, from + i * 4));
}

function ipv4(b: Uint8Array, ip: number, end: number): Layer | undefined {
  const header = (b[ip]! & 15) * 4;
  if (header < 20 || ip + header > end) return undefined;
  // Length zero: the network card cut the packet later; what was captured is what there is.
  const total = u16be(b, ip + 2) || end - ip;
  const fragment = u16be(b, ip + 6) & 0x3fff;
  return {
    source: dotted(b, ip + 12),
    destination: dotted(b, ip + 16),
    protocol: b[ip + 9]!,
    at: ip + header,
    wireEnd: ip + Math.max(total, header),
    ttl: b[ip + 8]!,
    id: u16be(b, ip + 4),
    place: fragment,
    fragment: (fragment & 0x1fff) !== 0,
  };
}

const EXTENSIONS = new Set([0, 43, 60]);

function ipv6(b: Uint8Array, ip: number, end: number): Layer | undefined {
  if (ip + 40 > end) return undefined;
  const wireEnd = ip + 40 + (u16be(b, ip + 4) || end - ip - 40);
  let [next, at, id, place, fragment] = [b[ip + 6]!, ip + 40, 0, 0, false];
  for (let hops = 0; hops < 8 && at + 8 <= end; hops++) {
    if (EXTENSIONS.has(next)) {
      [next, at] = [b[at]!, at + (b[at + 1]! + 1) * 8];
    } else if (next === 44) {
      place = u16be(b, at + 2);
      id = i32be(b, at + 4);
      fragment = place >> 3 !== 0;
      [next, at] = [b[at]!, at + 8];
    } else break;
  }
  if (at > end) return undefined;
  const address = (o: number) =>
    addressText(
      [0, 4, 8, 12].map((i) => u32be(b, o + i)),
      6,
    );
  return {
    source: address(ip + 8),
    destination: address(ip + 24),
    protocol: next,
    at,
    wireEnd,
    ttl: b[ip + 7]!,
    id,
    place,
    fragment,
  };
}

interface Transport {
  readonly payload: number;
  readonly service: string;
}

/** Puts what tells transport packets apart into the key. */
function transportOf(b: Uint8Array, l: Layer, end: number): Transport | undefined {
  const { at, source, destination } = l;
  if (l.fragment) return { payload: at, service: `fragment ${destination}` };
  if (l.protocol === 6 && at + 20 <= end) {
    const [from, to] = [u16be(b, at), u16be(b, at + 2)];
    const payload = Math.min(l.wireEnd, at + Math.max(20, (b[at + 12]! >> 4) * 4));
    for (let i = 0; i < 3; i++) HASH.add(i32be(b, at + i * 4));
    HASH.add(b[at + 13]!);
    HASH.add(timestamp(b, at + 20, Math.min(payload, end)));
    return { payload, service: `tcp ${serviceEnd(source, from, destination, to)}` };
  }
  if (l.protocol === 17 && at + 8 <= end) {
    const [from, to] = [u16be(b, at), u16be(b, at + 2)];
    HASH.add(i32be(b, at));
    return { payload: at + 8, service: `udp ${serviceEnd(source, from, destination, to)}` };
  }
  if ((l.protocol === 1 || l.protocol === 58) && at + 8 <= end) {
    HASH.add(u16be(b, at));
    HASH.add(i32be(b, at + 4));
    return { payload: at + 8, service: `icmp ${source < destination ? source : destination}` };
  }
  return undefined;
}

/** The sender's TCP timestamp: it tells a repetition from its original where there is no IP id (IPv6). */
function timestamp(b: Uint8Array, from: number, to: number): number {
  for (let at = from; at + 1 < to; ) {
    const kind = b[at]!;
    if (kind === 0) return 0;
    if (kind === 1) at += 1;
    else if (kind === 8 && at + 10 <= to) return i32be(b, at + 2);
    else if (b[at + 1]! < 2) return 0;
    else at += b[at + 1]!;
  }
  return 0;
}

/** The lower port is taken for the service. */
function serviceEnd(a: string, aPort: number, b: string, bPort: number): string {
  const [address, port] = aPort < bPort ? [a, aPort] : [b, bPort];
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

const dotted = (b: Uint8Array, o: number) => `${b[o]}.${b[o + 1]}.${b[o + 2]}.${b[o + 3]}`;
const isGroup = (address: string) =>
  /^(?:22[4-9]|23\d)\.|^255\.255\.255\.255$|^ff[0-9a-f]{2}:/u.test(address);

/** FNV-1a: enough to notice a changed byte between two honest captures. */
function hash(b: Uint8Array, from: number, to: number): number {
  let h = 0x811c9dc5;
  for (let i = from; i < to; i++) h = Math.imul(h ^ b[i]!, 0x01000193);
  return h | 0;
}
