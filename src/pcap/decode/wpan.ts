import type { Engine } from '../engine.ts';
import { ipv6 } from './ip.ts';

/** 6LoWPAN: only the uncompressed form carries an IPv6 header as it is. */
export function sixlowpan(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o < end && b[o] === 0x41) ipv6(e, b, o + 1, end, wire, false);
}
