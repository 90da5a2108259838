import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { ethernet, MAX_DEPTH } from './ethernet.ts';
import { ipv4, ipv6 } from './ip.ts';

const LABEL_WITH_MEANING = 16;

/** A stack of labels, then a payload whose kind nothing announces: the first nibble tells. */
export function mpls(e: Engine, b: Uint8Array, start: number, end: number, wire: number): void {
  if (++e.depth > MAX_DEPTH) return;
  let o = start;
  let label = 0;
  for (;;) {
    if (o + 4 > end) {
      e.bits |= HAS.mpls;
      return;
    }
    e.bits |= HAS.mpls;
    label = (u16be(b, o) << 4) | (b[o + 2]! >> 4);
    const bottom = (b[o + 2]! & 1) !== 0;
    o += 4;
    if (label === 13) {
      // A channel header follows the generic associated channel label.
      if (bottom) return;
    }
    if (label < LABEL_WITH_MEANING && label === 14 && bottom) return;
    if (bottom) break;
  }
  if (o >= end) return;
  switch (b[o]! >> 4) {
    case 4:
      ipv4(e, b, o, end, wire);
      return;
    case 6:
      ipv6(e, b, o, end, wire, false);
      return;
    case 1:
      return;
    case 0:
      pseudowireWithControlWord(e, b, o, end, wire);
      return;
    default:
      pseudowire(e, b, o, end, wire);
      return;
  }
}

/** An Ethernet pseudowire behind a control word, if what follows looks like Ethernet. */
function pseudowireWithControlWord(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (looksLikeEthernet(b, o + 4, end)) {
    e.note('mpls pseudowire');
    ethernet(e, b, o + 4, end, wire);
    return;
  }
  if (looksLikeEthernet(b, o, end)) ethernet(e, b, o, end, wire);
}

function pseudowire(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (!looksLikeEthernet(b, o, end)) return;
  e.note('mpls pseudowire');
  ethernet(e, b, o, end, wire);
}

/** Addresses that make sense and a type or length that does. */
function looksLikeEthernet(b: Uint8Array, o: number, end: number): boolean {
  if (o + 14 > end) return false;
  const type = u16be(b, o + 12);
  if (type <= 1500) return end - (o + 14) >= type;
  return type >= 0x0600;
}
