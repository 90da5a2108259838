import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';

/** Over ATM there are two hardware addresses to a side, with a length for each. */
const ATM = 19;

function atmFits(b: Uint8Array, o: number, end: number): boolean {
  if (o + 12 > end) return false;
  const sender = (b[o + 4]! & 0x3f) + (b[o + 5]! & 0x3f) + b[o + 8]!;
  const target = (b[o + 9]! & 0x3f) + (b[o + 10]! & 0x3f) + b[o + 11]!;
  return o + 12 + sender + target <= end;
}

/** ARP and RARP. Counters take every occurrence; facts only Ethernet over IPv4. */
export function arp(e: Engine, b: Uint8Array, o: number, end: number): void {
  if (o + 8 > end) {
    if (o + 2 <= end && u16be(b, o) !== ATM) e.bits |= HAS.arp;
    return;
  }
  const hardware = u16be(b, o);
  if (hardware === ATM && !atmFits(b, o, end)) {
    e.bits |= HAS.malformed;
    return;
  }
  e.bits |= HAS.arp;
  const protocol = u16be(b, o + 2);
  const hardwareLength = b[o + 4]!;
  const protocolLength = b[o + 5]!;
  const operation = u16be(b, o + 6);
  if (operation === 1) e.totals.arpRequests++;
  else if (operation === 2) e.totals.arpReplies++;
  if (!e.facts || operation > 2 || hardwareLength !== 6 || protocolLength !== 4 || protocol !== 0x0800)
    return;
  if ((hardware !== 1 && hardware !== 6) || o + 28 > end) return;
  e.arp.message(e, b, o + 8, operation);
}
