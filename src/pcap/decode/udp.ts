/** UDP: the header, the stream, and what its ports announce. */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { MAX_DEPTH } from './ethernet.ts';
import { udpPayload } from './udp-payload.ts';

export function udp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end || ++e.depth > MAX_DEPTH) return;
  e.bits |= HAS.udp;
  if (o + 8 > end) return;
  e.srcPort = u16be(b, o);
  e.dstPort = u16be(b, o + 2);
  let length = u16be(b, o + 4);
  const available = wire - o;
  if (length === 0 && e.family === 6 && available > 65_535) length = available;
  if (length < 8) {
    e.bits |= HAS.malformed;
    return;
  }
  e.udp.datagram(e);
  const stop = Math.min(wire, o + length);
  if (o + 8 < stop && o + 8 < end) udpPayload(e, b, o + 8, Math.min(end, stop), stop);
}
