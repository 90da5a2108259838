import type { Engine } from '../engine.ts';

const SEQUENCE = 0x30;
const INTEGER = 0x02;

/**
 * Whether the datagram is SNMP: a sequence that fits, starting with the version. Analysers open a conversation of
 * its own for it, so a stream that turns out to be SNMP goes on under another number.
 */
export function snmp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): boolean {
  if (o + 3 > end || (b[o]! & 0xdf) !== (SEQUENCE & 0xdf)) return false;
  let at = o + 2;
  let length = b[o + 1]!;
  if (length > 0x80) {
    const bytes = length & 0x7f;
    if (bytes > 4 || at + bytes > end) return false;
    length = 0;
    for (let i = 0; i < bytes; i++) length = length * 256 + b[at++]!;
  }
  if (length > wire - at || at >= end || (b[at]! & 0xdf) !== INTEGER) return false;
  e.udp.becomesSnmp();
  return true;
}
