/** Wide-area framings: Cisco HDLC and Frame Relay. */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { ethertype, llc, MAX_DEPTH, snap } from './ethernet.ts';
import { ip, ipv6 } from './ip.ts';
import { pppProtocol } from './link-tunnels.ts';
import { mpls } from './mpls.ts';

export function chdlc(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end || ++e.depth > MAX_DEPTH) return;
  const protocol = u16be(b, o + 2);
  switch (protocol) {
    case 0x0800:
      ip(e, b, o + 4, end, wire);
      break;
    case 0x86dd:
      ipv6(e, b, o + 4, end, wire, false);
      break;
    case 0x8847:
    case 0x8848:
      mpls(e, b, o + 4, end, wire);
      break;
    case 0x6558:
      ethertype(e, b, o + 4, end, wire, protocol);
      break;
    default:
  }
}

/** Frame Relay with an address of two to four bytes, then NLPID or Cisco framing. */
export function frameRelay(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (++e.depth > MAX_DEPTH) return;
  let o = start;
  for (let i = 0; i < 4; i++) {
    if (o >= end) return;
    if ((b[o++]! & 1) !== 0) break;
  }
  if (o >= end) return;
  if (b[o] !== 0x03) {
    // Cisco: an Ethernet type right after the address.
    if (o + 2 <= end) ethertype(e, b, o + 2, end, wire, u16be(b, o));
    return;
  }
  o++;
  if (o < end && b[o] === 0) o++;
  if (o < end) nlpid(e, b, o, end, wire);
}

/** Network layer protocol identifiers (RFC 2427). */
export function nlpid(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  switch (b[o]) {
    case 0xcc:
      ip(e, b, o + 1, end, wire);
      break;
    case 0x8e:
      ipv6(e, b, o + 1, end, wire, false);
      break;
    case 0x80:
      snap(e, b, o + 1, end, wire);
      break;
    case 0xcf:
      pppProtocol(e, b, o + 1, end, wire);
      break;
    default:
      if (b[o] === 0xaa) llc(e, b, o, end, wire);
  }
}
