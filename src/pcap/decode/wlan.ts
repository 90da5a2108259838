/** IEEE 802.11: management and control are only counted; unprotected data frames are followed into LLC. */
import type { Engine } from '../engine.ts';
import { u16be, u16le, u32le } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { ethernet, llc, MAX_DEPTH } from './ethernet.ts';

export function wlan(e: Engine, b: Uint8Array, o: number, end: number, wire: number, swapped = false): void {
  if (++e.depth > MAX_DEPTH) return;
  if (o + 2 > end) return;
  e.bits |= HAS.wlan;
  const control = swapped ? u16be(b, o) : u16le(b, o);
  const type = (control >> 2) & 3;
  const subtype = (control >> 4) & 0xf;
  if (type !== 2) return;
  const toDs = (control & 0x0100) !== 0;
  const fromDs = (control & 0x0200) !== 0;
  const moreFragments = (control & 0x0400) !== 0;
  const isProtected = (control & 0x4000) !== 0;
  const ordered = (control & 0x8000) !== 0;
  const qos = (subtype & 8) !== 0;
  let header = toDs && fromDs ? 30 : 24;
  let aggregate = false;
  if (qos) {
    if (o + header + 2 <= end) aggregate = (b[o + header]! & 0x80) !== 0;
    header += 2;
    if (ordered) header += 4;
  }
  // Null functions carry nothing; protected bodies cannot be read; fragments are not put together.
  if ((subtype & 4) !== 0 || isProtected || o + header > end) return;
  const fragment = o + 24 <= end ? u16le(b, o + 22) & 0xf : 0;
  if (moreFragments || fragment !== 0) return;
  if (aggregate) subframes(e, b, o + header, end, wire);
  else payload(e, b, o + header, end, wire);
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
  let fcs = 0;
  let present = u32le(b, o + 4);
  let at = o + 8;
  // Extended bitmaps only delay where the fields start.
  for (let more = present; more >>> 31 === 1 && at + 4 <= end; at += 4) more = u32le(b, at);
  present &= 3;
  if ((present & 1) !== 0) at = o + ((at - o + 7) & ~7) + 8;
  if ((present & 2) !== 0 && at < end && at < o + length && (b[at]! & 0x10) !== 0) fcs = 4;
  wlan(e, b, o + length, Math.min(end, wire - fcs), wire - fcs);
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
