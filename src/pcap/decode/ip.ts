/**
 * IPv4 and IPv6: addresses become those of the packet in hand (the innermost ones stay), fragments are put
 * together when they are whole in the capture, and the payload goes on to its protocol.
 */
import type { Engine } from '../engine.ts';
import { i32be, u16be } from '../read/bytes.ts';
import { HAS } from './bits.ts';
import { MAX_DEPTH } from './ethernet.ts';
import { ipProtocol } from './ip-protocol.ts';

const MORE_FRAGMENTS = 0x2000;
const DONT_FRAGMENT = 0x4000;
/** A packet that goes in circles passes every TTL: it is enough to watch the low ones. */
const LOW_TTL = 30;
const JUMBO_OPTION = 0xc2;

export function ipv4(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o >= end || ++e.depth > MAX_DEPTH) return;
  const first = b[o]!;
  if (first >> 4 === 6) {
    // Announced as IPv4, but it is not: both are counted, as analysers do.
    ipv6(e, b, o, end, wire, false);
    e.bits |= HAS.ip;
    return;
  }
  if ((e.bits & (HAS.ip | HAS.ipv6)) !== 0) e.bits |= HAS.tunnel;
  e.bits |= HAS.ip;
  const header = (first & 15) << 2;
  if (first >> 4 !== 4 || header < 20) {
    e.bits |= HAS.malformed;
    return;
  }
  if (o + 8 > end) return;
  let total = u16be(b, o + 2);
  // Length zero is segmentation offload seen from inside the host: the frame's own length counts.
  if (total === 0) total = wire - o;
  if (total < header) {
    e.bits |= HAS.malformed;
    return;
  }
  const fragment = u16be(b, o + 6);
  if ((fragment & (MORE_FRAGMENTS | 0x1fff)) !== 0) e.bits |= HAS.fragment;
  if (o + 20 > end) return;
  const protocol = b[o + 9]!;
  e.family = 4;
  e.src[0] = i32be(b, o + 12);
  e.dst[0] = i32be(b, o + 16);
  e.ttl = b[o + 8]!;
  e.ipId = u16be(b, o + 4);
  e.dontFragment = (fragment & DONT_FRAGMENT) !== 0;
  if (e.facts && e.ttl <= LOW_TTL) e.loops.ipv4(e, b, o, end);
  const payload = o + header;
  const stop = Math.min(wire, o + total);
  const last = Math.min(end, stop);
  if ((fragment & (MORE_FRAGMENTS | 0x1fff)) !== 0) {
    const offset = (fragment & 0x1fff) << 3;
    const more = (fragment & MORE_FRAGMENTS) !== 0;
    fragmentOf(e, b, payload, last, stop, o + total, protocol, offset, more, e.ipId);
    return;
  }
  e.fragmented = false;
  if (payload > last || payload >= stop) return;
  ipProtocol(e, b, payload, last, stop, protocol);
}

/** What is announced as IP and may be either version. */
export function ip(e: Engine, b: Uint8Array, o: number, end: number, wire: number): void {
  if (o < end && b[o]! >> 4 === 6) ipv6(e, b, o, end, wire, false);
  else ipv4(e, b, o, end, wire);
}

/** `claimed` is where the header says the fragment ends: only fragments captured to there are kept. */
export function fragmentOf(
  e: Engine,
  b: Uint8Array,
  payload: number,
  end: number,
  wire: number,
  claimed: number,
  protocol: number,
  offset: number,
  more: boolean,
  id: number,
): void {
  if (end >= claimed && payload <= end) {
    const whole = e.fragments.add(e, b, payload, claimed, protocol, offset, more, id);
    if (whole === undefined) return;
    e.fragmented = false;
    ipProtocol(e, whole, 0, whole.length, whole.length, protocol);
    return;
  }
  // Cut by the capture: a first fragment still shows its header, of IPv6 only one that is the whole packet.
  if (offset !== 0 || payload > end || (more && e.family === 6)) return;
  e.fragmented = more;
  ipProtocol(e, b, payload, end, wire, protocol);
  e.fragmented = false;
}

export function ipv6(e: Engine, b: Uint8Array, o: number, end: number, wire: number, _strict: boolean): void {
  if (++e.depth > MAX_DEPTH) return;
  if (o >= end) {
    // Announced, and not a byte of it there: that counts.
    e.bits |= HAS.ipv6;
    return;
  }
  if (b[o]! >> 4 !== 6) {
    e.bits |= HAS.ipv6 | HAS.malformed;
    return;
  }
  if ((e.bits & (HAS.ip | HAS.ipv6)) !== 0) e.bits |= HAS.tunnel;
  e.bits |= HAS.ipv6;
  if (o + 40 > end) return;
  const length = u16be(b, o + 4);
  const next = b[o + 6]!;
  e.family = 6;
  for (let i = 0; i < 4; i++) {
    e.src[i] = i32be(b, o + 8 + (i << 2));
    e.dst[i] = i32be(b, o + 24 + (i << 2));
  }
  e.ttl = b[o + 7]!;
  e.ipId = 0;
  e.dontFragment = true;
  e.fragmented = false;
  const stop = Math.min(wire, o + 40 + length);
  // A jumbogram says length zero and its real length in a hop-by-hop option.
  const jumbo = length === 0 && next === 0 && o + 43 <= end && b[o + 42] === JUMBO_OPTION;
  const limit = jumbo ? wire : stop;
  ipProtocol(e, b, o + 40, Math.min(end, limit), limit, next);
}
