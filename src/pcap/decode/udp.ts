/** UDP: the header, the stream, and what its ports announce. */
import type { Engine } from '../engine.ts';
import { u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { MAX_DEPTH } from './ethernet.ts';
import { udpPayload } from './udp-payload.ts';

const UDP = 17;

/** UDP-Lite: the same ports and streams, a checksum coverage where the length would be. */
export function udpLite(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 8 > end || ++e.depth > MAX_DEPTH) return;
  e.srcPort = u16be(b, o);
  e.dstPort = u16be(b, o + 2);
  e.udp.datagram(e);
  if (o + 8 < end) udpPayload(e, b, o + 8, end, wire);
}

export function udp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end || ++e.depth > MAX_DEPTH) return;
  e.bits |= HAS.udp;
  if (o + 8 > end) return;
  e.srcPort = u16be(b, o);
  e.dstPort = u16be(b, o + 2);
  let length = u16be(b, o + 4);
  const available = wire - o;
  // Over IPv6 a zero length means: to the end of the packet.
  if (length === 0 && e.family === 6) length = available;
  if (length < 8) {
    e.bits |= HAS.malformed;
    return;
  }
  e.udp.datagram(e);
  const stop = Math.min(wire, o + length);
  if (e.facts && e.errorDepth === 0 && !e.fragmented && o + length <= end)
    e.checksums.transport(e, b, o, o + length, UDP, o + 6);
  // What an error quotes is looked into from four bytes on.
  const least = e.errorDepth > 0 ? 12 : 9;
  if (o + least <= stop && o + least <= end) udpPayload(e, b, o + 8, Math.min(end, stop), stop);
}
