/** sFlow version 5: samples of traffic, each with the first bytes of a packet. Those are counted, not analysed. */
import type { Engine } from '../engine.ts';
import { u32be } from '../read/bytes.ts';
import { ethernet, MAX_DEPTH } from './ethernet.ts';
import { aside } from './icmp.ts';
import { ip, ipv6 } from './ip.ts';
import { ppp } from './link-tunnels.ts';
import { mpls } from './mpls.ts';
import { wlan } from './wlan.ts';

const FLOW_SAMPLE = 1;
const EXPANDED_FLOW_SAMPLE = 3;
const RAW_HEADER = 1;
const MAX_SAMPLES = 256;

export function sflow(e: Engine, b: Uint8Array, o: number, end: number): void {
  if (o + 8 > end || u32be(b, o) !== 5 || ++e.depth > MAX_DEPTH) return;
  e.note('sflow');
  const agent = u32be(b, o + 4) === 2 ? 16 : 4;
  let at = o + 8 + agent + 16;
  for (let i = 0; i < MAX_SAMPLES && at + 8 <= end; i++) {
    const kind = u32be(b, at);
    const next = at + 8 + u32be(b, at + 4);
    const stop = Math.min(end, next);
    if (kind === FLOW_SAMPLE) records(e, b, at + 8 + 28, stop);
    else if (kind === EXPANDED_FLOW_SAMPLE) records(e, b, at + 8 + 40, stop);
    at = next;
  }
}

/** A count, then records of a format and a length each. */
function records(e: Engine, b: Uint8Array, o: number, end: number): void {
  if (o + 4 > end) return;
  let at = o + 4;
  for (let left = Math.min(u32be(b, o), MAX_SAMPLES); left > 0 && at + 8 <= end; left--) {
    const next = at + 8 + u32be(b, at + 4);
    if (u32be(b, at) === RAW_HEADER && at + 24 <= end) sampled(e, b, at + 8, end);
    at = next;
  }
}

/** Protocol, length of the frame, bytes left out, bytes that follow. */
function sampled(e: Engine, b: Uint8Array, o: number, limit: number): void {
  const protocol = u32be(b, o);
  const start = o + 16;
  const length = u32be(b, o + 12);
  const end = start + length;
  // Padded to four bytes, and worth nothing when it is not all there.
  if (end + ((4 - (length & 3)) & 3) > limit) return;
  const wire = Math.max(end, start + u32be(b, o + 4));
  aside(e, () => {
    switch (protocol) {
      case 1:
        ethernet(e, b, start, end, wire);
        break;
      case 7:
        ppp(e, b, start, end, wire);
        break;
      case 9:
        wlan(e, b, start, end, wire);
        break;
      case 11:
        ip(e, b, start, end, wire);
        break;
      case 12:
        ipv6(e, b, start, end, wire, false);
        break;
      case 13:
        mpls(e, b, start, end, wire);
        break;
      default:
    }
  });
}
