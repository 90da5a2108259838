/**
 * The pcapng container: sections in either byte order, several interfaces, their time resolution and offset,
 * enhanced, simple and obsolete packet blocks, records that are no packets. Blocks it does not know are stepped
 * over.
 *
 * Invariants: 1. lengths are checked before they are believed; 2. a block is needed whole only as far as
 * `MAX_NEED`, the rest is skipped; 3. damage ends the reading with a problem, never with an exception.
 */
import type { CaptureProblem } from '../analysis.ts';
import { u16be, u16le, u32be, u32le } from './bytes.ts';
import { linkDescription, maxCapturedLength, pseudoHeaderLength } from './link-types.ts';
import { otherRecord } from './pcapng-records.ts';
import { type Clockwork, clockwork, MICROSECONDS, TimestampReader } from './pcapng-time.ts';
import { type CaptureParser, type ContainerFacts, type FrameSink, MAX_NEED, NO_TIME } from './sink.ts';

export const SECTION_HEADER = 0x0a0d0d0a;
const INTERFACE = 1;
const PACKET = 2;
const SIMPLE_PACKET = 3;
const ENHANCED_PACKET = 6;

const BYTE_ORDER = 0x1a2b3c4d;
/** Larger blocks are damage. */
const MAX_BLOCK = 16 * 1024 * 1024;
const MAX_INTERFACES = 65_536;

interface Interface {
  readonly link: number;
  readonly snaplen: number;
  readonly clock: Clockwork;
  readonly maxCaptured: number;
  readonly pseudo: number;
}

export class PcapngParser implements CaptureParser {
  readonly container: ContainerFacts = {
    kind: 'pcapng',
    fileType: 'Wireshark/... - pcapng',
    interfaces: 0,
    snaplen: null,
    links: [],
  };
  readonly problems: CaptureProblem[] = [];
  stopped = false;
  #sink: FrameSink;
  #little = true;
  #interfaces: Interface[] = [];
  #time = new TimestampReader();
  #skip = 0;
  #frames = 0;
  #sawSection = false;

  constructor(sink: FrameSink) {
    this.#sink = sink;
  }

  consume(b: Uint8Array, start: number, end: number, _last: boolean): number {
    let o = start;
    while (!this.stopped) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, end - o);
        this.#skip -= step;
        o += step;
        if (this.#skip > 0) return o;
      }
      if (end - o < 12) return o;
      let type = this.#little ? u32le(b, o) : u32be(b, o);
      if (type === SECTION_HEADER) {
        // Only the magic inside says how to read the length before it.
        if (u32le(b, o + 8) === BYTE_ORDER) this.#little = true;
        else if (u32be(b, o + 8) === BYTE_ORDER) this.#little = false;
        else return this.#stop(o, 'corrupt', 'a section header has no byte-order magic');
      } else if (!this.#sawSection)
        return this.#stop(o, 'corrupt', 'a block comes before any section header');
      type = this.#little ? u32le(b, o) : u32be(b, o);
      const claimed = this.#little ? u32le(b, o + 4) : u32be(b, o + 4);
      // Old writers left out the padding; the block is padded all the same.
      const total = claimed + ((4 - (claimed & 3)) & 3);
      if (total < 12)
        return this.#stop(o, 'corrupt', `a block claims ${claimed} bytes, less than its own header`);
      if (total > MAX_BLOCK)
        return this.#stop(o, 'corrupt', `a block claims ${claimed} bytes, more than ${MAX_BLOCK}`);
      const needed = Math.min(total, MAX_NEED);
      if (end - o < needed) return o;
      if (needed === total && (this.#little ? u32le(b, o + total - 4) : u32be(b, o + total - 4)) !== claimed)
        return this.#stop(o, 'corrupt', 'a block ends with another length than it began with');
      const problem = this.#block(type, b, o, needed, total, claimed);
      if (problem !== undefined) return this.#stop(o, 'corrupt', problem);
      o += needed;
      this.#skip = total - needed;
    }
    return o;
  }

  finish(left: number): void {
    if (!this.stopped && (left > 0 || this.#skip > 0))
      this.#stop(0, 'cut_short', 'the file ends in the middle of a block');
  }

  /** Answers what is wrong with the block, or nothing. */
  #block(
    type: number,
    b: Uint8Array,
    o: number,
    visible: number,
    total: number,
    claimed: number,
  ): string | undefined {
    switch (type) {
      case ENHANCED_PACKET:
        return this.#enhanced(b, o, visible, total);
      case INTERFACE:
        return this.#interface(b, o, visible, total);
      case SECTION_HEADER:
        return this.#section(b, o, total);
      case PACKET:
        return this.#obsolete(b, o, visible, total);
      case SIMPLE_PACKET:
        return this.#simple(b, o, visible, total);
      default:
        return this.#other(type, b, o, visible, claimed);
    }
  }

  #section(b: Uint8Array, o: number, total: number): string | undefined {
    if (total < 28) return `a section header of ${total} bytes is too short`;
    const major = this.#u16(b, o + 12);
    const minor = this.#u16(b, o + 14);
    if (major !== 1 || (minor !== 0 && minor !== 2))
      return `pcapng version ${major}.${minor} is not supported`;
    this.#sawSection = true;
    this.#interfaces = [];
    return undefined;
  }

  #interface(b: Uint8Array, o: number, visible: number, total: number): string | undefined {
    if (total < 20) return `an interface description of ${total} bytes is too short`;
    if (this.#interfaces.length >= MAX_INTERFACES) return 'too many interfaces';
    const link = this.#u16(b, o + 8);
    const snaplen = this.#u32(b, o + 12);
    let resolution = 6;
    let offset = 0;
    let at = o + 16;
    const limit = o + visible - (visible === total ? 4 : 0);
    while (at + 4 <= limit) {
      const code = this.#u16(b, at);
      const length = this.#u16(b, at + 2);
      if (code === 0) break;
      if (at + 4 + length > limit) return `an option of ${length} bytes does not fit into its block`;
      if (code === 9 && length >= 1) resolution = b[at + 4]!;
      if (code === 14 && length >= 8) offset = this.#i64(b, at + 4);
      at += 4 + length + ((4 - (length & 3)) & 3);
    }
    const clock = resolution === 6 && offset === 0 ? MICROSECONDS : clockwork(resolution, offset);
    if (clock === undefined) return `an interface has a clock of resolution ${resolution}`;
    this.#interfaces.push({
      link,
      snaplen,
      clock,
      maxCaptured: maxCapturedLength(link),
      pseudo: pseudoHeaderLength(link),
    });
    this.container.interfaces++;
    this.container.snaplen ??= snaplen;
    if (this.container.links.length < 1024 && !this.container.links.includes(link)) {
      this.container.links.push(link);
      if (linkDescription(link) === undefined) {
        const message = `link type ${link} is not known: its frames are counted, not decoded`;
        this.problems.push({ kind: 'unsupported', message, after_frame: this.#frames });
      }
    }
    return undefined;
  }

  #enhanced(b: Uint8Array, o: number, visible: number, total: number): string | undefined {
    if (total < 32) return `a packet block of ${total} bytes is too short`;
    const id = this.#u32(b, o + 8);
    return this.#packet(id, b, o, 28, visible, total);
  }

  #obsolete(b: Uint8Array, o: number, visible: number, total: number): string | undefined {
    if (total < 32) return `a packet block of ${total} bytes is too short`;
    const id = this.#u16(b, o + 8);
    return this.#packet(id, b, o, 28, visible, total);
  }

  #packet(
    id: number,
    b: Uint8Array,
    o: number,
    header: number,
    visible: number,
    total: number,
  ): string | undefined {
    const from = this.#interfaces[id];
    if (from === undefined)
      return `a packet names interface ${id}, the section has ${this.#interfaces.length}`;
    const captured = this.#u32(b, o + 20);
    const length = this.#u32(b, o + 24);
    if (captured > from.maxCaptured)
      return `a packet claims ${captured} bytes, more than ${from.maxCaptured}`;
    if (header + captured > total - 4) return `a packet claims ${captured} bytes, more than its block holds`;
    this.#time.read(b, o + 12, this.#little, from.clock);
    const shown = Math.min(captured, visible - header);
    this.#hand(from, b, o + header, shown, length, this.#time.seconds, this.#time.nanoseconds);
    return undefined;
  }

  #simple(b: Uint8Array, o: number, visible: number, total: number): string | undefined {
    if (total < 16) return `a simple packet block of ${total} bytes is too short`;
    const from = this.#interfaces[0];
    if (from === undefined) return 'a simple packet comes before any interface';
    const length = this.#u32(b, o + 8);
    const captured = from.snaplen === 0 ? length : Math.min(length, from.snaplen);
    if (captured > from.maxCaptured)
      return `a packet claims ${captured} bytes, more than ${from.maxCaptured}`;
    if (12 + captured > total - 4) return `a packet claims ${captured} bytes, more than its block holds`;
    // Nothing but padding may stand between the packet and the length that ends the block.
    if (16 + captured + ((4 - (captured & 3)) & 3) !== total)
      return `a simple packet of ${captured} bytes is in a block of ${total}`;
    this.#hand(from, b, o + 12, Math.min(captured, visible - 12), length, NO_TIME, 0);
    return undefined;
  }

  #hand(
    from: Interface,
    b: Uint8Array,
    o: number,
    captured: number,
    length: number,
    seconds: number,
    nanoseconds: number,
  ): void {
    this.#frames++;
    const pseudo = Math.min(from.pseudo, captured);
    this.#sink.frame(b, o + pseudo, captured - pseudo, length - pseudo, seconds, nanoseconds, from.link);
  }

  #other(type: number, b: Uint8Array, o: number, visible: number, claimed: number): string | undefined {
    const block = { type, bytes: b, start: o, visible, claimed, little: this.#little };
    const outcome = otherRecord(block, this.#sink);
    if (typeof outcome === 'string') return outcome;
    if (outcome) this.#frames++;
    return undefined;
  }

  #u16(b: Uint8Array, o: number): number {
    return this.#little ? u16le(b, o) : u16be(b, o);
  }

  #u32(b: Uint8Array, o: number): number {
    return this.#little ? u32le(b, o) : u32be(b, o);
  }

  #i64(b: Uint8Array, o: number): number {
    const high = this.#u32(b, this.#little ? o + 4 : o) | 0;
    const low = this.#u32(b, this.#little ? o : o + 4);
    return high * 4_294_967_296 + low;
  }

  #stop(o: number, kind: CaptureProblem['kind'], message: string): number {
    this.stopped = true;
    this.problems.push({ kind, message, after_frame: this.#frames });
    return o;
  }
}
