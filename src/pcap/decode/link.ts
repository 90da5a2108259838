/** From a link type to its decoder. Link types without one are counted and left alone. */
import type { Engine } from '../engine.ts';
import { u16be, u16le, u32be, u32le } from '../read/bytes.ts';
import { LINK } from '../read/link-types.ts';
import { NO_LINK } from '../read/sink.ts';
import { arp } from './arp.ts';
import { ethernet, ethertype, llc } from './ethernet.ts';
import { greCarried } from './gre.ts';
import { ip, ipv4, ipv6 } from './ip.ts';
import { ppp, pppoeSession } from './link-tunnels.ts';
import { chdlc, frameRelay } from './wan.ts';
import { avs, ppi, prism, radiotap, wlan } from './wlan.ts';

export function link(e: Engine, b: Uint8Array, o: number, end: number, wire: number, type: number): void {
  switch (type) {
    case LINK.ethernet:
      ethernet(e, b, o, end, wire);
      break;
    case LINK.sll:
      cooked(e, b, o, end, wire);
      break;
    case LINK.sll2:
      cooked2(e, b, o, end, wire);
      break;
    case LINK.raw:
    case LINK.raw_14:
    case LINK.raw_101:
      raw(e, b, o, end, wire);
      break;
    case LINK.ipv4:
    case LINK.atm_clip_16:
    case LINK.atm_clip_18:
    case LINK.atm_clip:
    case LINK.atm_clip_106:
      ip(e, b, o, end, wire);
      break;
    case LINK.ipv6:
      ipv6(e, b, o, end, wire, false);
      break;
    case LINK.null:
      loopback(e, b, o, end, wire);
      break;
    case LINK.loop:
      if (o + 4 <= end) family(e, b, o + 4, end, wire, u32be(b, o));
      break;
    case LINK.ieee80211:
      wlan(e, b, o, end, wire);
      break;
    case LINK.radiotap:
      radiotap(e, b, o, end, wire);
      break;
    case LINK.prism:
      prism(e, b, o, end, wire);
      break;
    case LINK.avs:
      avs(e, b, o, end, wire);
      break;
    case LINK.ppi:
      ppi(e, b, o, end, wire);
      break;
    case LINK.ppp:
    case LINK.ppp_hdlc:
    case LINK.ppp_with_dir:
      serial(e, b, o, end, wire);
      break;
    case LINK.pppoe:
      pppoeSession(e, b, o, end, wire);
      break;
    case LINK.chdlc:
    case LINK.chdlc_112:
      chdlc(e, b, o, end, wire);
      break;
    case LINK.frame_relay:
      frameRelay(e, b, o, end, wire);
      break;
    case LINK.nflog:
      nflog(e, b, o, end, wire);
      break;
    case LINK.enc:
    case LINK.enc_13:
      encapsulated(e, b, o, end, wire);
      break;
    case LINK.pflog:
      pflog(e, b, o, end, wire);
      break;
    case LINK.atm_rfc1483:
    case LINK.atm_rfc1483_100:
    case LINK.sunatm:
      llc(e, b, o, end, wire, ATM_PADDING);
      break;
    case LINK.pktap:
    case LINK.user2:
      pktap(e, b, o, end, wire);
      break;
    case LINK.juniper_ethernet:
      juniper(e, b, o, end, wire);
      break;
    case LINK.ip_over_fc:
      llc(e, b, o + 16, end, wire);
      break;
    case LINK.token_ring:
      tokenRing(e, b, o, end, wire);
      break;
    case LINK.fddi:
      llc(e, b, o + 13, end, wire);
      break;
    case LINK.apple_1394:
      if (o + 18 <= end) ethertype(e, b, o + 18, end, wire, u16be(b, o + 16));
      break;
    case LINK.ipnet:
      ipnet(e, b, o, end, wire);
      break;
    case LINK.ipoib:
      if (o + 44 <= end) ethertype(e, b, o + 44, end, wire, u16be(b, o + 40));
      break;
    case LINK.arcnet_linux:
    case LINK.arcnet:
      arcnet(e, b, o, end, wire, type === LINK.arcnet_linux ? 5 : 3);
      break;
    case NO_LINK:
      break;
    default:
      e.undecoded++;
  }
}

/** Linux "any" captures: the protocol stands at the end of the header. */
function cooked(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 16 <= end) cookedProtocol(e, b, o + 16, end, wire, u16be(b, o + 14), u16be(b, o + 2));
}

function cooked2(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 20 <= end) cookedProtocol(e, b, o + 20, end, wire, u16be(b, o), u16be(b, o + 8));
}

const ARPHRD_GRE = 778;
const ARPHRD_NETLINK = 824;
/** Bridged frames over ATM are padded so that the payload is aligned. */
const ATM_PADDING = 2;

function cookedProtocol(
  e: Engine,
  b: Uint8Array,
  o: number,
  end: number,
  wire: number,
  protocol: number,
  hardware: number,
): void {
  if (hardware === ARPHRD_NETLINK) return;
  if (hardware === ARPHRD_GRE && protocol > 1536) greCarried(e, b, o, end, wire, protocol, false);
  else if (protocol > 1536) ethertype(e, b, o, end, wire, protocol);
  else if (protocol === 4) llc(e, b, o, end, wire);
  else if (protocol === 3) ethernet(e, b, o, end, wire);
  else if (protocol === 7) ppp(e, b, o, end, wire);
}

function raw(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o >= end) return;
  if (b[o]! >> 4 === 6) ipv6(e, b, o, end, wire, false);
  else if (b[o]! >> 4 === 4) ipv4(e, b, o, end, wire);
  else if (b[o] === 0xff && o + 1 < end && b[o + 1] === 3) ppp(e, b, o, end, wire);
}

/** PPP, or Cisco's framing under the same link type. */
function serial(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o < end && (b[o] === 0x0f || b[o] === 0x8f)) chdlc(e, b, o, end, wire);
  else ppp(e, b, o, end, wire);
}

/** The address family was written in the order of whatever host captured; small numbers tell which. */
function hostOrder(b: Uint8Array, o: number): number {
  const big = u32be(b, o);
  return big > 0xffff ? u32le(b, o) : big;
}

function loopback(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end) return;
  if (b[o] === 0xff && b[o + 1] === 3) {
    ppp(e, b, o, end, wire);
    return;
  }
  const value = loopbackFamily(b, o);
  // Some systems write an Ethernet type instead of a family.
  if (value > 1500) ethertype(e, b, o + 4, end, wire, value & 0xffff);
  else family(e, b, o + 4, end, wire, value);
}

/** Four bytes in either order; some systems write two and leave the rest as it was. */
function loopbackFamily(b: Uint8Array, o: number): number {
  const little = u32le(b, o);
  if (little > 0xffff) return b[o + 3] === 0 && b[o + 2]! < 6 ? u16le(b, o + 2) : u32be(b, o);
  return b[o] === 0 && b[o + 1]! < 6 ? b[o + 1]! : little;
}

/** OpenBSD's enc(4): family, security parameters, flags. */
function encapsulated(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 12 > end) return;
  const value = hostOrder(b, o);
  if (value === 2 || value === 24) family(e, b, o + 12, end, wire, value);
}

/** Apple's tap: its own length first, the link type of what follows at 8. */
function pktap(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 12 > end) return;
  const length = u32le(b, o);
  const inner = u32le(b, o + 8);
  if (length < 12 || length > 1024 || inner === LINK.pktap || inner === LINK.user2) return;
  link(e, b, o + length, end, wire, inner);
}

/** Juniper: magic, flags, extensions; without the flag for "no link layer" a frame follows. */
function juniper(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 6 > end || b[o] !== 0x4d || b[o + 1] !== 0x47 || b[o + 2] !== 0x43) return;
  const flags = b[o + 3]!;
  const header = (flags & 0x80) !== 0 ? 6 + u16be(b, o + 4) : 4;
  if ((flags & 2) === 0) ethernet(e, b, o + header, end, wire);
}

function family(e: Engine, b: Uint8Array, o: number, end: number, wire: number, value: number): void {
  switch (value) {
    case 2:
      ip(e, b, o, end, wire);
      break;
    case 24:
    case 28:
    case 30:
      ipv6(e, b, o, end, wire, false);
      break;
    default:
  }
}

/** Netfilter log: attributes, one of which is the packet. */
function nflog(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (start + 4 > end) return;
  const family4 = b[start] === 2;
  let o = start + 4;
  for (let i = 0; i < 256 && o + 4 <= end; i++) {
    const length = u16le(b, o);
    if (length < 4 || o + length > wire) return;
    if ((u16le(b, o + 2) & 0x7fff) === 9) {
      const stop = Math.min(end, o + length);
      const limit = Math.min(wire, o + length);
      if (family4) ip(e, b, o + 4, stop, limit);
      else if (b[start] === 10) ipv6(e, b, o + 4, stop, limit, false);
      return;
    }
    o += (length + 3) & ~3;
  }
}

function pflog(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end) return;
  const length = (b[o]! + 3) & ~3;
  family(e, b, o + length, end, wire, b[o + 1]!);
}

/** Token Ring: a routing field may follow the addresses. */
function tokenRing(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 14 > end) return;
  const routed = (b[o + 8]! & 0x80) !== 0;
  const routing = routed && o + 15 <= end ? b[o + 14]! & 0x1f : 0;
  if (((b[o + 1]! >> 6) & 3) === 1) llc(e, b, o + 14 + routing, end, wire);
}

function ipnet(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 24 > end) return;
  if (b[o + 1] === 2) ip(e, b, o + 24, end, wire);
  else if (b[o + 1] === 26) ipv6(e, b, o + 24, end, wire, false);
}

/** ARCnet: RFC 1051 has the packet right behind the protocol, RFC 1201 behind a flag and a sequence number. */
function arcnet(e: Engine, b: Uint8Array, o: number, end: number, wire: number, header: number): void {
  if (o + header > end) return;
  const protocol = b[o + header - 1]!;
  const next = o + header + (protocol >= 240 ? 0 : 3);
  if (protocol === 212 || protocol === 240) ip(e, b, next, end, wire);
  else if (protocol === 213 || protocol === 241) arp(e, b, next, end);
  else if (protocol === 196) ipv6(e, b, next, end, wire, false);
}
