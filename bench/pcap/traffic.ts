/**
 * A mixed capture of any number of packets, the same for the same seed: HTTP and TLS connections (handshake,
 * requests, full-size answers, acknowledgements, some loss), datagrams, DNS, pings, ARP, IPv6 and VLAN tags,
 * interleaved as a busy link would show them.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

const CHUNK = 8 * 1024 * 1024;

export interface Traffic {
  readonly path: string;
  readonly packets: number;
  readonly bytes: number;
}

export function writeTraffic(path: string, packets: number, seed = 1): Traffic {
  const out = new Writer(path);
  const r = random(seed);
  const flows: Flow[] = Array.from({ length: 2000 }, (_, i) => newFlow(r, i));
  let id = flows.length;
  while (out.packets < packets) {
    const dice = r() % 100;
    out.tick(r() % 40);
    if (dice < 80) {
      const at = r() % flows.length;
      const flow = flows[at]!;
      if (!step(out, r, flow)) flows[at] = newFlow(r, id++);
    } else if (dice < 88) datagrams(out, r);
    else if (dice < 96) dnsPair(out, r);
    else if (dice < 98) pingPair(out, r);
    else arpPair(out, r);
  }
  return out.close();
}

interface Flow {
  readonly client: number;
  readonly server: number;
  readonly port: number;
  readonly service: 80 | 443;
  readonly six: boolean;
  readonly vlan: boolean;
  stage: number;
  seqC: number;
  seqS: number;
  left: number;
  unacked: number;
}

function newFlow(r: () => number, id: number): Flow {
  const kind = r() % 10;
  return {
    client: 0x0a000000 | (id & 0xffff),
    server: 0xc0a80000 | (r() % 500),
    port: 20_000 + (id % 40_000),
    service: kind < 4 ? 80 : 443,
    six: kind === 0,
    vlan: kind === 1,
    stage: 0,
    seqC: r(),
    seqS: r(),
    left: 10 + (r() % 200),
    unacked: 0,
  };
}

/** One packet of a connection; false when it is over. */
function step(out: Writer, r: () => number, f: Flow): boolean {
  switch (f.stage) {
    case 0:
      out.tcp(f, true, 2, f.seqC, 0, 0);
      f.stage = 1;
      return true;
    case 1:
      out.tcp(f, false, 18, f.seqS, f.seqC + 1, 0);
      f.seqC = (f.seqC + 1) >>> 0;
      f.seqS = (f.seqS + 1) >>> 0;
      f.stage = 2;
      return true;
    case 2:
      out.tcp(f, true, 16, f.seqC, f.seqS, 0);
      f.stage = 3;
      return true;
    case 3:
      out.tcp(f, true, 24, f.seqC, f.seqS, 300, f.service === 80 ? GET : HELLO);
      f.seqC = (f.seqC + 300) >>> 0;
      f.stage = 4;
      return true;
    case 4: {
      if (f.unacked >= 2) {
        out.tcp(f, true, 16, f.seqC, f.seqS, 0);
        f.unacked = 0;
        return true;
      }
      const again = r() % 200 === 0;
      const first = f.service === 80 && f.left % 50 === 0 ? OK : undefined;
      if (again) out.tcp(f, false, 24, (f.seqS - 1400) >>> 0, f.seqC, 1400);
      else {
        out.tcp(f, false, 16, f.seqS, f.seqC, 1400, first);
        f.seqS = (f.seqS + 1400) >>> 0;
      }
      f.unacked++;
      if (--f.left <= 0) f.stage = 5;
      return true;
    }
    case 5:
      out.tcp(f, false, 17, f.seqS, f.seqC, 0);
      f.stage = 6;
      return true;
    default:
      out.tcp(f, true, 17, f.seqC, (f.seqS + 1) >>> 0, 0);
      return false;
  }
}

/** What a datagram protocol of today looks like from outside: bytes on port 443. */
function datagrams(out: Writer, r: () => number): void {
  const port = 1024 + (r() % 2000);
  for (let n = 1 + (r() % 3); n > 0; n--) {
    out.datagram(port, n % 2 === 0, 60 + (r() % 1100));
    out.tick(20);
  }
}

const GET = Buffer.from('GET /index.html HTTP/1.1\r\nHost: www.example.com\r\n\r\n');
const OK = Buffer.from('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n');
/** A client hello as far as its name: record, handshake, version, random, session, suites, compression, extension. */
const HELLO = Buffer.concat([
  Buffer.from('16030100410100003d0303', 'hex'),
  Buffer.alloc(32, 7),
  Buffer.from('00000213010100001200000010000e00000b6578616d706c652e636f6d', 'hex'),
]);

function dnsPair(out: Writer, r: () => number): void {
  const id = r() & 0xffff;
  const port = 1024 + (r() % 60_000);
  const name = r() % 3000;
  out.dns(port, id, name, false);
  out.tick(200 + (r() % 3000));
  if (r() % 100 !== 0) out.dns(port, id, name, true);
}

function pingPair(out: Writer, r: () => number): void {
  const sequence = r() & 0xffff;
  out.ping(sequence, 8);
  out.tick(500 + (r() % 500));
  out.ping(sequence, 0);
}

function arpPair(out: Writer, r: () => number): void {
  const target = r() % 200;
  out.arp(target, 1);
  out.tick(50);
  out.arp(target, 2);
}

/** Bytes into a fixed buffer, the buffer into the file. */
class Writer {
  packets = 0;
  #bytes = 24;
  #fd: number;
  #path: string;
  #b = Buffer.alloc(CHUNK);
  #o = 0;
  #micro = 0;
  #ipId = 0;

  constructor(path: string) {
    this.#path = path;
    this.#fd = openSync(path, 'w');
    const header = Buffer.alloc(24);
    header.writeUInt32LE(0xa1b2c3d4, 0);
    header.writeUInt16LE(2, 4);
    header.writeUInt16LE(4, 6);
    header.writeUInt32LE(262_144, 16);
    header.writeUInt32LE(1, 20);
    writeSync(this.#fd, header);
  }

  tick(micro: number): void {
    this.#micro += micro;
  }

  tcp(
    f: Flow,
    fromClient: boolean,
    flags: number,
    seq: number,
    ack: number,
    payload: number,
    head?: Buffer,
  ): void {
    const options = (flags & 2) !== 0 ? 8 : 0;
    const length = 20 + options + payload;
    const o = this.#network(
      f.six,
      f.vlan,
      6,
      length,
      fromClient ? f.client : f.server,
      fromClient ? f.server : f.client,
    );
    const b = this.#b;
    b.writeUInt16BE(fromClient ? f.port : f.service, o);
    b.writeUInt16BE(fromClient ? f.service : f.port, o + 2);
    b.writeUInt32BE(seq >>> 0, o + 4);
    b.writeUInt32BE(ack >>> 0, o + 8);
    b[o + 12] = ((20 + options) / 4) << 4;
    b[o + 13] = flags;
    b.writeUInt16BE(64_000, o + 14);
    b.writeUInt32BE(0, o + 16);
    if (options > 0) b.set([2, 4, 5, 180, 1, 3, 3, 7], o + 20);
    b.fill(0x61, o + 20 + options, o + length);
    if (head !== undefined) b.set(head, o + 20 + options);
    this.#o = o + length;
  }

  datagram(port: number, back: boolean, payload: number): void {
    const [client, server] = [0x0a020304, 0xc0a80102];
    const length = 8 + payload;
    const o = this.#network(false, false, 17, length, back ? server : client, back ? client : server);
    const b = this.#b;
    b.writeUInt16BE(back ? 443 : port, o);
    b.writeUInt16BE(back ? port : 443, o + 2);
    b.writeUInt16BE(length, o + 4);
    b.fill(0x42, o + 6, o + length);
    this.#o = o + length;
  }

  dns(port: number, id: number, name: number, response: boolean): void {
    const label = `host${name}`;
    const question = 1 + label.length + 1 + 7 + 1 + 3 + 1 + 4;
    const length = 8 + 12 + question + (response ? 16 : 0);
    const o = this.#network(
      false,
      false,
      17,
      length,
      response ? 0xc0a80035 : 0x0a010203,
      response ? 0x0a010203 : 0xc0a80035,
    );
    const b = this.#b;
    b.writeUInt16BE(response ? 53 : port, o);
    b.writeUInt16BE(response ? port : 53, o + 2);
    b.writeUInt16BE(length, o + 4);
    b.writeUInt16BE(0, o + 6);
    b.writeUInt16BE(id, o + 8);
    b.writeUInt16BE(response ? (name % 20 === 0 ? 0x8183 : 0x8180) : 0x0100, o + 10);
    b.writeUInt16BE(1, o + 12);
    b.writeUInt16BE(response ? 1 : 0, o + 14);
    b.writeUInt32BE(0, o + 16);
    let at = o + 20;
    for (const part of [label, 'example', 'com']) {
      b[at++] = part.length;
      at += b.write(part, at, 'latin1');
    }
    b[at++] = 0;
    b.writeUInt32BE(0x0001_0001, at);
    at += 4;
    if (response) b.set([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 1, 2, 3, 4], at);
    this.#o = o + length;
  }

  ping(sequence: number, type: number): void {
    const reply = type === 0;
    const o = this.#network(
      false,
      false,
      1,
      64,
      reply ? 0x08080808 : 0x0a010203,
      reply ? 0x0a010203 : 0x08080808,
    );
    this.#b.fill(0, o, o + 64);
    this.#b[o] = type;
    this.#b.writeUInt16BE(77, o + 4);
    this.#b.writeUInt16BE(sequence, o + 6);
    this.#o = o + 64;
  }

  arp(target: number, operation: number): void {
    const o = this.#record(42 - 14, 0x0806, false);
    this.#b.set(
      [
        0,
        1,
        8,
        0,
        6,
        4,
        0,
        operation,
        0,
        12,
        41,
        1,
        2,
        target,
        10,
        1,
        0,
        operation === 1 ? 1 : target,
        0,
        0,
        0,
        0,
        0,
        0,
        10,
        1,
        0,
        operation === 1 ? target : 1,
      ],
      o,
    );
    this.#o = o + 28;
  }

  close(): Traffic {
    this.#flush();
    closeSync(this.#fd);
    return { path: this.#path, packets: this.packets, bytes: this.#bytes };
  }

  #network(six: boolean, vlan: boolean, protocol: number, payload: number, src: number, dst: number): number {
    const o = this.#record(payload + (six ? 40 : 20), six ? 0x86dd : 0x0800, vlan);
    const b = this.#b;
    if (six) {
      b.writeUInt32BE(0x60000000, o);
      b.writeUInt16BE(payload, o + 4);
      b[o + 6] = protocol;
      b[o + 7] = 64;
      for (let i = 0; i < 2; i++) {
        b.writeUInt32BE(0x20010db8, o + 8 + i * 16);
        b.writeUInt32BE(0, o + 12 + i * 16);
        b.writeUInt32BE(0, o + 16 + i * 16);
        b.writeUInt32BE((i === 0 ? src : dst) >>> 0, o + 20 + i * 16);
      }
      return o + 40;
    }
    b.writeUInt32BE(0x45000000 | (payload + 20), o);
    b.writeUInt16BE(this.#ipId++ & 0xffff, o + 4);
    b.writeUInt16BE(0x4000, o + 6);
    b[o + 8] = 64;
    b[o + 9] = protocol;
    b.writeUInt16BE(0, o + 10);
    b.writeUInt32BE(src >>> 0, o + 12);
    b.writeUInt32BE(dst >>> 0, o + 16);
    return o + 20;
  }

  #record(payload: number, type: number, vlan: boolean): number {
    if (this.#o + 4096 > CHUNK) this.#flush();
    const length = 14 + (vlan ? 4 : 0) + payload;
    const b = this.#b;
    let o = this.#o;
    const time = 1_700_000_000_000_000 + this.#micro;
    b.writeUInt32LE(Math.floor(time / 1e6), o);
    b.writeUInt32LE(time % 1e6, o + 4);
    b.writeUInt32LE(length, o + 8);
    b.writeUInt32LE(length, o + 12);
    o += 16;
    b.set([0, 12, 41, 1, 2, 3, 0, 80, 86, 4, 5, 6], o);
    o += 12;
    if (vlan) {
      b.writeUInt32BE(0x81000064, o);
      o += 4;
    }
    b.writeUInt16BE(type, o);
    this.packets++;
    return o + 2;
  }

  #flush(): void {
    writeSync(this.#fd, this.#b, 0, this.#o);
    this.#bytes += this.#o;
    this.#o = 0;
  }
}

function random(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
}
