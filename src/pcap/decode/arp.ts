import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';

/** ARP and RARP. Counters take every occurrence; facts only Ethernet over IPv4. */
export function arp(e: Engine, b: Uint8Array, o: number, end: number): void {
  if (o + 8 > end) {
    if (o + 2 <= end) e.bits |= HAS.arp;
    return;
  }
  e.bits |= HAS.arp;
  const hardware = u16be(b, o);
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
