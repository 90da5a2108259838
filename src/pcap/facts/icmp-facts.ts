/** Echo pairs and their round trips, and what routers and hosts complained about. */
import { type IcmpFacts, type IcmpUnreachable, LIST_BOUND } from '../analysis.ts';
import type { Engine } from '../engine.ts';
import { i32be, u16be, u32be } from '../read/bytes.ts';
import { icmpTypeName, unreachableMeaning } from './icmp-names.ts';
import { InternTable } from './intern.ts';
import { Hasher, Pending } from './pending.ts';
import { Samples } from './samples.ts';
import { counting, Tally } from './tally.ts';
import { addressText } from './text.ts';
import { TopList } from './top-list.ts';

const MAX_WAITING = 65_536;
const MAX_PAIRS = 4096;
const KEPT_SLOW = 64;

interface Slow {
  readonly seq: number;
  readonly rtt_ms: number;
  readonly frame: number;
  readonly src: string;
  readonly dst: string;
}

interface Unreachable {
  count: number;
  head: Omit<IcmpUnreachable, 'count' | 'sample_frames'> | undefined;
}

export class IcmpCollector {
  #waiting: Pending | undefined;
  readonly #hash = new Hasher();
  readonly #rtt = new Samples();
  readonly #slow = new TopList<Slow>(KEPT_SLOW);
  #requests = 0;
  #replies = 0;
  #matched = 0;
  #orphans = 0;
  /** Who pinged whom: indexed by the tag of a waiting request. */
  readonly #pairs: { readonly src: string; readonly dst: string; count: number; frames: number[] }[] = [];
  readonly #pairIndex = new InternTable(MAX_PAIRS);
  readonly #pairHash = new Hasher();
  readonly #types4 = new Uint32Array(256);
  readonly #types6 = new Uint32Array(256);
  readonly #unreachable = new Tally<Unreachable>(MAX_PAIRS, () => ({ count: 0, head: undefined }));
  readonly #redirects = counting(MAX_PAIRS);
  readonly #exceeded = new Tally<{ count: number; destinations: string[] }>(MAX_PAIRS, () => ({
    count: 0,
    destinations: [],
  }));

  v4(e: Engine, b: Uint8Array, o: number, end: number, _wire: number): void {
    const type = b[o]!;
    this.#types4[type]!++;
    switch (type) {
      case 8:
        this.#request(e, b, o);
        break;
      case 0:
        this.#reply(e, b, o);
        break;
      case 3:
        this.#unreach(e, b, o, end, 4, type, b[o + 1] === 4 ? u16be(b, o + 6) : 0);
        break;
      case 5:
        this.#redirect(e, addressText([i32be(b, o + 4)], 4), quotedDestination(b, o + 8, end, 4));
        break;
      case 11:
        this.#ttl(e, quotedDestination(b, o + 8, end, 4));
        break;
      default:
    }
  }

  v6(e: Engine, b: Uint8Array, o: number, end: number, _wire: number): void {
    const type = b[o]!;
    this.#types6[type]!++;
    switch (type) {
      case 128:
        this.#request(e, b, o);
        break;
      case 129:
        this.#reply(e, b, o);
        break;
      case 1:
        this.#unreach(e, b, o, end, 6, type, 0);
        break;
      case 2:
        this.#unreach(e, b, o, end, 6, type, u32be(b, o + 4));
        break;
      case 3:
        this.#ttl(e, quotedDestination(b, o + 8, end, 6));
        break;
      case 137:
        if (o + 40 <= end) this.#redirect(e, words(b, o + 8, 6), words(b, o + 24, 6));
        break;
      default:
    }
  }

  facts(frames: number): IcmpFacts | null {
    if (frames === 0) return null;
    for (const { tag, frame } of this.#waiting?.waiting() ?? []) this.#silent(tag, frame);
    const spread = this.#rtt.spread();
    const limit = spread === null ? 0 : spread.median * 2;
    const slow = this.#slow.bounded().items.filter((item) => item.rtt_ms > limit);
    const silent = this.#pairs.filter((pair) => pair.count > 0).sort((a, b) => b.count - a.count);
    const waiting = (this.#waiting?.size ?? 0) + (this.#waiting?.dropped ?? 0);
    return {
      frames,
      echo_requests: this.#requests,
      echo_replies: this.#replies,
      echo_pairs_matched: this.#matched,
      echo_unmatched: waiting + this.#orphans,
      rtt: spread,
      anomalies: { items: slow.slice(0, LIST_BOUND), total: spread === null ? 0 : this.#rtt.above(limit) },
      unanswered: {
        total: silent.length,
        items: silent
          .slice(0, LIST_BOUND)
          .map(({ src, dst, count, frames: sample }) => ({ src, dst, count, sample_frames: sample })),
      },
      types: [...typeRows(4, this.#types4), ...typeRows(6, this.#types6)].sort((a, b) => b.count - a.count),
      unreachable: {
        total: this.#unreachable.total,
        items: this.#unreachable
          .top(LIST_BOUND, ({ value }) => value.count)
          .flatMap(({ value, frames: sample }) =>
            value.head === undefined ? [] : [{ ...value.head, count: value.count, sample_frames: sample }],
          ),
      },
      redirects: {
        total: this.#redirects.total,
        items: this.#redirects
          .top(LIST_BOUND, ({ value }) => value.count)
          .map(({ key, value, frames: sample }) => {
            const [src = '', gateway = '', target = ''] = key.split(' ');
            return { src, gateway, target, count: value.count, sample_frames: sample };
          }),
      },
      ttl_exceeded: {
        total: this.#exceeded.total,
        items: this.#exceeded
          .top(LIST_BOUND, ({ value }) => value.count)
          .map(({ key, value, frames: sample }) => ({
            src: key,
            count: value.count,
            destinations: value.destinations,
            sample_frames: sample,
          })),
      },
    };
  }

  #request(e: Engine, b: Uint8Array, o: number): void {
    this.#requests++;
    this.#key(e.src, e.dst, e.family, i32be(b, o + 4));
    this.#waiting ??= new Pending(MAX_WAITING);
    if (this.#waiting.has(this.#hash)) return;
    const lost = this.#waiting.put(this.#hash, e.time, e.frameNumber, this.#pair(e));
    if (lost >= 0) this.#silent(lost, 0);
  }

  #reply(e: Engine, b: Uint8Array, o: number): void {
    this.#replies++;
    this.#key(e.dst, e.src, e.family, i32be(b, o + 4));
    if (this.#waiting === undefined || !this.#waiting.take(this.#hash)) {
      this.#orphans++;
      return;
    }
    this.#matched++;
    const rtt = Math.max(0, e.time - this.#waiting.time) / 1e6;
    this.#rtt.add(rtt);
    if (!this.#slow.wants(rtt)) return;
    const pair = this.#pairs[this.#waiting.tag];
    this.#slow.add(rtt, {
      seq: u16be(b, o + 6),
      rtt_ms: rtt,
      frame: e.frameNumber,
      src: pair?.src ?? '',
      dst: pair?.dst ?? '',
    });
  }

  #key(from: Int32Array, to: Int32Array, family: number, idAndSequence: number): void {
    const h = this.#hash;
    h.start();
    h.add(from[0]!);
    h.add(to[0]!);
    if (family === 6)
      for (let i = 1; i < 4; i++) {
        h.add(from[i]!);
        h.add(to[i]!);
      }
    h.add(idAndSequence);
    h.finish();
  }

  #pair(e: Engine): number {
    const h = this.#pairHash;
    h.start();
    h.add(e.family);
    for (let i = 0; i < (e.family === 4 ? 1 : 4); i++) {
      h.add(e.src[i]!);
      h.add(e.dst[i]!);
    }
    h.finish();
    const known = this.#pairIndex.find(h.low, h.high);
    if (known >= 0) return known;
    if (this.#pairIndex.add(h.low, h.high) < 0) return MAX_PAIRS;
    const [src, dst] = [addressText(e.src, e.family), addressText(e.dst, e.family)];
    return this.#pairs.push({ src, dst, count: 0, frames: [] }) - 1;
  }

  #silent(tag: number, frame: number): void {
    const pair = this.#pairs[tag];
    if (pair === undefined) return;
    pair.count++;
    if (frame > 0 && pair.frames.length < 5) pair.frames.push(frame);
  }

  #unreach(
    e: Engine,
    b: Uint8Array,
    o: number,
    end: number,
    version: 4 | 6,
    type: number,
    mtu: number,
  ): void {
    const code = b[o + 1]!;
    const original = quotedPacket(b, o + 8, end, version);
    const src = addressText(e.src, e.family);
    const dst = addressText(e.dst, e.family);
    const entry = this.#unreachable.of(
      `${src} ${dst} ${type} ${code} ${original?.dst} ${original?.dst_port}`,
    );
    if (entry === undefined) return;
    entry.value.count++;
    entry.frame(e.frameNumber);
    const carriesMtu = version === 4 ? code === 4 : type === 2;
    entry.value.head ??= {
      src,
      dst,
      version,
      type,
      code,
      code_meaning: unreachableMeaning(version, type, code),
      original,
      mtu: carriesMtu ? mtu : null,
    };
  }

  #redirect(e: Engine, gateway: string, target: string): void {
    const entry = this.#redirects.of(`${addressText(e.src, e.family)} ${gateway} ${target}`);
    if (entry === undefined) return;
    entry.value.count++;
    entry.frame(e.frameNumber);
  }

  #ttl(e: Engine, destination: string): void {
    const entry = this.#exceeded.of(addressText(e.src, e.family));
    if (entry === undefined) return;
    entry.value.count++;
    entry.frame(e.frameNumber);
    const known = entry.value.destinations;
    if (known.length < 5 && destination !== '' && !known.includes(destination)) known.push(destination);
  }
}

function typeRows(version: 4 | 6, counts: Uint32Array): IcmpFacts['types'][number][] {
  const rows: IcmpFacts['types'][number][] = [];
  for (let type = 0; type < 256; type++)
    if (counts[type]! > 0)
      rows.push({ version, type, name: icmpTypeName(version, type), count: counts[type]! });
  return rows;
}

function words(b: Uint8Array, o: number, version: 4 | 6): string {
  const list: number[] = [];
  for (let i = 0; i < (version === 4 ? 1 : 4); i++) list.push(i32be(b, o + i * 4));
  return addressText(list, version);
}

function quotedDestination(b: Uint8Array, o: number, end: number, version: 4 | 6): string {
  return quotedPacket(b, o, end, version)?.dst ?? '';
}

/** The start of the packet an error quotes. */
function quotedPacket(b: Uint8Array, o: number, end: number, version: 4 | 6): IcmpUnreachable['original'] {
  const header = version === 4 ? 20 : 40;
  if (o + header > end || b[o]! >> 4 !== version) return null;
  const number = version === 4 ? b[o + 9]! : b[o + 6]!;
  const at = version === 4 ? o + ((b[o]! & 15) << 2) : o + 40;
  const ported = (number === 6 || number === 17) && at + 4 <= end;
  return {
    src: version === 4 ? words(b, o + 12, 4) : words(b, o + 8, 6),
    dst: version === 4 ? words(b, o + 16, 4) : words(b, o + 24, 6),
    protocol:
      number === 6 ? 'tcp' : number === 17 ? 'udp' : number === 1 || number === 58 ? 'icmp' : String(number),
    src_port: ported ? u16be(b, at) : 0,
    dst_port: ported ? u16be(b, at + 2) : 0,
  };
}
