/** IEEE 802.11: management and control are only counted; unprotected data frames are followed into LLC. */
import type { Engine } from '../engine.ts';
import { u16be, u16le, u32le } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { ethernet, llc, MAX_DEPTH } from './ethernet.ts';

const MANAGEMENT = 0;
const CONTROL = 1;
const DATA = 2;

/** How long a header of this kind is: a frame that ends inside it is not counted. */
function headerLength(type: number, subtype: number, control: number): number {
  const ordered = (control & 0x8000) !== 0 ? 4 : 0;
  switch (type) {
    case MANAGEMENT:
      return 24 + ordered;
    case CONTROL:
      return subtype === 12 || subtype === 13 ? 10 : 16;
    case DATA: {
      const fourAddresses = (control & 0x0300) === 0x0300 ? 6 : 0;
      return 24 + fourAddresses + ((subtype & 8) !== 0 ? 2 + ordered : 0);
    }
    default:
      return 2;
  }
}

export interface WlanOptions {
  /** The two bytes of frame control stand the other way round. */
  readonly swapped?: boolean;
  /** The driver padded the header to a multiple of four. */
  readonly padded?: boolean;
}

const PLAIN: WlanOptions = {};

export function wlan(
  e: Engine,
  b: Uint8Array,
  o: number,
  end: number,
  wire: number,
  options: WlanOptions = PLAIN,
): void {
  if (++e.depth > MAX_DEPTH || o + 2 > end) return;
  const control = options.swapped ? u16be(b, o) : u16le(b, o);
  const type = (control >> 2) & 3;
  const subtype = (control >> 4) & 0xf;
  const header = headerLength(type, subtype, control);
  if (o + header > end) return;
  e.bits |= HAS.wlan;
  // Null functions carry nothing; protected bodies cannot be read.
  if (type !== DATA || (subtype & 4) !== 0 || (control & 0x4000) !== 0) return;
  const qos = (subtype & 8) !== 0;
  const qosAt = o + ((control & 0x0300) === 0x0300 ? 30 : 24);
  const aggregate = qos && (b[qosAt]! & 0x80) !== 0;
  const body = o + (options.padded ? (header + 3) & ~3 : header);
  const sequence = u16le(b, o + 22);
  const more = (control & 0x0400) !== 0;
  if (more || (sequence & 0xf) !== 0) {
    const whole = end < wire ? undefined : e.wlanFragments.add(b, o, body, end, sequence, more);
    if (whole !== undefined) payload(e, whole, 0, whole.length, whole.length);
  } else if (aggregate) subframes(e, b, body, end, wire);
  else payload(e, b, body, end, wire);
}

/** Some drivers give IPX or bare Ethernet instead of LLC. */
function payload(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 2 > end) return;
  if (b[o] === 0xaa || b[o + 1] === 0xaa || u16be(b, o) !== 0xffff) llc(e, b, o, end, wire);
}

/** A-MSDU: frames one after another, each with addresses, length and padding. */
function subframes(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  let o = start;
  for (let i = 0; i < 64 && o + 14 <= end; i++) {
    const length = u16be(b, o + 12);
    const stop = o + 14 + length;
    llc(e, b, o + 14, Math.min(end, stop), Math.min(wire, stop));
    o = stop + ((4 - ((14 + length) & 3)) & 3);
  }
}

/** Radiotap: little-endian length at 2; a flag says whether the frame ends with its check sequence. */
export function radiotap(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end) return;
  const length = u16le(b, o + 2);
  if (length < 8) return;
  let present = u32le(b, o + 4);
  let at = o + 8;
  // Extended bitmaps only delay where the fields start.
  for (let more = present; more >>> 31 === 1 && at + 4 <= end; at += 4) more = u32le(b, at);
  present &= 3;
  if ((present & 1) !== 0) at = o + ((at - o + 7) & ~7) + 8;
  const flags = (present & 2) !== 0 && at < end && at < o + length ? b[at]! : 0;
  const fcs = (flags & 0x10) !== 0 ? 4 : 0;
  const stop = wire - fcs;
  wlan(e, b, o + length, Math.min(end, stop), stop, (flags & 0x20) !== 0 ? { padded: true } : PLAIN);
}

/** Prism II: a fixed header of 144 bytes, or the newer AVS header with its length. */
export function prism(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end) return;
  const magic = ((b[o]! << 24) | (b[o + 1]! << 16) | (b[o + 2]! << 8) | b[o + 3]!) >>> 0;
  if ((magic & 0xffff_f000) >>> 0 === 0x8021_1000) avs(e, b, o, end, wire);
  else wlan(e, b, o + 144, end, wire);
}

export function avs(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end) return;
  const length = ((b[o + 4]! << 24) | (b[o + 5]! << 16) | (b[o + 6]! << 8) | b[o + 7]!) >>> 0;
  if (length < 8 || length > 1024) return;
  wlan(e, b, o + length, end, wire);
}

/** Per-packet information: a length and the link type of what follows. */
export function ppi(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end) return;
  const length = u16le(b, o + 2);
  const link = u32le(b, o + 4);
  if (length < 8) return;
  if (link === 105) wlan(e, b, o + length, end, wire);
  else if (link === 1) ethernet(e, b, o + length, end, wire);
}
