/** Questions and answers: matched by both endpoints, id and name; counted by name, type, code and server. */
import { type Bounded, type DnsFacts, type DnsNameCount, LIST_BOUND } from '../analysis.ts';
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { hashName, nameText, rcodeText, typeText } from './dns-name.ts';
import { parentsOf } from './dns-parents.ts';
import { Hasher, Pending } from './pending.ts';
import { Samples } from './samples.ts';
import { addressText } from './text.ts';
import { TopList } from './top-list.ts';

const MAX_WAITING = 65_536;
const MAX_NAMES = 32_768;
const MAX_SERVERS = 1024;
const KEPT_SLOW = 64;
const MAX_FRAMES = 5;

export interface NameRecord {
  readonly name: string;
  queries: number;
  nxdomain: number;
  servfail: number;
  unanswered: number;
  txtOrNull: number;
  readonly frames: number[];
  readonly nxFrames: number[];
  readonly failFrames: number[];
  readonly silentFrames: number[];
}

interface ServerRecord {
  readonly server: string;
  queries: number;
  answered: number;
  readonly latency: Samples;
  readonly frames: number[];
}

interface Question {
  readonly name: number;
  readonly server: number;
}

export class DnsCollector {
  dropped = 0;
  overTcp = 0;
  retried = 0;
  truncated = 0;
  answered = 0;
  readonly #hash = new Hasher();
  #waiting: Pending | undefined;
  readonly #questions: Question[] = [];
  readonly #questionIndex = new Map<number, number>();
  readonly #names: NameRecord[] = [];
  readonly #nameIndex = new Map<number, number>();
  readonly #servers: ServerRecord[] = [];
  readonly #serverIndex = new Map<number | string, number>();
  readonly #types = new Map<number, number>();
  readonly #latency = new Samples();
  readonly #slow = new TopList<{ name: string; latency_ms: number; frame: number }>(KEPT_SLOW);

  message(e: Engine, b: Uint8Array, o: number, end: number, flags: number): void {
    const isResponse = (flags & 0x8000) !== 0;
    if (isResponse && (flags & 0x0200) !== 0) this.truncated++;
    if (e.overTcp) this.overTcp++;
    const opcode = (flags >> 11) & 15;
    if (u16be(b, o + 4) === 0 || opcode !== 0) return;
    const h = this.#hash;
    const after = hashName(h, b, o + 12, end);
    if (after < 0 || after + 4 > end) return;
    const name = this.#name(h, b, o + 12);
    const type = u16be(b, after);
    h.add(u16be(b, o));
    if (isResponse) this.#response(e, h, name, flags & 15);
    else this.#query(e, h, name, type);
  }

  #query(e: Engine, h: Hasher, name: number, type: number): void {
    e.series.dnsQuery(e.time);
    if (this.#types.size < 1024 || this.#types.has(type))
      this.#types.set(type, (this.#types.get(type) ?? 0) + 1);
    const entry = this.#names[name];
    if (entry !== undefined) {
      entry.queries++;
      if (type === 16 || type === 10) entry.txtOrNull++;
      if (entry.frames.length < MAX_FRAMES) entry.frames.push(e.frameNumber);
    }
    const server = this.#server(e.dst, e.family);
    const known = this.#servers[server];
    if (known !== undefined) {
      known.queries++;
      if (known.frames.length < MAX_FRAMES) known.frames.push(e.frameNumber);
    }
    endpoints(h, e.src, e.dst, e.family, e.srcPort, e.dstPort);
    this.#waiting ??= new Pending(MAX_WAITING);
    if (this.#waiting.has(h)) {
      this.retried++;
      return;
    }
    const lost = this.#waiting.put(h, e.time, e.frameNumber, this.#question(name, server));
    if (lost >= 0) this.#silent(lost, 0);
  }

  #response(e: Engine, h: Hasher, name: number, rcode: number): void {
    if (rcode === 2 || rcode === 3) this.#failure(e, name, rcode);
    endpoints(h, e.dst, e.src, e.family, e.dstPort, e.srcPort);
    if (this.#waiting === undefined || !this.#waiting.take(h)) return;
    this.answered++;
    const latency = Math.max(0, e.time - this.#waiting.time) / 1e6;
    this.#latency.add(latency);
    const question = this.#questions[this.#waiting.tag];
    const server = this.#servers[question?.server ?? -1];
    if (server !== undefined) {
      server.answered++;
      server.latency.add(latency);
    }
    if (this.#slow.wants(latency))
      this.#slow.add(latency, {
        name: this.#names[name]?.name ?? '',
        latency_ms: latency,
        frame: e.frameNumber,
      });
  }

  #failure(e: Engine, name: number, rcode: number): void {
    e.series.dnsFailure(e.time);
    const entry = this.#names[name];
    if (entry === undefined) return;
    const frames = rcode === 3 ? entry.nxFrames : entry.failFrames;
    if (rcode === 3) entry.nxdomain++;
    else entry.servfail++;
    if (frames.length < MAX_FRAMES) frames.push(e.frameNumber);
  }

  facts(queries: number, responses: number, rcodes: ArrayLike<number>, mdns: number): DnsFacts | null {
    if (queries + responses === 0) return null;
    for (const { tag, frame } of this.#waiting?.waiting() ?? []) this.#silent(tag, frame);
    const spread = this.#latency.spread();
    const limit = spread === null ? 0 : spread.median * 2;
    const slow = this.#slow.bounded().items.filter((item) => item.latency_ms > limit);
    const unanswered = (this.#waiting?.size ?? 0) + (this.#waiting?.dropped ?? 0);
    return {
      queries,
      responses,
      unanswered,
      retried: this.retried,
      truncated_responses: this.truncated,
      over_tcp: this.overTcp,
      mdns_messages: mdns,
      types: [...this.#types]
        .sort((a, b) => b[1] - a[1] || a[0] - b[0])
        .map(([type, count]) => ({ type: typeText(type), count })),
      rcodes: Array.from({ length: 16 }, (_, rcode) => ({
        rcode: rcodeText(rcode),
        count: rcodes[rcode]!,
      })).filter(({ count }) => count > 0),
      latency: spread,
      slow: { items: slow.slice(0, LIST_BOUND), total: spread === null ? 0 : this.#latency.above(limit) },
      nxdomain: this.#top(
        (entry) => entry.nxdomain,
        (entry) => entry.nxFrames,
      ),
      servfail: this.#top(
        (entry) => entry.servfail,
        (entry) => entry.failFrames,
      ),
      top: this.#top(
        (entry) => entry.queries,
        (entry) => entry.frames,
      ),
      unanswered_names: this.#top(
        (entry) => entry.unanswered,
        (entry) => entry.silentFrames,
      ),
      servers: {
        total: this.#servers.length,
        items: [...this.#servers]
          .sort((a, b) => b.queries - a.queries || (a.server < b.server ? -1 : 1))
          .slice(0, LIST_BOUND)
          .map(({ server, queries: asked, answered, latency, frames }) => ({
            server,
            queries: asked,
            answered,
            unanswered: Math.max(0, asked - answered),
            latency: latency.spread(),
            sample_frames: frames,
          })),
      },
      parents: parentsOf(this.#names),
    };
  }

  #top(
    weight: (entry: NameRecord) => number,
    frames: (entry: NameRecord) => readonly number[],
  ): Bounded<DnsNameCount> {
    const having = this.#names.filter((entry) => weight(entry) > 0);
    having.sort((a, b) => weight(b) - weight(a) || (a.name < b.name ? -1 : 1));
    return {
      total: having.length,
      items: having
        .slice(0, LIST_BOUND)
        .map((entry) => ({ name: entry.name, count: weight(entry), sample_frames: frames(entry) })),
    };
  }

  #name(h: Hasher, b: Uint8Array, o: number): number {
    const key = (h.high >>> 0) * 0x20_0000 + (h.low >>> 11);
    const known = this.#nameIndex.get(key);
    if (known !== undefined) return known;
    if (this.#names.length >= MAX_NAMES) {
      this.dropped++;
      return -1;
    }
    this.#nameIndex.set(key, this.#names.length);
    return (
      this.#names.push({
        name: nameText(b, o),
        queries: 0,
        nxdomain: 0,
        servfail: 0,
        unanswered: 0,
        txtOrNull: 0,
        frames: [],
        nxFrames: [],
        failFrames: [],
        silentFrames: [],
      }) - 1
    );
  }

  #server(address: Int32Array, family: number): number {
    const key = family === 4 ? address[0]! : address.join('.');
    const known = this.#serverIndex.get(key);
    if (known !== undefined) return known;
    if (this.#servers.length >= MAX_SERVERS) return -1;
    this.#serverIndex.set(key, this.#servers.length);
    const server = addressText(address, family);
    return this.#servers.push({ server, queries: 0, answered: 0, latency: new Samples(), frames: [] }) - 1;
  }

  /** One number for name and server together: what a waiting question carries as its tag. */
  #question(name: number, server: number): number {
    const key = (name + 1) * 2048 + server + 1;
    const known = this.#questionIndex.get(key);
    if (known !== undefined) return known;
    if (this.#questions.length >= MAX_NAMES * 2) return this.#questions.length;
    this.#questionIndex.set(key, this.#questions.length);
    return this.#questions.push({ name, server }) - 1;
  }

  #silent(tag: number, frame: number): void {
    const entry = this.#names[this.#questions[tag]?.name ?? -1];
    if (entry === undefined) return;
    entry.unanswered++;
    if (frame > 0 && entry.silentFrames.length < MAX_FRAMES) entry.silentFrames.push(frame);
  }
}

function endpoints(
  h: Hasher,
  client: Int32Array,
  server: Int32Array,
  family: number,
  clientPort: number,
  serverPort: number,
): void {
  const n = family === 4 ? 1 : 4;
  for (let i = 0; i < n; i++) {
    h.add(client[i]!);
    h.add(server[i]!);
  }
  h.add((clientPort << 16) | serverPort);
  h.finish();
}
