/** ICMP and ICMPv6: counted by type; errors are followed into the packet they quote. */
import type { Engine } from '../engine.ts';
import { HAS } from './bits.ts';
import { MAX_DEPTH } from './ethernet.ts';
import { ip, ipv6 } from './ip.ts';

export function icmp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 6 > end || ++e.depth > MAX_DEPTH) return;
  e.bits |= HAS.icmp;
  const type = b[o]!;
  if (e.icmpType < 0) e.icmpType = type;
  if (o + 8 > end) return;
  if (e.facts && e.errorDepth === 0) e.icmp.v4(e, b, o, end, wire);
  switch (type) {
    case 3:
    case 11:
    case 12:
      // With extensions behind it, the length of the quotation stands in the header.
      quoted(e, b, o + 8, end, b[o + 5] === 0 ? wire : quotedLimit(b, o, end, wire, b[o + 5]! << 2), 4);
      break;
    case 4:
      quoted(e, b, o + 8, end, wire, 4);
      break;
    case 5:
      // A redirect quotes the header and eight bytes, whatever follows.
      quoted(e, b, o + 8, end, quotedLimit(b, o, end, wire, 8), 4);
      break;
    default:
  }
}

export function icmpv6(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (++e.depth > MAX_DEPTH) return;
  e.bits |= HAS.icmpv6;
  if (o >= end) return;
  const type = b[o]!;
  if (e.icmp6Type < 0) e.icmp6Type = type;
  if (o + 8 > end) return;
  if (e.facts && e.errorDepth === 0) e.icmp.v6(e, b, o, end, wire);
  if (type >= 1 && type <= 4) quoted(e, b, o + 8, end, wire, 6);
  else if (type === 137) redirected(e, b, o + 40, end, wire);
}

function quotedLimit(b: Uint8Array, o: number, end: number, wire: number, beyondHeader: number): number {
  return o + 9 > end ? wire : Math.min(wire, o + 8 + ((b[o + 8]! & 15) << 2) + beyondHeader);
}

/** The packet an error complains about is decoded, but belongs to no flow: nothing is analysed from it. */
function quoted(e: Engine, b: Uint8Array, o: number, captured: number, wire: number, version: 4 | 6): void {
  const end = Math.min(captured, wire);
  if (o >= end) return;
  aside(e, () => {
    if (version === 4) ip(e, b, o, end, wire);
    else ipv6(e, b, o, end, wire, false);
  });
}

/** Decodes a packet that another one tells of: it is counted, but addresses and flows stay those of the outer one. */
export function aside(e: Engine, decode: () => void): void {
  const { ttl, ipId, dontFragment, fragmented, family } = e;
  const outer = e.saveAddresses();
  e.errorDepth++;
  decode();
  e.errorDepth--;
  e.restoreAddresses(outer);
  e.ttl = ttl;
  e.ipId = ipId;
  e.dontFragment = dontFragment;
  e.fragmented = fragmented;
  e.family = family;
}

/** Neighbour discovery redirects may carry the packet in an option. */
function redirected(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  let o = start;
  for (let i = 0; i < 32 && o + 8 <= end; i++) {
    const length = b[o + 1]! << 3;
    if (length === 0) return;
    if (b[o] === 4) quoted(e, b, o + 8, Math.min(end, o + length), Math.min(wire, o + length), 6);
    o += length;
  }
}
