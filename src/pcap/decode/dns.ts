/** DNS messages: counted from the header alone, described from the first question. */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';

export type DnsKind = 'dns' | 'mdns' | 'llmnr';

const RESPONSE = 0x8000;

export function dnsMessage(
  e: Engine,
  b: Uint8Array,
  o: number,
  end: number,
  wire: number,
  kind: DnsKind,
): void {
  if (o + 4 > end) return;
  e.bits |= kind === 'dns' ? HAS.dns : kind === 'mdns' ? HAS.mdns : HAS.llmnr;
  if (kind === 'mdns') e.totals.mdnsMessages++;
  if (kind !== 'dns') return;
  const flags = u16be(b, o + 2);
  if ((flags & RESPONSE) !== 0) {
    e.totals.dnsResponses++;
    e.totals.dnsRcodes[flags & 15]!++;
  } else e.totals.dnsQueries++;
  if (o + 12 > end || wire - o < 12) e.bits |= HAS.malformed;
  else if (e.facts && e.errorDepth === 0) e.dns.message(e, b, o, end, flags);
}

/** Counts beyond these are not believed of a datagram that no port announces as DNS. */
const MOST_ANSWERS = 100;
const MOST_OTHERS = 10;

/** A datagram on ports nobody registered that reads like a query or an answer from its first byte on. */
export function looksLikeDns(b: Uint8Array, o: number, end: number, wire: number): boolean {
  if (wire - o < 13 || o + 12 > end) return false;
  const flags = u16be(b, o + 2);
  if ((flags & 0x7800) !== 0) return false;
  const questions = u16be(b, o + 4);
  const answers = u16be(b, o + 6);
  const authorities = u16be(b, o + 8);
  if (u16be(b, o + 10) > MOST_OTHERS) return false;
  if ((flags & RESPONSE) === 0) return questions === 1 && answers === 0 && authorities === 0;
  return questions <= 1 && answers <= MOST_ANSWERS && authorities <= MOST_OTHERS;
}
