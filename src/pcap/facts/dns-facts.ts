/** Questions and answers: matched by both endpoints, id and name; counted by name, type, code and server. */
import { type Bounded, type DnsFacts, type DnsNameCount, LIST_BOUND } from '../analysis.ts';
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { hashName, rcodeText, typeText } from './dns-name.ts';
import { parentsOf } from './dns-parents.ts';
import { type Counted, NAME, NameTable } from './name-table.ts';
import { Hasher, Pending } from './pending.ts';
import { Samples } from './samples.ts';
import { firstOf } from './select.ts';
import { addressText } from './text.ts';
import { TopList } from './top-list.ts';

const MAX_WAITING = 65_536;
const MAX_SERVERS = 1024;
const KEPT_SLOW = 64;
const MAX_FRAMES = 5;

interface ServerRecord {
  readonly server: string;
  queries: number;
  answered: number;
  readonly latency: Samples;
  readonly frames: number[];
}

/** Name and server of a waiting question in one number. */
function tagOf(name: number, server: number): number {
  return (name + 1) * (MAX_SERVERS + 1) + server + 1;
}

export class DnsCollector {
  overTcp = 0;
  retried = 0;
  truncated = 0;
  answered = 0;
  readonly #hash = new Hasher();
  #waiting: Pending | undefined;
  readonly #names = new NameTable();
  readonly #servers: ServerRecord[] = [];
  readonly #serverIndex = new Map<number | string, number>();
  readonly #types = new Uint32Array(65_536);
  /** The server asked last: most captures have few. */
  readonly #lastServer = new Int32Array(5);
  #lastServerIndex = -1;
  readonly #latency = new Samples();
  readonly #slow = new TopList<{ name: string; latency_ms: number; frame: number }>(KEPT_SLOW);

  /** Names refused for want of room. */
  get dropped(): number {
    return this.#names.dropped;
  }

  message(e: Engine, b: Uint8Array, o: number, end: number, flags: number): void {
    const isResponse = (flags & 0x8000) !== 0;
    if (isResponse && (flags & 0x0200) !== 0) this.truncated++;
    if (e.overTcp) this.overTcp++;
    const opcode = (flags >> 11) & 15;
    if (u16be(b, o + 4) === 0 || opcode !== 0) return;
    const h = this.#hash;
    const after = hashName(h, b, o + 12, end);
    if (after < 0 || after + 4 > end) return;
    const name = this.#names.of(h, b, o + 12);
    const type = u16be(b, after);
    h.add(u16be(b, o));
    if (isResponse) this.#response(e, h, name, flags & 15);
    else this.#query(e, h, name, type);
  }

  #query(e: Engine, h: Hasher, name: number, type: number): void {
    e.series.dnsQuery(e.time);
    this.#types[type]!++;
    this.#names.add(name, NAME.queries, e.frameNumber);
    if (type === 16 || type === 10) this.#names.addTxtOrNull(name);
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
    const lost = this.#waiting.put(h, e.time, e.frameNumber, tagOf(name, server));
    if (lost >= 0) this.#silent(lost, 0);
  }

  #response(e: Engine, h: Hasher, name: number, rcode: number): void {
    if (rcode === 2 || rcode === 3) {
      e.series.dnsFailure(e.time);
      this.#names.add(name, rcode === 3 ? NAME.nxdomain : NAME.servfail, e.frameNumber);
    }
    endpoints(h, e.dst, e.src, e.family, e.dstPort, e.srcPort);
    if (this.#waiting === undefined || !this.#waiting.take(h)) return;
    this.answered++;
    const latency = Math.max(0, e.time - this.#waiting.time) / 1e6;
    this.#latency.add(latency);
    const server = this.#servers[(this.#waiting.tag % (MAX_SERVERS + 1)) - 1];
    if (server !== undefined) {
      server.answered++;
      server.latency.add(latency);
    }
    if (this.#slow.wants(latency))
      this.#slow.add(latency, {
        name: this.#names.names[name] ?? '',
        latency_ms: latency,
        frame: e.frameNumber,
      });
  }

  facts(queries: number, responses: number, rcodes: ArrayLike<number>, mdns: number): DnsFacts | null {
    if (queries + responses === 0) return null;
    for (const { tag, frame } of this.#waiting?.waiting() ?? []) this.#silent(tag, frame);
    const spread = this.#latency.spread();
    const limit = spread === null ? 0 : spread.median * 2;
    const slowest = this.#slow.bounded().items;
    const slow = slowest.filter((item) => item.latency_ms > limit);
    const unanswered = (this.#waiting?.size ?? 0) + (this.#waiting?.dropped ?? 0);
    return {
      queries,
      responses,
      unanswered,
      retried: this.retried,
      truncated_responses: this.truncated,
      over_tcp: this.overTcp,
      mdns_messages: mdns,
      types: this.#typesSeen(),
      rcodes: Array.from({ length: 16 }, (_, rcode) => ({
        rcode: rcodeText(rcode),
        count: rcodes[rcode]!,
      })).filter(({ count }) => count > 0),
      latency: spread,
      slow: { items: slow.slice(0, LIST_BOUND), total: spread === null ? 0 : this.#latency.above(limit) },
      slowest: slowest.slice(0, LIST_BOUND),
      nxdomain: this.#top(NAME.nxdomain),
      servfail: this.#top(NAME.servfail),
      top: this.#top(NAME.queries),
      unanswered_names: this.#top(NAME.unanswered),
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

  #typesSeen(): DnsFacts['types'] {
    const seen: { type: string; count: number }[] = [];
    this.#types.forEach((count, type) => {
      if (count > 0) seen.push({ type: typeText(type), count });
    });
    return seen.sort((a, b) => b.count - a.count || (a.type < b.type ? -1 : 1));
  }

  #top(what: Counted): Bounded<DnsNameCount> {
    const table = this.#names;
    const { indices, total } = firstOf(
      table.names.length,
      LIST_BOUND,
      (name) => table.count(name, what) > 0,
      (a, b) => {
        const more = table.count(a, what) - table.count(b, what);
        return more > 0 || (more === 0 && table.names[a]! < table.names[b]!);
      },
    );
    return {
      total,
      items: indices.map((name) => ({
        name: table.names[name]!,
        count: table.count(name, what),
        sample_frames: table.frames(name, what),
      })),
    };
  }

  #server(address: Int32Array, family: number): number {
    const last = this.#lastServer;
    if (
      this.#lastServerIndex >= 0 &&
      last[4] === family &&
      last[0] === address[0] &&
      (family === 4 || (last[1] === address[1] && last[2] === address[2] && last[3] === address[3]))
    )
      return this.#lastServerIndex;
    const key = family === 4 ? address[0]! : address.join('.');
    let index = this.#serverIndex.get(key);
    if (index === undefined) {
      if (this.#servers.length >= MAX_SERVERS) return -1;
      index = this.#servers.length;
      this.#serverIndex.set(key, index);
      const server = addressText(address, family);
      this.#servers.push({ server, queries: 0, answered: 0, latency: new Samples(), frames: [] });
    }
    last.set(address);
    last[4] = family;
    this.#lastServerIndex = index;
    return index;
  }

  #silent(tag: number, frame: number): void {
    this.#names.add(Math.floor(tag / (MAX_SERVERS + 1)) - 1, NAME.unanswered, frame);
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
