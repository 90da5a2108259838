/** The TCP header, its options as far as the analysis needs them, and what the payload announces. */
import type { Engine } from '../engine.ts';
import { i32be, u16be } from '../read/bytes.ts';
import { HAS, TCP_FLAG } from './bits.ts';
import { MAX_DEPTH } from './ethernet.ts';

/** Enough of the header for ports, numbers, flags and window: with less there is no stream. */
const ENOUGH = 16;
const TCP = 6;

export function tcp(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o + 4 > end || ++e.depth > MAX_DEPTH) return;
  e.bits |= HAS.tcp;
  if (o + ENOUGH > end) return;
  e.srcPort = u16be(b, o);
  e.dstPort = u16be(b, o + 2);
  const header = (b[o + 12]! >> 4) << 2;
  const flags = b[o + 13]!;
  const s = e.segment;
  s.seq = i32be(b, o + 4);
  s.ack = i32be(b, o + 8);
  s.flags = flags;
  s.window = u16be(b, o + 14);
  const whole = wire - o;
  const analysed = !e.fragmented && e.errorDepth === 0 && whole >= header;
  s.length = analysed ? whole - header : 0;
  e.tcp.segment(e, b, o, end, header, analysed);
  if (header < 20) {
    e.bits |= HAS.malformed;
    return;
  }
  if (e.facts && analysed && end === wire) e.checksums.transport(e, b, o, end, TCP, o + 16);
  if ((flags & TCP_FLAG.rst) !== 0) e.bits |= HAS.rst;
  if ((flags & TCP_FLAG.fin) !== 0) e.bits |= HAS.fin;
  if ((flags & TCP_FLAG.syn) !== 0) e.bits |= (flags & TCP_FLAG.ack) !== 0 ? HAS.synack : HAS.syn;
  const payload = o + header;
  if (payload < end && (flags & TCP_FLAG.rst) === 0) e.tcp.payload(e, b, payload, end, wire, analysed);
}
