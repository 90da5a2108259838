/**
 * Classic pcap, little-endian, Ethernet. Frames are written straight into the file's own buffer: `reserve`
 * room, build the frame there, then `commit` it, so that a packet is never copied.
 */
const FILE_HEADER_BYTES = 24;
const RECORD_HEADER_BYTES = 16;
const LINKTYPE_ETHERNET = 1;
/** What tcpdump writes as "no limit". */
export const WHOLE_PACKET = 262_144;

export interface PcapOptions {
  readonly resolution: 'us' | 'ns';
  /** Bytes kept of each packet. */
  readonly snaplen: number;
}

export class PcapWriter {
  packets = 0;
  #buffer: Uint8Array<ArrayBuffer>;
  #view: DataView;
  #end = FILE_HEADER_BYTES;
  readonly #snaplen: number;
  readonly #perSecond: number;

  constructor(options: PcapOptions) {
    this.#buffer = new Uint8Array(1 << 20);
    this.#view = new DataView(this.#buffer.buffer);
    this.#snaplen = options.snaplen;
    this.#perSecond = options.resolution === 'us' ? 1e6 : 1e9;
    this.#view.setUint32(0, options.resolution === 'us' ? 0xa1b2c3d4 : 0xa1b23c4d, true);
    this.#view.setUint16(4, 2, true);
    this.#view.setUint16(6, 4, true);
    this.#view.setUint32(16, options.snaplen, true);
    this.#view.setUint32(20, LINKTYPE_ETHERNET, true);
  }

  get bytes(): number {
    return this.#end;
  }

  /** Makes room for a frame of up to `bytes` and returns the buffer and where the frame begins in it. */
  reserve(bytes: number): { readonly buffer: Uint8Array; readonly at: number } {
    const at = this.#end + RECORD_HEADER_BYTES;
    if (at + bytes > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(this.#buffer.length * 2, at + bytes));
      grown.set(this.#buffer.subarray(0, this.#end));
      this.#buffer = grown;
      this.#view = new DataView(grown.buffer);
    }
    return { buffer: this.#buffer, at };
  }

  /** Time is split, because nanoseconds since 1970 do not fit a double. */
  commit(wholeSeconds: number, fraction: number, frameBytes: number): void {
    const kept = Math.min(frameBytes, this.#snaplen);
    const ticks = Math.min(Math.floor(fraction * this.#perSecond), this.#perSecond - 1);
    this.#view.setUint32(this.#end, wholeSeconds, true);
    this.#view.setUint32(this.#end + 4, ticks, true);
    this.#view.setUint32(this.#end + 8, kept, true);
    this.#view.setUint32(this.#end + 12, frameBytes, true);
    this.#end += RECORD_HEADER_BYTES + kept;
    this.packets += 1;
  }

  finish(): Uint8Array {
    return this.#buffer.subarray(0, this.#end);
  }
}
