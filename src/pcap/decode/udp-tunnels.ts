/** Tunnels over UDP. Each notes itself and hands on what it carries. */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { ethernet, ethertype, MAX_DEPTH } from './ethernet.ts';
import { gre } from './gre.ts';
import { ip, ipv4, ipv6 } from './ip.ts';
import { ipProtocol } from './ip-protocol.ts';
import { nsh, ppp } from './link-tunnels.ts';
import { mpls } from './mpls.ts';
import { avs, prism, wlan } from './wlan.ts';

export function vxlan(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  e.bits |= HAS.vxlan | HAS.tunnel;
  if (o + 8 <= end) ethernet(e, b, o + 8, end, wire);
}

/** VXLAN that says what it carries. */
export function vxlanGpe(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  e.bits |= HAS.vxlan | HAS.tunnel;
  if (o + 8 > end) return;
  switch (b[o + 3]) {
    case 1:
      ip(e, b, o + 8, end, wire);
      break;
    case 2:
      ipv6(e, b, o + 8, end, wire, false);
      break;
    case 3:
      ethernet(e, b, o + 8, end, wire);
      break;
    case 4:
      nsh(e, b, o + 8, end, wire);
      break;
    case 5:
      mpls(e, b, o + 8, end, wire);
      break;
    default:
  }
}

export function geneve(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  e.bits |= HAS.geneve | HAS.tunnel;
  if (o + 8 > end) return;
  const options = (b[o]! & 0x3f) << 2;
  if (b[o]! >> 6 !== 0) return;
  ethertype(e, b, o + 8 + options, end, wire, u16be(b, o + 2));
}

/** GTP version 1, user plane: only T-PDUs carry packets. */
export function gtp(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (start + 8 > end || ++e.depth > MAX_DEPTH) return;
  const flags = b[start]!;
  if (flags >> 5 !== 1 || b[start + 1] !== 255) return;
  e.note('gtp-u');
  const stop = Math.min(wire, start + 8 + u16be(b, start + 2));
  let o = start + 8;
  if ((flags & 7) !== 0) {
    o += 4;
    if (o > end) return;
    let next = (flags & 4) !== 0 ? b[o - 1]! : 0;
    while (next !== 0) {
      if (o >= end) return;
      const length = b[o]! << 2;
      if (length === 0 || o + length > end) return;
      next = b[o + length - 1]!;
      o += length;
    }
  }
  anyIp(e, b, o, Math.min(end, stop), stop);
}

function anyIp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o >= end) return;
  if (b[o]! >> 4 === 4) ipv4(e, b, o, end, wire);
  else if (b[o]! >> 4 === 6) ipv6(e, b, o, end, wire, false);
}

/** Teredo: authentication and origin may stand before the IPv6 packet. */
export function teredo(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (++e.depth > MAX_DEPTH) return;
  let o = start;
  if (o + 2 > end) return;
  if (u16be(b, o) === 1) {
    if (o + 4 > end) return;
    o += 13 + b[o + 2]! + b[o + 3]!;
    if (o + 2 > end) return;
  }
  if (u16be(b, o) === 0) o += 8;
  if (o >= end) return;
  e.note('teredo');
  ipv6(e, b, o, end, wire, false);
}

/** LISP data: eight bytes, then a packet. */
export function lisp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end || ++e.depth > MAX_DEPTH) return;
  e.note('lisp');
  anyIp(e, b, o + 8, end, wire);
}

export function greInUdp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  gre(e, b, o, end, wire);
}

export function mplsInUdp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  mpls(e, b, o, end, wire);
}

/** AYIYA: identity and signature of variable length, then the next protocol. */
export function ayiya(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end || ++e.depth > MAX_DEPTH) return;
  const identity = 1 << (b[o]! >> 4);
  const signature = (b[o + 1]! >> 4) << 2;
  const operation = b[o + 2]! & 0x0f;
  if (operation !== 1) return;
  e.note('ayiya');
  const next = o + 8 + identity + signature;
  if (next <= end) ipProtocol(e, b, next, end, wire, b[o + 3]!);
}

/** L2TP version 2 data messages carry PPP. */
export function l2tp(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (start + 6 > end || ++e.depth > MAX_DEPTH) return;
  const flags = u16be(b, start);
  if ((flags & 0x8000) !== 0 || (flags & 0x000f) !== 2) return;
  let o = start + 2;
  if ((flags & 0x4000) !== 0) o += 2;
  o += 4;
  if ((flags & 0x0800) !== 0) o += 4;
  if ((flags & 0x0200) !== 0) {
    if (o + 2 > end) return;
    o += 2 + u16be(b, o);
  }
  e.note('l2tp');
  if (o < end) ppp(e, b, o, end, wire);
}

/** What follows a CAPWAP preamble of this type is encrypted. */
const DTLS = 1;

/** CAPWAP data: wireless frames as they are (with the frame control bytes swapped), or 802.3. */
export function capwapData(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end || (b[o]! & 0x0f) === DTLS || ++e.depth > MAX_DEPTH) return;
  const header = (b[o + 1]! >> 3) << 2;
  const wireless = (b[o + 2]! & 1) !== 0;
  const fragment = (b[o + 3]! & 0x80) !== 0;
  const keepAlive = (b[o + 3]! & 0x08) !== 0;
  if (header < 8 || fragment || keepAlive) return;
  e.note('capwap');
  if (wireless) wlan(e, b, o + header, end, wire, { swapped: true });
  else ethernet(e, b, o + header, end, wire);
}

/** TaZmen Sniffer Protocol: tagged fields, then the frame. */
export function tzsp(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (start + 5 > end || ++e.depth > MAX_DEPTH) return;
  const link = u16be(b, start + 2);
  let o = start + 4;
  for (;;) {
    if (o >= end) return;
    const tag = b[o++]!;
    if (tag === 1) break;
    if (tag === 0) continue;
    if (o >= end) return;
    o += 1 + b[o]!;
  }
  e.note('tzsp');
  if (link === 1) ethernet(e, b, o, end, wire);
  else if (link === 18) wlan(e, b, o, end, wire);
  else if (link === 119) prism(e, b, o, end, wire);
  else if (link === 127) avs(e, b, o, end, wire);
}
