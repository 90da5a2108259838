/** GRE in all its forms: plain, with key and sequence, PPTP, ERSPAN, bridged Ethernet. */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { arp } from './arp.ts';
import { HAS } from './bits.ts';
import { ethernet, ethertype, MAX_DEPTH } from './ethernet.ts';
import { ip, ipv6 } from './ip.ts';
import { nsh, ppp } from './link-tunnels.ts';
import { mpls } from './mpls.ts';
import { chdlc, frameRelay } from './wan.ts';
import { wlan } from './wlan.ts';

const CHECKSUM = 0x8000;
const ROUTING = 0x4000;
const KEY = 0x2000;
const SEQUENCE = 0x1000;
const ACKNOWLEDGE = 0x0080;

export function gre(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (start + 4 > end || ++e.depth > MAX_DEPTH) return;
  e.bits |= HAS.gre | HAS.tunnel;
  const flags = u16be(b, start);
  const version = flags & 7;
  const type = u16be(b, start + 2);
  let o = start + 4;
  if ((flags & (CHECKSUM | ROUTING)) !== 0) o += 4;
  if ((flags & KEY) !== 0) o += 4;
  if ((flags & SEQUENCE) !== 0) o += 4;
  if (version === 1 && (flags & ACKNOWLEDGE) !== 0) o += 4;
  if ((flags & ROUTING) !== 0) o = skipRoutes(b, o, end);
  if (o > end || o < 0) return;
  // Without a sequence number there may be no payload; with one there must be.
  if ((flags & SEQUENCE) === 0 && o >= wire) return;
  greCarried(e, b, o, end, wire, type, (flags & SEQUENCE) !== 0);
}

/** Source route entries: family, offset, length; an empty one ends the list. */
function skipRoutes(b: Uint8Array, start: number, end: number): number {
  let o = start;
  while (o + 4 <= end) {
    const family = u16be(b, o);
    const length = b[o + 3]!;
    o += 4 + length;
    if (family === 0 && length === 0) return o;
  }
  return -1;
}

/** What a GRE protocol type announces. */
export function greCarried(
  e: Engine,
  b: Uint8Array,
  o: number,
  end: number,
  wire: number,
  type: number,
  sequenced: boolean,
): void {
  switch (type) {
    case 0x0800:
      ip(e, b, o, end, wire);
      break;
    case 0x86dd:
      ipv6(e, b, o, end, wire, false);
      break;
    case 0x883e: // WCCP: a redirect header stands before the packet unless it starts like IPv4 already
      if (o < end) ip(e, b, b[o]! >> 4 === 4 ? o : o + 4, end, wire);
      break;
    case 0x6400:
    case 0x6558:
      ethernet(e, b, o, end, wire);
      break;
    case 0x0806:
      arp(e, b, o, end);
      break;
    case 0x880b:
      ppp(e, b, o, end, wire);
      break;
    case 0x8847:
    case 0x8848:
      mpls(e, b, o, end, wire);
      break;
    case 0x88be:
      erspan(e, b, o, end, wire, sequenced);
      break;
    case 0x22eb:
      erspan3(e, b, o, end, wire);
      break;
    case 0x6559:
      frameRelay(e, b, o, end, wire);
      break;
    case 0x8881:
    case 0x88d2:
      chdlc(e, b, o, end, wire);
      break;
    case 0x8909:
      ethertype(e, b, o, end, wire, type);
      break;
    case 0x894f:
      nsh(e, b, o, end, wire);
      break;
    default:
      // Aruba writes 802.11 frames under 0x8200 to 0x8370.
      if ((type & 0xfe0f) === 0x8200) wlan(e, b, o, end, wire);
  }
}

/** ERSPAN I has no header at all (and no GRE sequence number), II has eight bytes. */
function erspan(e: Engine, b: Uint8Array, o: number, end: number, wire: number, sequenced: boolean): void {
  e.note('erspan');
  if (!sequenced) {
    ethernet(e, b, o, end, wire);
    return;
  }
  if (o + 8 > end) return;
  if (b[o]! >> 4 === 1) ethernet(e, b, o + 8, end, wire);
  else if (b[o]! >> 4 === 2) erspan3(e, b, o, end, wire);
}

function erspan3(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 12 > end || b[o]! >> 4 !== 2) return;
  e.note('erspan');
  const next = o + 12 + ((b[o + 11]! & 1) !== 0 ? 8 : 0);
  const frameType = (b[o + 10]! >> 2) & 0x1f;
  if (frameType === 0) ethernet(e, b, next, end, wire);
  else if (frameType === 2) ip(e, b, next, end, wire);
}
