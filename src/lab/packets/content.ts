/**
 * What conversations say. Readers of captures dissect payloads by port, so a payload must be something the
 * dissector of its port can read: HTTP on web ports, TLS records on TLS ports, a DNS message on 53, and for the
 * rest a filler that no dissector mistakes for a broken message of its own (chosen by trying tshark's whole
 * port table). Bytes depend on their place in the stream alone, so a retransmission repeats them.
 */
import type { Content } from './sim/packet.ts';
import { tlsStream } from './tls-content.ts';
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

const HTTP_PORTS = new Set([80, 3000, 5000, 8000, 8008, 8080, 8081, 8088, 8888, 9200]);
const TLS_PORTS = new Set([443, 636, 853, 989, 990, 993, 995, 5061, 6443, 8443, 9443]);
const PATTERN_BYTES = 4096;

function pattern(byteAt: (index: number) => number): Uint8Array {
  return Uint8Array.from({ length: PATTERN_BYTES }, (_, index) => byteAt(index));
}

const WORDS = 'packets go out and most of them come back again ';
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

/** A few bytes at the start, then the pattern for as long as it takes. */
function stream(head: Uint8Array, filler: Uint8Array): Content {
  return {
    fill: (buffer, at, offset, length) => {
      let done = 0;
      if (offset < head.length) {
        done = Math.min(length, head.length - offset);
        buffer.set(head.subarray(offset, offset + done), at);
      }
      while (done < length) {
        const from = (offset + done) % PATTERN_BYTES;
        const piece = Math.min(length - done, PATTERN_BYTES - from);
        buffer.set(filler.subarray(from, from + piece), at + done);
        done += piece;
      }
    },
  };
}

const NOTHING = new Uint8Array(0);

export function contentFor(subject: Subject): Content {
  const { protocol, port, bytes } = subject;
  if (protocol === 'udp') {
    const byte = UDP_FILLER.get(port);
    return stream(NOTHING, byte === undefined ? repeated(0) : repeated(byte));
  }
  if (TLS_PORTS.has(port)) return tlsStream(subject);
  if (HTTP_PORTS.has(port)) {
    const head = httpHead(subject);
    if (head.length <= bytes) return stream(head, TEXT);
  }
  if (port === 1883 && bytes >= 40) return stream(mqttHead(subject), TEXT);
  const byte = TCP_FILLER.get(port);
  return stream(NOTHING, byte === undefined ? TEXT : repeated(byte));
}

/** The length of the body stands in the head, whose own length depends on it: settled in a round or two. */
function httpHead(subject: Subject): Uint8Array {
  let body = subject.bytes;
  for (let round = 0; ; round += 1) {
    const head = Buffer.from(httpText(subject, Math.max(0, body)), 'latin1');
    if (head.length + body === subject.bytes || round === 4) return head;
    body = subject.bytes - head.length;
  }
}

function httpText(subject: Subject, body: number): string {
  const lines = subject.forward
    ? [`POST /v1/items HTTP/1.1`, `Host: ${subject.host}`, 'User-Agent: client/1.4']
    : [`HTTP/1.1 ${subject.forbidden ? '403 Forbidden' : '200 OK'}`, 'Server: app'];
  return [...lines, 'Content-Type: application/octet-stream', `Content-Length: ${body}`, '', ''].join('\r\n');
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
  return { content: stream(message, repeated(0)), bytes: message.length };
}
