/**
 * The classic pcap container: both byte orders, micro- and nanoseconds, the variants with longer record headers,
 * old versions with swapped lengths.
 *
 * Invariants: 1. a record that claims more than its link type allows ends the file as corrupt; 2. a record that
 * goes past the end of the file ends it as cut short; 3. neither allocates.
 */
import type { CaptureProblem } from '../analysis.ts';
import { u16be, u16le, u32be, u32le } from './bytes.ts';
import { linkDescription, maxCapturedLength, pseudoHeaderLength } from './link-types.ts';
import { GUESS_BYTES, guessLayout, PATCHED_LAYOUTS, STANDARD_LAYOUTS } from './pcap-variant.ts';
import { type CaptureParser, type ContainerFacts, type FrameSink, MAX_NEED } from './sink.ts';

const MAGIC_MICRO = 0xa1b2c3d4;
const MAGIC_NANO = 0xa1b23c4d;
const MAGIC_PATCHED = 0xa1b2cd34;
const MAGIC_IXIA_HARDWARE = 0x1c0001ac;
const MAGIC_IXIA_SOFTWARE = 0x1c0001ab;

export interface PcapHeader {
  readonly little: boolean;
  readonly magic: number;
}

/** Recognises a pcap file by its first four bytes. */
export function pcapMagic(bytes: Uint8Array, start: number): PcapHeader | undefined {
  const big = u32be(bytes, start);
  const little = u32le(bytes, start);
  for (const magic of [MAGIC_MICRO, MAGIC_NANO, MAGIC_PATCHED, MAGIC_IXIA_HARDWARE, MAGIC_IXIA_SOFTWARE])
    if (big === magic || little === magic) return { little: little === magic, magic };
  return undefined;
}

/** AIX wrote interface types of the management world where others write link types. */
const AIX_LINKS: ReadonlyMap<number, number> = new Map([
  [6, 1],
  [9, 6],
  [15, 10],
  [24, 0],
]);
/** And three bytes before FDDI frames. */
const AIX_FDDI_PADDING = 3;
const FDDI = 10;

export class PcapParser implements CaptureParser {
  readonly container: ContainerFacts;
  readonly problems: CaptureProblem[] = [];
  stopped = false;
  #sink: FrameSink;
  readonly #magic: number;
  readonly #little: boolean;
  #nano: boolean;
  /** 0 until it is known which layout the records have. */
  #recordHeader = 0;
  #link = 0;
  #maxCaptured = 0;
  #swapped: 0 | 1 | 2 = 0;
  #started = false;
  #skip = 0;
  #pseudo = 0;
  #frames = 0;

  constructor(header: PcapHeader, sink: FrameSink) {
    this.#sink = sink;
    this.#little = header.little;
    this.#magic = header.magic;
    this.#nano = header.magic === MAGIC_NANO;
    this.container = { kind: 'pcap', fileType: '', interfaces: 1, snaplen: null, links: [] };
  }

  consume(b: Uint8Array, start: number, end: number, last: boolean): number {
    let o = start;
    if (!this.#started) {
      const size = this.#magic === MAGIC_IXIA_HARDWARE || this.#magic === MAGIC_IXIA_SOFTWARE ? 28 : 24;
      if (end - o < size) return o;
      this.#fileHeader(b, o);
      o += size;
    }
    if (this.#recordHeader === 0) {
      if (!last && end - o < GUESS_BYTES) return o;
      this.#layout(b, o, end);
    }
    return this.#records(b, o, end);
  }

  finish(left: number): void {
    if (this.stopped) return;
    if (!this.#started) this.#stop('cut_short', 'the file ends inside its header');
    else if (left > 0 || this.#skip > 0) this.#stop('cut_short', 'the file ends in the middle of a packet');
  }

  #records(b: Uint8Array, start: number, end: number): number {
    let o = start;
    const headerSize = this.#recordHeader;
    const little = this.#little;
    const nano = this.#nano;
    const sink = this.#sink;
    const link = this.#link;
    const pseudo = this.#pseudo;
    while (!this.stopped) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, end - o);
        this.#skip -= step;
        o += step;
        if (this.#skip > 0) return o;
      }
      if (end - o < headerSize) return o;
      let captured = little ? u32le(b, o + 8) : u32be(b, o + 8);
      let length = little ? u32le(b, o + 12) : u32be(b, o + 12);
      if (this.#swapped !== 0 && (this.#swapped === 1 || captured > length)) {
        const other = captured;
        captured = length;
        length = other;
      }
      if (captured > this.#maxCaptured) {
        const most = this.#maxCaptured;
        this.#stop('corrupt', `record claims ${captured} bytes, more than the ${most} a record can have`);
        return o;
      }
      const visible = captured > MAX_NEED - 64 ? MAX_NEED - 64 : captured;
      if (end - o < headerSize + visible) return o;
      if (captured < pseudo) {
        this.#stop('corrupt', `a record of ${captured} bytes is too short for its link type`);
        return o;
      }
      const seconds = little ? u32le(b, o) : u32be(b, o);
      const fraction = little ? u32le(b, o + 4) : u32be(b, o + 4);
      this.#frames++;
      const data = o + headerSize + pseudo;
      // 32 bits: a fraction that is none overflows here as it does in the reference.
      const nanoseconds = nano ? fraction | 0 : Math.imul(fraction, 1000);
      sink.frame(b, data, visible - pseudo, length - pseudo, seconds, nanoseconds, link);
      o += headerSize + visible;
      this.#skip = captured - visible;
    }
    return o;
  }

  #fileHeader(b: Uint8Array, o: number): void {
    this.#started = true;
    const u16 = this.#little ? u16le : u16be;
    const u32 = this.#little ? u32le : u32be;
    const major = u16(b, o + 4);
    const minor = u16(b, o + 6);
    const network = u32(b, o + 20);
    this.container.snaplen = u32(b, o + 16);
    // The upper bits say how long a frame check sequence is; the type itself is below them.
    this.#link = network & 0xffff;
    if (major === 2 && minor < 3) this.#swapped = 1;
    else if (major === 2 && minor === 3) this.#swapped = 2;
    else if (major === 543) this.#swapped = 1;
    const aix =
      this.#magic === MAGIC_MICRO && major === 2 && minor === 2 ? AIX_LINKS.get(network) : undefined;
    if (aix !== undefined) this.#link = aix;
    this.container.links.push(this.#link);
    this.#maxCaptured = maxCapturedLength(this.#link);
    this.#pseudo = pseudoHeaderLength(this.#link);
    if (aix !== undefined) {
      this.#recordHeader = 16;
      this.#nano = true;
      this.container.fileType = 'AIX tcpdump - pcap';
      if (aix === FDDI) this.#pseudo = AIX_FDDI_PADDING;
    }
    if (major < 2) this.#stop('unsupported', `pcap version ${major}.${minor} is not supported`);
    else if ((network & 0x03ff_0000) !== 0)
      this.#stop('unsupported', `link type ${network} has reserved bits set`);
    else if (linkDescription(this.#link) === undefined) {
      const message = `link type ${this.#link} is not known: frames are counted, not decoded`;
      this.problems.push({ kind: 'unsupported', message, after_frame: 0 });
    }
  }

  #layout(b: Uint8Array, o: number, end: number): void {
    const layouts =
      this.#magic === MAGIC_MICRO
        ? STANDARD_LAYOUTS
        : this.#magic === MAGIC_PATCHED
          ? PATCHED_LAYOUTS
          : undefined;
    if (layouts === undefined) {
      this.#recordHeader = 16;
      this.container.fileType = this.#nano
        ? 'Wireshark/tcpdump/... - nanosecond pcap'
        : (STANDARD_LAYOUTS[0]?.fileType ?? '');
      return;
    }
    const layout = guessLayout(layouts, b, o, end, {
      little: this.#little,
      swapped: this.#swapped,
      snaplen: this.container.snaplen ?? 0,
      maxCaptured: this.#maxCaptured,
    });
    this.#recordHeader = layout.header;
    this.container.fileType = layout.fileType;
  }

  #stop(kind: CaptureProblem['kind'], message: string): void {
    this.stopped = true;
    this.problems.push({ kind, message, after_frame: this.#frames });
  }
}
