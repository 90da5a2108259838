/** Datagrams in pieces: late, twice, overlapping, missing; and DNS over TCP cut anywhere. */
import {
  ACK,
  type Bytes,
  bytes,
  type Captured,
  dns,
  eth,
  FIN,
  ip4,
  ip6,
  PSH,
  random,
  SYN,
  tcp,
  u16,
  u32,
  udp,
} from './craft.ts';

export function fragmentedDatagrams(seed: number, datagrams: number): Captured[] {
  const r = random(seed);
  const out: { readonly order: number; readonly data: Bytes }[] = [];
  for (let n = 0; n < datagrams; n++) {
    const payload = udp(
      2000 + n,
      53,
      bytes(dns({ id: n, flags: r.pick([0x0100, 0x8180]) }), new Uint8Array(r.int(200))),
    );
    const six = r.int(2) === 0;
    const id = r.pick([n, n, n, 7]);
    const step = 8 * (1 + r.int(6));
    for (let at = 0; at < payload.length; at += step) {
      const overlap = r.int(15) === 0 && at > 0 ? 8 : 0;
      const start = at - overlap;
      const piece = payload.slice(start, at + step);
      const more = at + step < payload.length;
      const frame = six ? fragment6(piece, start, more, id) : fragment4(piece, start, more, id);
      const order = n * 10 + at / 100 + (r.int(6) === 0 ? r.int(30) : 0);
      if (r.int(40) !== 0) out.push({ order, data: frame });
      if (r.int(20) === 0) out.push({ order: order + r.int(5), data: frame });
    }
  }
  return out
    .sort((a, b) => a.order - b.order)
    .map(({ data }, i) => ({ data, seconds: 1_600_000_000, nanoseconds: i * 1000 }));
}

function fragment4(piece: Bytes, offset: number, more: boolean, id: number): Bytes {
  return eth(0x0800, ip4(17, piece, { id, fragment: (more ? 0x2000 : 0) | (offset >> 3) }));
}

function fragment6(piece: Bytes, offset: number, more: boolean, id: number): Bytes {
  return eth(0x86dd, ip6(44, bytes(17, 0, u16(offset | (more ? 1 : 0)), u32(id), piece)));
}

/** One connection to port 53 with messages back to back, segmented and shuffled at random. */
export function dnsOverTcp(seed: number, messages: number, disorder: boolean): Captured[] {
  const r = random(seed);
  let stream: Bytes = new Uint8Array(0);
  for (let n = 0; n < messages; n++) {
    const message = bytes(
      dns({ id: n, flags: r.pick([0x0100, 0x8180, 0x8183]), name: `host${n}.example.com` }),
      new Uint8Array(r.pick([0, 0, 20, 300])),
    );
    stream = bytes(stream, u16(message.length), message);
  }
  const base = r.pick([1000, 0xffff_ff80]);
  const frames: { readonly order: number; readonly data: Bytes }[] = [
    { order: -2, data: segment(base - 1, SYN, []) },
    { order: -1, data: segment(base, ACK, []) },
  ];
  let at = 0;
  for (let n = 0; at < stream.length; n++) {
    const size = r.pick([1, 2, 3, 20, 50, 100, 500]);
    const data = segment(base + at, ACK | PSH, stream.slice(at, at + size));
    const late = disorder && r.int(8) === 0 ? 1 + r.int(4) : 0;
    if (!disorder || r.int(30) !== 0) frames.push({ order: n + late, data });
    if (disorder && r.int(15) === 0) frames.push({ order: n + r.int(6), data });
    at += size;
  }
  frames.push({ order: 1e9, data: segment(base + at, FIN | ACK, []) });
  let time = 0;
  return frames
    .sort((a, b) => a.order - b.order)
    .map(({ data }) => {
      time += r.pick([10_000, 100_000, 5_000_000, 30_000_000]);
      return { data, seconds: 1_600_000_000 + Math.floor(time / 1e9), nanoseconds: time % 1e9 };
    });
}

function segment(seq: number, flags: number, payload: ArrayLike<number>): Bytes {
  return eth(0x0800, ip4(6, tcp({ src: 40_000, dst: 53, seq: seq >>> 0, ack: 1, flags, payload })));
}
