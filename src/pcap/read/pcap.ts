/**
 * The classic pcap container: both byte orders, micro- and nanoseconds, the patched variant with longer record
 * headers, old versions with swapped lengths.
 *
 * Invariants: 1. a record that claims more than its link type allows ends the file as corrupt; 2. a record that
 * goes past the end of the file ends it as cut short; 3. neither allocates.
 */
import type { CaptureProblem } from '../analysis.ts';
import { u16be, u16le, u32be, u32le } from './bytes.ts';
import { linkDescription, maxCapturedLength, pseudoHeaderLength } from './link-types.ts';
import { type CaptureParser, type ContainerFacts, type FrameSink, MAX_NEED } from './sink.ts';

const MAGIC_MICRO = 0xa1b2c3d4;
const MAGIC_NANO = 0xa1b23c4d;
const MAGIC_PATCHED = 0xa1b2cd34;

export interface PcapHeader {
  readonly little: boolean;
  readonly nano: boolean;
  readonly patched: boolean;
}

/** Recognises a pcap file by its first four bytes. */
export function pcapMagic(bytes: Uint8Array, start: number): PcapHeader | undefined {
  const big = u32be(bytes, start);
  const little = u32le(bytes, start);
  for (const magic of [MAGIC_MICRO, MAGIC_NANO, MAGIC_PATCHED]) {
    if (big === magic || little === magic)
      return { little: little === magic, nano: magic === MAGIC_NANO, patched: magic === MAGIC_PATCHED };
  }
  return undefined;
}

const FILE_HEADER = 24;

export class PcapParser implements CaptureParser {
  readonly container: ContainerFacts;
  readonly problems: CaptureProblem[] = [];
  stopped = false;
  #sink: FrameSink;
  #little: boolean;
  #nano: boolean;
  #recordHeader: number;
  #link = 0;
  #maxCaptured = 0;
  /** 0 as written, 1 always swapped, 2 swapped when the order is impossible otherwise. */
  #swapped = 0;
  #started = false;
  #skip = 0;
  #pseudo = 0;
  #frames = 0;

  constructor(header: PcapHeader, sink: FrameSink) {
    this.#sink = sink;
    this.#little = header.little;
    this.#nano = header.nano;
    this.#recordHeader = header.patched ? 24 : 16;
    this.container = {
      kind: 'pcap',
      fileType: header.nano
        ? 'Wireshark/tcpdump/... - nanosecond pcap'
        : header.patched
          ? 'Modified tcpdump - pcap'
          : 'Wireshark/tcpdump/... - pcap',
      interfaces: 1,
      snaplen: null,
      links: [],
    };
  }

  consume(b: Uint8Array, start: number, end: number): number {
    let o = start;
    if (!this.#started) {
      if (end - o < FILE_HEADER) return o;
      this.#fileHeader(b, o);
      o += FILE_HEADER;
    }
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
        this.#stop(
          'corrupt',
          `record claims ${captured} bytes, more than the ${this.#maxCaptured} a record can have`,
        );
        return o;
      }
      const visible = captured > MAX_NEED - 64 ? MAX_NEED - 64 : captured;
      if (end - o < headerSize + visible) return o;
      const seconds = little ? u32le(b, o) : u32be(b, o);
      const fraction = little ? u32le(b, o + 4) : u32be(b, o + 4);
      if (captured < pseudo) {
        this.#stop('corrupt', `a record of ${captured} bytes is too short for its link type`);
        return o;
      }
      this.#frames++;
      const data = o + headerSize + pseudo;
      sink.frame(
        b,
        data,
        visible - pseudo,
        length - pseudo,
        seconds,
        nano ? fraction : fraction * 1000,
        link,
      );
      o += headerSize + visible;
      this.#skip = captured - visible;
    }
    return o;
  }

  finish(left: number): void {
    if (this.stopped) return;
    if (!this.#started) this.#stop('cut_short', 'the file ends inside its header');
    else if (left > 0 || this.#skip > 0) this.#stop('cut_short', 'the file ends in the middle of a packet');
  }

  #fileHeader(b: Uint8Array, o: number): void {
    this.#started = true;
    const u16 = this.#little ? u16le : u16be;
    const u32 = this.#little ? u32le : u32be;
    const major = u16(b, o + 4);
    const minor = u16(b, o + 6);
    this.container.snaplen = u32(b, o + 16);
    // The upper bits say how long a frame check sequence is; the type itself is below them.
    this.#link = u32(b, o + 20) & 0x03ff_ffff;
    this.container.links.push(this.#link);
    this.#maxCaptured = maxCapturedLength(this.#link);
    this.#pseudo = pseudoHeaderLength(this.#link);
    if (major === 2 && minor < 3) this.#swapped = 1;
    else if ((major === 2 && minor === 3) || major === 543) this.#swapped = 2;
    if (major < 2) this.#stop('unsupported', `pcap version ${major}.${minor} is not supported`);
    else if (linkDescription(this.#link) === undefined) {
      const message = `link type ${this.#link} is not known: frames are counted, not decoded`;
      this.problems.push({ kind: 'unsupported', message, after_frame: 0 });
    }
  }

  #stop(kind: CaptureProblem['kind'], message: string): void {
    this.stopped = true;
    this.problems.push({ kind, message, after_frame: this.#frames });
  }
}
