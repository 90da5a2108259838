/**
 * What conversations say. Readers of captures dissect payloads by port, so a payload must be something the
 * dissector of its port can read: HTTP on web ports, TLS records on TLS ports, a DNS message on 53, and for the
 * rest a filler that no dissector mistakes for a broken message of its own (chosen by trying tshark's whole
 * port table). Bytes depend on their place in the stream alone, so a retransmission repeats them.
 */
import type { Content } from './sim/packet.ts';
import { mix } from './sim/random.ts';
import { tlsHead } from './tls-content.ts';
import { dnsQuery, dnsResponse, RCODE } from './wire/dns.ts';

export interface Subject {
  readonly protocol: 'tcp' | 'udp';
  readonly port: number;
  /** From the client, or the server's answer. */
  readonly forward: boolean;
  readonly bytes: number;
  /** Name or address of the server, for Host and SNI. */
  readonly host: string;
  /** The server refuses in words: 403 instead of 200. */
  readonly forbidden: boolean;
  readonly seed: number;
}

const HTTP_PORTS = new Set([80, 3000, 3128, 5000, 5985, 8000, 8008, 8080, 8081, 8088, 8888, 9200]);
const LINE_PORTS = new Set([21, 25, 110, 143, 587, 6379, 9418]);
const TLS_PORTS = new Set([
  443, 636, 853, 989, 990, 993, 995, 2376, 5061, 5671, 5986, 6443, 8443, 8883, 9443,
]);
/** Payload of a full segment: what MSS and timestamps leave of 1500 bytes. */
const SEGMENT = 1448;
const PATTERN_BYTES = 1536;

function pattern(byteAt: (index: number) => number): Uint8Array {
  return Uint8Array.from({ length: PATTERN_BYTES }, (_, index) => byteAt(index));
}

const WORDS = 'packets go out and most of them come back again ';
/** Lines that end where a full segment ends: 8 × 181 = 1448. The plus makes each a status reply to Redis. */
const LINE = `+${WORDS.repeat(4).slice(0, 178)}\r\n`;
const LINES = pattern((index) => LINE.charCodeAt(index % LINE.length));
/** Bytes that look like cipher text. */
const CIPHER = pattern((index) => mix(index, 0x715) & 255);
const TEXT = pattern((index) => WORDS.charCodeAt(index % WORDS.length));

/** Ports whose dissector trips over the default filler, and the byte that suits it. */
const TCP_FILLER = new Map<number, number>([
  ...[161, 162, 500, 1153, 6160].map((port) => [port, 0x90] as const),
  ...[925, 1861, 3452, 5683, 6668, 7911, 9956].map((port) => [port, 0] as const),
  ...[123, 524, 2404, 2571, 8023, 22222].map((port) => [port, 7] as const),
  [20256, 0xe0],
]);
const UDP_FILLER = new Map<number, number>([
  ...[213, 2157, 4569, 6118, 9201, 9600, 10253, 19999, 32000, 32512, 34962].map(
    (port) => [port, 0x61] as const,
  ),
  ...[701, 1628, 1629, 1718, 1719, 3455, 4533, 4534, 5246, 5247, 37008].map((port) => [port, 1] as const),
  ...[3343, 47000].map((port) => [port, 0xe0] as const),
  [5683, 0xff],
  [17220, 7],
  [19132, 5],
]);
/** Datagrams that no client of the protocol would ever send shorter. */
const UDP_AT_LEAST = new Map<number, number>([
  ...[67, 68].map((port) => [port, 300] as const),
  ...[123, 137, 138, 1194, 4789, 5000].map((port) => [port, 48] as const),
]);

/** Bytes a UDP message on this port really takes. */
export function udpBytes(port: number, bytes: number): number {
  return Math.max(1, bytes, UDP_AT_LEAST.get(port) ?? 0);
}

const patterns = new Map<number, Uint8Array>();

function repeated(byte: number): Uint8Array {
  const known = patterns.get(byte) ?? pattern(() => byte);
  patterns.set(byte, known);
  return known;
}

/**
 * The stream in pieces of one full segment, each with a head of its own. Messages that end where segments end need
 * no reassembly, and a reader that saw a segment twice is not confused by it.
 */
function pieces(
  total: number,
  headOf: (index: number, length: number) => ArrayLike<number> | null,
  filler: Uint8Array,
): Content {
  const heads = new Map<number, Uint8Array>();
  const headAt = (index: number) => {
    const known = heads.get(index);
    if (known !== undefined) return known;
    const made = Uint8Array.from(headOf(index, Math.min(SEGMENT, total - index * SEGMENT)) ?? []);
    heads.set(index, made);
    return made;
  };
  return {
    fill: (buffer, at, offset, length) => {
      for (let done = 0; done < length; ) {
        const index = Math.floor((offset + done) / SEGMENT);
        const within = (offset + done) % SEGMENT;
        const piece = Math.min(length - done, SEGMENT - within);
        buffer.set(filler.subarray(within, within + piece), at + done);
        const head = headAt(index);
        if (within < head.length) buffer.set(head.subarray(within, within + piece), at + done);
        done += piece;
      }
    },
  };
}

export function contentFor(subject: Subject): Content {
  const { protocol, port, bytes } = subject;
  const plain = (filler: Uint8Array) => pieces(bytes, () => null, filler);
  if (protocol === 'udp') return plain(repeated(UDP_FILLER.get(port) ?? 0));
  if (TLS_PORTS.has(port)) {
    return pieces(bytes, (index, length) => tlsHead(subject, index, length), CIPHER);
  }
  if (HTTP_PORTS.has(port)) return pieces(bytes, (_, length) => httpHead(subject, length), TEXT);
  if (port === 1883 && bytes >= 40) {
    return pieces(bytes, (index) => (index === 0 ? mqttHead(subject) : null), TEXT);
  }
  if (LINE_PORTS.has(port)) return plain(LINES);
  if (port === 1433) return pieces(bytes, (_, length) => tdsHead(length), repeated(0));
  const byte = TCP_FILLER.get(port);
  return plain(byte === undefined ? TEXT : repeated(byte));
}

/** A message of exactly `length`: its body's length stands in its head, whose own length depends on it. */
function httpHead(subject: Subject, length: number): Uint8Array | null {
  let body = length;
  for (let round = 0; round < 4; round += 1) {
    const head = Buffer.from(httpText(subject, Math.max(0, body)), 'latin1');
    if (head.length > length) return null;
    if (head.length + body === length) return head;
    body = length - head.length;
  }
  return null;
}

function httpText(subject: Subject, body: number): string {
  const lines = subject.forward
    ? [`POST /v1/items HTTP/1.1`, `Host: ${subject.host}`, 'User-Agent: client/1.4']
    : [`HTTP/1.1 ${subject.forbidden ? '403 Forbidden' : '200 OK'}`, 'Server: app'];
  return [...lines, 'Content-Type: application/octet-stream', `Content-Length: ${body}`, '', ''].join('\r\n');
}

/** One packet of bulk data to or from SQL Server. */
function tdsHead(length: number): readonly number[] | null {
  return length < 8 ? null : [7, 1, length >> 8, length & 255, 0, 0, 1, 0];
}

/** CONNECT or CONNACK, then one PUBLISH as long as all the rest. */
function mqttHead(subject: Subject): Uint8Array {
  const open = subject.forward
    ? [0x10, 13, 0, 4, ...Buffer.from('MQTT'), 4, 2, 0, 60, 0, 1, 0x63]
    : [0x20, 2, 0, 0];
  let left = Math.max(0, subject.bytes - open.length - 1);
  left -= left < 129 ? 1 : left < 16_386 ? 2 : left < 2_097_155 ? 3 : 4;
  const length: number[] = [];
  for (let rest = left; length.length === 0 || rest > 0; rest = Math.floor(rest / 128)) {
    length.push((rest % 128) | (rest >= 128 ? 0x80 : 0));
  }
  return Uint8Array.from([...open, 0x30, ...length, 0, 3, 0x6c, 0x6f, 0x67]);
}

/** Servers of names that are part of the world itself: a flow to UDP port 53 asks and answers as DNS does. */
export function dnsContent(
  subject: Subject,
  name: string,
  address: number,
): { content: Content; bytes: number } {
  const id = subject.seed & 0xffff;
  const message = subject.forward
    ? dnsQuery(id, name)
    : dnsResponse(id, name, { rcode: RCODE.noError, cnames: [], addresses: [address], ttl: 60 });
  return { content: pieces(message.length, () => message, repeated(0)), bytes: message.length };
}
