/**
 * Ethernet and what stands between it and the network layer. Every decoder takes the bytes, where its header
 * starts, where the captured bytes end and where the packet really ended (`end` ≤ `wire` when it was cut).
 */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { arp } from './arp.ts';
import { HAS } from './bits.ts';
import { ip, ipv4, ipv6 } from './ip.ts';
import {
  aristaTimestamp,
  batman,
  hsr,
  macsec,
  nsh,
  ppp,
  pppoeSession,
  providerBackbone,
  sequenced,
  trill,
  vntag,
} from './link-tunnels.ts';
import { mpls } from './mpls.ts';
import { nlpid } from './wan.ts';
import { wlan } from './wlan.ts';
import { sixlowpan } from './wpan.ts';

const LENGTH_LIMIT = 1500;
const FABRIC_PATH = 0x8903;
/** Nesting no honest packet reaches; hostile ones end here. */
export const MAX_DEPTH = 60;

export function ethernet(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 14 > end || ++e.depth > MAX_DEPTH) return;
  const type = u16be(b, o + 12);
  if (type > LENGTH_LIMIT) {
    if ((type === FABRIC_PATH || type === 0x8100 || type === 0x88a8) && fabricPath(e, b, o, end, wire, type))
      return;
    ethertype(e, b, o + 14, end, wire, type);
    return;
  }
  // Inter-Switch Link frames carry a whole frame behind a 26-byte header.
  const isl = b[o + 1] === 0 && b[o + 2] === 0x0c && b[o + 3] === 0 && b[o + 4] === 0;
  if (isl && (b[o] === 0x01 || b[o] === 0x0c)) {
    if (o + 26 <= end) ethernet(e, b, o + 26, end, wire);
    return;
  }
  lengthFramed(e, b, o + 14, end, wire, type);
}

/** Cisco FabricPath, perhaps behind one tag: a whole frame, whose check sequence was replaced by the outer one. */
function fabricPath(e: Engine, b: Uint8Array, o: number, end: number, wire: number, type: number): boolean {
  const at = type === FABRIC_PATH ? 12 : 16;
  if (o + at + 2 > end || u16be(b, o + at) !== FABRIC_PATH) return false;
  if (o + at + 4 <= end) ethernet(e, b, o + at + 4, Math.min(end, wire - 4), wire - 4);
  return true;
}

/** IEEE 802.3: a length, then LLC (or bare IPX, which starts with ones). */
function lengthFramed(e: Engine, b: Uint8Array, o: number, end: number, wire: number, length: number): void {
  if (o + 2 <= end && u16be(b, o) === 0xffff) return;
  llc(e, b, o, Math.min(end, o + length), Math.min(wire, o + length));
}

export function ethertype(
  e: Engine,
  b: Uint8Array,
  o: number,
  end: number,
  wire: number,
  type: number,
): void {
  switch (type) {
    case 0x0800:
      ipv4(e, b, o, end, wire);
      return;
    case 0x86dd:
      ipv6(e, b, o, end, wire, true);
      return;
    case 0x0806:
    case 0x8035:
      arp(e, b, o, end);
      return;
    case 0x8100:
    case 0x9100:
      vlan(e, b, o, end, wire, true);
      return;
    case 0x88a8:
      vlan(e, b, o, end, wire, false);
      return;
    case 0x8847:
    case 0x8848:
      mpls(e, b, o, end, wire);
      return;
    case 0x8864:
      pppoeSession(e, b, o, end, wire);
      return;
    case 0x880b:
      ppp(e, b, o, end, wire);
      return;
    case 0x6558:
      ethernet(e, b, o, end, wire);
      return;
    case 0x8870:
      llc(e, b, o, end, wire);
      return;
    case 0x88e7:
      providerBackbone(e, b, o, end, wire);
      return;
    case 0x8926:
      vntag(e, b, o, end, wire, 4);
      return;
    case 0x893f:
      vntag(e, b, o, end, wire, 6);
      return;
    case 0x8909:
      vntag(e, b, o, end, wire, 6);
      return;
    case 0xf1c1:
      sequenced(e, b, o, end, wire);
      return;
    case 0xd28b:
      aristaTimestamp(e, b, o, end, wire);
      return;
    case 0x88e5:
      macsec(e, b, o, end, wire);
      return;
    case 0x894f:
      nsh(e, b, o, end, wire);
      return;
    case 0x892f:
      hsr(e, b, o, end, wire);
      return;
    case 0x22f3:
      trill(e, b, o, end, wire);
      return;
    case 0x4305:
      batman(e, b, o, end, wire);
      return;
    case 0x2452:
      wlan(e, b, o, end, wire);
      return;
    case 0xa0ed:
      sixlowpan(e, b, o, end, wire);
      return;
    default:
      return;
  }
}

/** One tag. Customer tags (0x8100, 0x9100) have an id of their own; service tags (0x88a8) are counted apart. */
function vlan(e: Engine, b: Uint8Array, o: number, end: number, wire: number, customer: boolean): void {
  if (++e.depth > MAX_DEPTH) return;
  if (o + 2 > end) return;
  if (customer) {
    e.bits |= HAS.vlan;
    e.vlanIds.add(u16be(b, o) & 0x0fff);
  }
  if (o + 4 > end) return;
  const type = u16be(b, o + 2);
  if (type > LENGTH_LIMIT) ethertype(e, b, o + 4, end, wire, type);
  else lengthFramed(e, b, o + 4, end, wire, type);
}

/** IEEE 802.2. Only unnumbered information carries what is analysed here. */
export function llc(e: Engine, b: Uint8Array, o: number, end: number, wire: number, padding = 0): void {
  if (o + 3 > end || ++e.depth > MAX_DEPTH) return;
  const dsap = b[o]!;
  const ssap = b[o + 1]!;
  const control = b[o + 2]!;
  // Control is one byte for unnumbered frames, two otherwise; only information frames carry anything.
  const unnumbered = (control & 3) === 3;
  if (unnumbered ? (control & 0xef) !== 3 : (control & 1) !== 0) return;
  const next = o + (unnumbered ? 3 : 4);
  if (dsap === 0xaa && (ssap & 0xfe) === 0xaa) snap(e, b, next, end, wire, padding);
  else if (dsap === 0x06) ip(e, b, next, end, wire);
  else if (dsap === 0xfe && next < end) nlpid(e, b, next, end, wire);
}

/** `padding` is what a medium puts before bridged frames. */
export function snap(e: Engine, b: Uint8Array, o: number, end: number, wire: number, padding = 0): void {
  if (o + 5 > end) return;
  const organisation = (b[o]! << 16) | (b[o + 1]! << 8) | b[o + 2]!;
  const type = u16be(b, o + 3);
  switch (organisation) {
    case 0x000000: // encapsulated Ethernet
    case 0x0000f8: // its bridged cousin at Cisco
      ethertype(e, b, o + 5, end, wire, type);
      break;
    case 0x0080c2: // bridged frames, with or without their check sequence
      if (type === 1 || type === 7) ethernet(e, b, o + 5 + padding, end, wire);
      break;
    default:
  }
}
