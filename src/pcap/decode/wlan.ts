/** IEEE 802.11: management and control are only counted; unprotected data frames are followed into LLC. */
import type { Engine } from '../engine.ts';
import { u16be, u16le, u32be, u32le } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { ethernet, llc, MAX_DEPTH } from './ethernet.ts';

const CONTROL = 1;
const DATA = 2;

const CONTROL_WRAPPER = 7;
const DATA_QOS = 8;

/** How much must be there for a frame of this kind to count: what its kind is told by. */
function leastBytes(type: number, subtype: number, control: number): number {
  if (type === CONTROL && subtype === CONTROL_WRAPPER) return 12;
  if (type === DATA && (subtype & DATA_QOS) !== 0) return (control & 0x0300) === 0x0300 ? 32 : 26;
  return 2;
}

/** How long the header of a data frame is. */
function dataHeader(subtype: number, control: number): number {
  const fourAddresses = (control & 0x0300) === 0x0300 ? 6 : 0;
  if ((subtype & DATA_QOS) === 0) return 24 + fourAddresses;
  const ordered = (control & 0x8000) !== 0 ? 4 : 0;
  return 26 + fourAddresses + ordered;
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
  // Only version 0 has the layouts below; others are counted.
  const version = control & 3;
  if (version === 0 && o + leastBytes(type, subtype, control) > end) return;
  e.bits |= HAS.wlan;
  // Null functions carry nothing; protected bodies cannot be read.
  if (version !== 0 || type !== DATA || (subtype & 4) !== 0 || (control & 0x4000) !== 0) return;
  const header = dataHeader(subtype, control);
  if (o + header > end) return;
  const qos = (subtype & DATA_QOS) !== 0;
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

const AVS_MAGIC: ReadonlySet<number> = new Set([0x8021_1001, 0x8021_1002]);
const PRISM_MESSAGES: ReadonlySet<number> = new Set([0x41, 0x44]);

/** Prism II: a fixed header of 144 bytes, the newer AVS header with its length, or neither. */
export function prism(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end) return;
  const big = u32be(b, o);
  if (AVS_MAGIC.has(big)) avs(e, b, o, end, wire);
  else if (PRISM_MESSAGES.has(big) || PRISM_MESSAGES.has(u32le(b, o))) wlan(e, b, o + 144, end, wire);
  else wlan(e, b, o, end, wire);
}

export function avs(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end) return;
  const length = u32be(b, o + 4);
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
