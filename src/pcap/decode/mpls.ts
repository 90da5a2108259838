import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { ethernet, MAX_DEPTH } from './ethernet.ts';
import { ipv4, ipv6 } from './ip.ts';

/** Generic associated channel, and operation and maintenance: no packet follows these. */
const CHANNEL_LABEL = 13;
const ALERT_LABEL = 14;

const KNOWN_TYPES: ReadonlySet<number> = new Set([
  0x0800, 0x0806, 0x8035, 0x8100, 0x86dd, 0x8847, 0x8848, 0x8863, 0x8864, 0x88a8, 0x88cc, 0x8809, 0x8902,
  0x88f7, 0x888e, 0x88e7, 0x9000, 0x9100, 0x8137, 0x6558,
]);

/** A stack of labels, then a payload whose kind nothing announces: the first nibble tells. */
export function mpls(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (++e.depth > MAX_DEPTH) return;
  let o = start;
  let label = 0;
  for (;;) {
    if (o + 4 > end) return;
    e.bits |= HAS.mpls;
    label = (u16be(b, o) << 4) | (b[o + 2]! >> 4);
    const bottom = (b[o + 2]! & 1) !== 0;
    o += 4;
    if (label === ALERT_LABEL || (label === CHANNEL_LABEL && bottom)) return;
    if (bottom) break;
  }
  if (o >= end) return;
  switch (b[o]! >> 4) {
    case 4:
      ipv4(e, b, o, end, wire);
      break;
    case 6:
      ipv6(e, b, o, end, wire, false);
      break;
    case 0:
      pseudowire(e, b, o, end, wire);
      break;
    default: // an associated channel, or nothing that can be told
  }
}

/** An Ethernet pseudowire. Nothing says whether a control word comes first: plain Ethernet is recognised. */
function pseudowire(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  e.note('mpls pseudowire');
  ethernet(e, b, looksLikeEthernet(b, o, end) ? o : o + 4, end, wire);
}

/** Two addresses from registered ranges and a type that exists: a control word hardly ever looks like that. */
function looksLikeEthernet(b: Uint8Array, o: number, end: number): boolean {
  if (o + 14 > end) return false;
  if ((b[o]! & 3) !== 0 || (b[o + 6]! & 3) !== 0) return false;
  // Zeros are a registered range as well: such a control word before such an address is taken for one.
  if (u16be(b, o) === 0 && u16be(b, o + 2) === 0) return u16be(b, o + 6) === 0;
  const type = u16be(b, o + 12);
  return type <= 1500 || KNOWN_TYPES.has(type);
}
