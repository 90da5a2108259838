/** Encapsulations between link and network layer: PPP, provider bridges, tags, meshes. */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { ethernet, ethertype, llc, MAX_DEPTH } from './ethernet.ts';
import { ip, ipv6 } from './ip.ts';
import { mpls } from './mpls.ts';

/** PPP, with or without address and control, with a protocol of one or two bytes. */
export function ppp(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (++e.depth > MAX_DEPTH || start >= end) return;
  let o = start;
  if (b[o] === 0xff) o += 2;
  pppProtocol(e, b, o, end, wire);
}

export function pppProtocol(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  let o = start;
  if (o >= end) return;
  let protocol = b[o]!;
  // An odd first byte is a compressed protocol field.
  if ((protocol & 1) !== 0) o += 1;
  else {
    if (o + 2 > end) return;
    protocol = u16be(b, o);
    o += 2;
  }
  switch (protocol) {
    case 0x0021:
    case 0x0800:
      ip(e, b, o, end, wire);
      return;
    case 0x0057:
    case 0x86dd:
      ipv6(e, b, o, end, wire, false);
      return;
    case 0x0281:
    case 0x0283:
      mpls(e, b, o, end, wire);
      return;
    case 0x004b:
      llc(e, b, o, end, wire);
      return;
    case 0x0031: // bridged frames
      bridged(e, b, o, end, wire);
      return;
    case 0x003d: // multilink: only a fragment that is both first and last is whole
      if (o + 4 <= end && (b[o]! & 0xc0) === 0xc0) pppProtocol(e, b, o + 4, end, wire);
      return;
    default:
      return;
  }
}

function bridged(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 2 > end) return;
  const padding = b[o]! & 0x0f;
  const hasLan = (b[o]! & 0x40) !== 0;
  if (b[o + 1] === 1) ethernet(e, b, o + 2 + (hasLan ? 4 : 0), end, wire - padding);
}

export function pppoeSession(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 6 > end || ++e.depth > MAX_DEPTH) return;
  const length = u16be(b, o + 4);
  const stop = Math.min(wire, o + 6 + length);
  pppProtocol(e, b, o + 6, Math.min(end, stop), stop);
}

/** 802.1ah: an instance tag, then the customer's whole frame. */
export function providerBackbone(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 18 > end) return;
  typeOrLength(e, b, o + 18, end, wire, u16be(b, o + 16));
}

/** Tags of fixed length in front of another type. */
export function vntag(e: Engine, b: Uint8Array, o: number, end: number, wire: number, length: number): void {
  if (o + length + 2 > end || ++e.depth > MAX_DEPTH) return;
  typeOrLength(e, b, o + length + 2, end, wire, u16be(b, o + length));
}

/** 802.1CB: frames that are sent twice carry a number, then their type. */
export function sequenced(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 6 > end || ++e.depth > MAX_DEPTH) return;
  typeOrLength(e, b, o + 6, end, wire, u16be(b, o + 4));
}

/** A time of 64 or 48 bits that a switch put before the type; other subtypes have none. */
export function aristaTimestamp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end || ++e.depth > MAX_DEPTH) return;
  let at = o + 2;
  if (u16be(b, o) === 1) {
    const version = u16be(b, o + 2);
    if (version === 0x10 || version === 0x110) at += 10;
    else if (version === 0x20 || version === 0x120) at += 8;
    else return;
  }
  if (at + 2 <= end) typeOrLength(e, b, at + 2, end, wire, u16be(b, at));
}

function typeOrLength(e: Engine, b: Uint8Array, o: number, end: number, wire: number, type: number): void {
  if (type > 1500) ethertype(e, b, o, end, wire, type);
  else llc(e, b, o, Math.min(end, o + type), Math.min(wire, o + type));
}

/** MACsec that only authenticates leaves the payload readable. */
export function macsec(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 6 > end) return;
  const control = b[o]!;
  // Another version, or encrypted or changed: nothing can be said.
  if ((control & 0x8c) !== 0) return;
  const header = (control & 0x20) !== 0 ? 14 : 6;
  if (end - o <= header + 16) return;
  const stop = Math.min(end, wire - 16);
  if (o + header + 2 > stop) return;
  ethertype(e, b, o + header + 2, stop, wire - 16, u16be(b, o + header));
}

export function nsh(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end || ++e.depth > MAX_DEPTH) return;
  const length = (b[o + 1]! & 0x3f) * 4;
  if (length < 8) return;
  switch (b[o + 3]) {
    case 1:
      ip(e, b, o + length, end, wire);
      return;
    case 2:
      ipv6(e, b, o + length, end, wire, false);
      return;
    case 3:
      ethernet(e, b, o + length, end, wire);
      return;
    case 5:
      mpls(e, b, o + length, end, wire);
      return;
    default:
      return;
  }
}

export function hsr(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 6 > end || ++e.depth > MAX_DEPTH) return;
  ethertype(e, b, o + 6, end, wire, u16be(b, o + 4));
}

export function trill(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 6 > end) return;
  const options = ((u16be(b, o) >> 6) & 0x1f) * 4;
  ethernet(e, b, o + 6 + options, end, wire);
}

/** B.A.T.M.A.N. advanced: unicast and broadcast packets carry frames. Version 15 layouts. */
export function batman(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 2 > end || ++e.depth > MAX_DEPTH || b[o + 1] !== 15) return;
  switch (b[o]) {
    case 0x40: // unicast
      ethernet(e, b, o + 10, end, wire);
      return;
    case 0x42: // unicast with four addresses
      ethernet(e, b, o + 18, end, wire);
      return;
    case 0x01: // broadcast
      ethernet(e, b, o + 14, end, wire);
      return;
    default:
      return;
  }
}
