/** From an IP protocol number to its decoder, through any chain of extension headers. */
import { constants, inflateRawSync, inflateSync } from 'node:zlib';
import type { Engine } from '../engine.ts';
import { i32be, u16be } from '../read/bytes.ts';
import { ethernet, MAX_DEPTH } from './ethernet.ts';
import { gre } from './gre.ts';
import { icmp, icmpv6 } from './icmp.ts';
import { fragmentOf, ip, ipv4, ipv6 } from './ip.ts';
import { mpls } from './mpls.ts';
import { tcp } from './tcp.ts';
import { udp, udpLite } from './udp.ts';

const HOME_ADDRESS = 201;

export function ipProtocol(
  e: Engine,
  b: Uint8Array,
  start: number,
  end: number,
  wire: number,
  first: number,
): void {
  let o = start;
  let protocol = first;
  // Extension headers are walked here; each step moves forward, so the chain ends with the packet.
  for (let steps = 0; steps < 64; steps++) {
    switch (protocol) {
      case 6:
        tcp(e, b, o, end, wire);
        return;
      case 17:
        udp(e, b, o, end, wire);
        return;
      case 136:
        udpLite(e, b, o, end, wire);
        return;
      case 1:
        icmp(e, b, o, end, wire);
        return;
      case 58:
        icmpv6(e, b, o, end, wire);
        return;
      case 4:
        ip(e, b, o, end, wire);
        return;
      case 41:
        ipv6(e, b, o, end, wire, false);
        return;
      case 47:
        gre(e, b, o, end, wire);
        return;
      case 0: // hop-by-hop options
      case 60: // destination options
        if (o + 2 > end || !optionsFit(e, b, o, end)) return;
        protocol = b[o]!;
        o += (b[o + 1]! + 1) << 3;
        break;
      case 43: // routing
        if (o + 4 > end) return;
        routing(e, b, o, end);
        protocol = b[o]!;
        o += (b[o + 1]! + 1) << 3;
        break;
      case 51: // authentication
        if (o + 2 > end) return;
        protocol = b[o]!;
        o += (b[o + 1]! + 2) << 2;
        break;
      case 44:
        ipv6Fragment(e, b, o, end, wire);
        return;
      case 97: // Ethernet in IP: a version, then the frame
        if (o + 2 <= end && b[o]! >> 4 === 3) ethernet(e, b, o + 2, end, wire);
        return;
      case 103:
        pimRegister(e, b, o, end, wire);
        return;
      case 108:
        compressed(e, b, o, end);
        return;
      case 137:
        mpls(e, b, o, end, wire);
        return;
      case 143:
        ethernet(e, b, o, end, wire);
        return;
      default:
        return;
    }
    if (o > end) return;
  }
}

function ipv6Fragment(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end || ++e.depth > MAX_DEPTH) return;
  const word = u16be(b, o + 2);
  fragmentOf(e, b, o + 8, end, wire, wire, b[o]!, word & 0xfff8, (word & 1) !== 0, i32be(b, o + 4));
}

/** With segments left, the last address of the list is where the packet is really going. */
function routing(e: Engine, b: Uint8Array, o: number, end: number): void {
  const type = b[o + 2]!;
  const left = b[o + 3]!;
  const length = (b[o + 1]! + 1) << 3;
  if (left === 0 || (type !== 0 && type !== 2) || length < 24 || e.family !== 6 || e.errorDepth > 0) return;
  const at = o + length - 16;
  if (at + 16 > end) return;
  for (let i = 0; i < 4; i++) e.dst[i] = i32be(b, at + (i << 2));
}

/**
 * Options of a hop-by-hop or destination header; false when one does not fit. Mobile IPv6: the home address
 * option names the real sender.
 */
function optionsFit(e: Engine, b: Uint8Array, o: number, end: number): boolean {
  const limit = o + ((b[o + 1]! + 1) << 3);
  let at = o + 2;
  while (at < limit) {
    if (at >= end) return false;
    const kind = b[at]!;
    if (kind === 0) {
      at++;
      continue;
    }
    if (at + 2 > end) return false;
    const length = b[at + 1]!;
    // An option may run past its header, but not past the packet.
    if (at + 2 + length > end) return false;
    if (kind === HOME_ADDRESS && length === 16 && at + 18 <= end && e.family === 6 && e.errorDepth === 0)
      for (let i = 0; i < 4; i++) e.src[i] = i32be(b, at + 2 + (i << 2));
    at += 2 + length;
  }
  return true;
}

const MAX_INFLATED = 65_535;

/** IPComp: the parameter index does not say how it was packed; deflate is tried, as far as it goes. */
function compressed(e: Engine, b: Uint8Array, o: number, end: number): void {
  if (o + 4 >= end || ++e.depth > MAX_DEPTH) return;
  const whole = inflated(b.subarray(o + 4, end));
  if (whole !== undefined && whole.length > 0) ipProtocol(e, whole, 0, whole.length, whole.length, b[o]!);
}

function inflated(packed: Uint8Array): Uint8Array | undefined {
  const options = { maxOutputLength: MAX_INFLATED, finishFlush: constants.Z_SYNC_FLUSH };
  for (const inflate of [inflateSync, inflateRawSync])
    try {
      return inflate(packed, options);
    } catch {
      // Packed in another way, or damaged.
    }
  return undefined;
}

/** PIM registers carry the multicast packet they announce. */
function pimRegister(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 9 > end || b[o] !== 0x21) return;
  if (b[o + 8]! >> 4 === 4) ipv4(e, b, o + 8, end, wire);
  else if (b[o + 8]! >> 4 === 6) ipv6(e, b, o + 8, end, wire, false);
}
