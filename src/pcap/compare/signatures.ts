import { u16be, u32be } from '../read/bytes.ts';
import { readCapture } from '../read/capture-file.ts';
import type { FrameSink } from '../read/sink.ts';

/**
 * What identifies a packet at two places: addresses, ports, sequence, length and IP id, with the time it was
 * seen. IPv4 and IPv6 over Ethernet, Linux cooked and raw captures; other frames are left out.
 */
export interface Sighting {
  readonly key: string;
  readonly source: string;
  readonly destination: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Hash of what must not change on the way (payload). */
  readonly content: number;
}

/** Enough for a five-minute capture of a busy machine; more is sampled by not being kept. */
const MAX_SIGHTINGS = 400_000;

export async function sightingsOf(
  path: string,
): Promise<{ readonly sightings: readonly Sighting[]; readonly cut: boolean }> {
  const sightings: Sighting[] = [];
  let cut = false;
  const sink: FrameSink = {
    frame(bytes, start, captured, _length, seconds, nanoseconds, link) {
      if (sightings.length >= MAX_SIGHTINGS) {
        cut = true;
        return;
      }
      const sighting = sightingOf(bytes, start, start + captured, seconds * 1000 + nanoseconds / 1e6, link);
      if (sighting !== undefined) sightings.push(sighting);
    },
  };
  await readCapture(path, sink);
  return { sightings, cut };
}

function sightingOf(
  b: Uint8Array,
  start: number,
  end: number,
  at: number,
  link: number,
): Sighting | undefined {
  const ip = networkStart(b, start, end, link);
  if (ip === undefined || ip + 20 > end) return undefined;
  return b[ip]! >> 4 === 4 ? ipv4(b, ip, end, at) : undefined;
}

function networkStart(b: Uint8Array, start: number, end: number, link: number): number | undefined {
  if (link === 101 || link === 12 || link === 228) return start;
  if (link === 113) return start + 16;
  if (link !== 1 || start + 14 > end) return undefined;
  let at = start + 12;
  while (at + 4 <= end && (u16be(b, at) === 0x8100 || u16be(b, at) === 0x88a8)) at += 4;
  return u16be(b, at) === 0x0800 ? at + 2 : undefined;
}

function ipv4(b: Uint8Array, ip: number, end: number, at: number): Sighting | undefined {
  const header = (b[ip]! & 15) * 4;
  const total = Math.min(u16be(b, ip + 2), end - ip);
  const protocol = b[ip + 9]!;
  const source = dotted(b, ip + 12);
  const destination = dotted(b, ip + 16);
  const l4 = ip + header;
  const last = ip + total;
  const id = u16be(b, ip + 4);
  if (protocol === 6 && l4 + 20 <= last) {
    const payload = l4 + (b[l4 + 12]! >> 4) * 4;
    const length = Math.max(0, last - payload);
    return {
      key: `t${source}${u16be(b, l4)}>${destination}${u16be(b, l4 + 2)} ${u32be(b, l4 + 4)} ${u32be(b, l4 + 8)} ${b[l4 + 13]} ${length} ${id}`,
      source,
      destination,
      at,
      content: hash(b, payload, last),
    };
  }
  if (protocol === 17 && l4 + 8 <= last)
    return {
      key: `u${source}${u16be(b, l4)}>${destination}${u16be(b, l4 + 2)} ${u16be(b, l4 + 4)} ${id}`,
      source,
      destination,
      at,
      content: hash(b, l4 + 8, last),
    };
  if (protocol === 1 && l4 + 8 <= last)
    return {
      key: `i${source}>${destination} ${b[l4]} ${u32be(b, l4 + 4)} ${id}`,
      source,
      destination,
      at,
      content: hash(b, l4 + 8, last),
    };
  return undefined;
}

const dotted = (b: Uint8Array, o: number) => `${b[o]}.${b[o + 1]}.${b[o + 2]}.${b[o + 3]}`;

/** FNV-1a: enough to notice a changed byte between two honest captures. */
function hash(b: Uint8Array, from: number, to: number): number {
  let h = 0x811c9dc5;
  for (let i = from; i < to; i++) h = Math.imul(h ^ b[i]!, 0x01000193);
  return h >>> 0;
}
