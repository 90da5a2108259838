/** Framings seldom met, each with what it carries: found in public captures, made again from bytes of our own. */
import { deflateRawSync, deflateSync } from 'node:zlib';
import {
  ACK,
  type Bytes,
  bytes,
  type Captured,
  dns,
  eth,
  ip4,
  ip6,
  SYN,
  tcp,
  u16,
  u32,
  udp,
  zeros,
} from './craft.ts';

const syn = tcp({ src: 1000, dst: 80, seq: 5, ack: 0, flags: SYN });
const four = ip4(6, syn);
const inner = eth(0x0800, four);

const arista = (subtype: number, version: number, time: number) =>
  eth(0xd28b, bytes(u16(subtype), subtype === 1 ? u16(version) : [], zeros(time), u16(0x0800), four));

const macsec = (control: number) =>
  eth(
    0x88e5,
    bytes(control, 0, zeros(4), (control & 0x20) !== 0 ? zeros(8) : [], u16(0x0800), four, zeros(16)),
  );

const atmArp = (lengths: readonly [number, number, number, number, number, number]) => {
  const [sht, sst, sp, tht, tst, tp] = lengths;
  return eth(
    0x0806,
    bytes(u16(19), u16(0x0800), sht, sst, u16(1), sp, tht, tst, tp, zeros(sht + sst + sp + tht + tst + tp)),
  );
};

const packed = (data: Uint8Array, next: number) => bytes(next, 0, u16(2), data);

const rawRecord = (protocol: number, header: Bytes, length: number) => {
  const padded = bytes(header, zeros((4 - (header.length & 3)) & 3));
  return bytes(
    u32(1),
    u32(16 + padded.length),
    u32(protocol),
    u32(length),
    u32(0),
    u32(header.length),
    padded,
  );
};
const flowSample = (expanded: boolean, ...records: readonly Bytes[]) => {
  const body = bytes(zeros(expanded ? 40 : 28), u32(records.length), ...records);
  return bytes(u32(expanded ? 3 : 1), u32(body.length), body);
};
const sflow = (agent: 4 | 16, ...samples: readonly Bytes[]) =>
  eth(
    0x0800,
    ip4(
      17,
      udp(
        40_000,
        6343,
        bytes(u32(5), u32(agent === 4 ? 1 : 2), zeros(agent), zeros(12), u32(samples.length), ...samples),
      ),
    ),
  );
const extended = bytes(u32(1001), u32(16), zeros(16));

/** A get request of version 2, as one would write it by hand. */
const request = bytes(
  [0x30, 0x26, 2, 1, 1, 4, 6],
  'public',
  [0xa0, 0x19, 2, 1, 1, 2, 1, 0, 2, 1, 0, 0x30, 0x0e, 0x30, 0x0c, 6, 8, 0x2b, 6, 1, 2, 1, 1, 1, 0, 5, 0],
);
const query = (from: number, to: number, payload: Bytes, back = false) =>
  eth(0x0800, ip4(17, udp(from, to, payload), back ? { src: [10, 0, 0, 2], dst: [10, 0, 0, 1] } : {}));

/** Streams of SNMP: one packet, both ways, what is no SNMP on its port. */
export function snmpFrames(): Bytes[] {
  return [
    query(2000, 161, request),
    query(2001, 161, request),
    query(161, 2001, request, true),
    query(2001, 161, request),
    query(2002, 161, bytes('hello, whoever listens')),
    query(2002, 161, request),
    query(2002, 161, request),
    query(2003, 162, bytes(0x30, 0x82, u16(0x26), request.slice(2))),
    query(2003, 162, bytes(0x30, 0x82, u16(0x26), request.slice(2))),
    query(161, 162, request),
    query(161, 53, dns()),
  ];
}

export function uncommonFrames(): Bytes[] {
  return [
    eth(0xf1c1, bytes(zeros(2), u16(7), u16(0x0800), four)),
    eth(0xf1c1, bytes(zeros(2), u16(7), u16(0x0806), u16(1), u16(0x0800), [6, 4], u16(2), zeros(20))),
    arista(1, 0x10, 8),
    arista(1, 0x110, 8),
    arista(1, 0x20, 6),
    arista(1, 0x120, 6),
    arista(1, 0x30, 8),
    arista(2, 0, 0),
    eth(0x8903, bytes(u16(0x4020), inner, zeros(4))),
    eth(0x8100, bytes(u16(5), u16(0x8903), u16(0x4020), inner, zeros(4))),
    eth(0x88a8, bytes(u16(5), u16(0x8903), u16(0x4020), inner, zeros(4))),
    ...[0x00, 0x20, 0x04, 0x24, 0x08, 0x2c, 0x80].map(macsec),
    eth(0x890d, bytes(2, 0x0c, 0x0a, zeros(40))),
    atmArp([6, 0, 4, 6, 0, 4]),
    eth(0x0806, bytes(u16(19), u16(0x0800), [6, 4], u16(1), [60, 60, 60, 60], zeros(30))),
    eth(0x0800, ip4(108, packed(deflateRawSync(syn), 6))),
    eth(0x0800, ip4(108, packed(deflateSync(syn), 6))),
    eth(0x0800, ip4(108, packed(bytes(5, zeros(20)), 6))),
    eth(0x86dd, ip6(108, packed(deflateRawSync(udp(1000, 53, dns())), 17))),
    sflow(4, flowSample(false, extended, rawRecord(1, inner, 64))),
    sflow(16, flowSample(true, rawRecord(1, inner.slice(0, 40), 1400))),
    sflow(
      4,
      flowSample(false, rawRecord(11, four, four.length)),
      flowSample(false, rawRecord(12, ip6(17, udp(9, 9, [])), 48)),
    ),
    sflow(
      4,
      bytes(u32(2), u32(8), zeros(8)),
      flowSample(true, rawRecord(13, bytes(u32((100 << 12) | 0x140), four), 64)),
    ),
    eth(0x0800, ip4(6, tcp({ src: 80, dst: 1000, seq: 9, ack: 6, flags: SYN | ACK }))),
  ];
}

/** Numbers half the range apart, ahead and behind: each is later than the other. */
export function halfRangeApart(): Bytes[] {
  const segment = (seq: number, ack: number, size: number) =>
    eth(0x0800, ip4(6, tcp({ src: 1000, dst: 80, seq, ack, flags: ACK, payload: zeros(size) })));
  const answer = (seq: number, ack: number, size: number) =>
    eth(
      0x0800,
      ip4(6, tcp({ src: 80, dst: 1000, seq, ack, flags: ACK, payload: zeros(size) }), {
        src: [10, 0, 0, 2],
        dst: [10, 0, 0, 1],
      }),
    );
  const half = 0x8000_0000;
  return [
    segment(100, 500, 10),
    answer(500, 110, 20),
    segment(110 + half, 520, 10),
    answer(520, 110 + half, 10),
    segment(110, 530, 10),
    answer(530 + half, 120, 0),
    segment(120 + half - 10, 530, 10),
  ];
}

/** Every frame cut at every length, as a short capture length does. */
export function cutFrames(frames: readonly Bytes[]): Captured[] {
  return frames.flatMap((data) =>
    Array.from({ length: data.length - 14 }, (_, i) => ({
      data: data.slice(0, 14 + i),
      length: data.length,
    })),
  );
}

/** First fragments over either version of IP, one of them alone: cut, they show more or less. */
export function firstFragments(): Bytes[] {
  const question = udp(1000, 53, dns());
  const six = (more: number) => eth(0x86dd, ip6(44, bytes(17, 0, u16(more), u32(77), question)));
  return [six(1), six(0), eth(0x0800, ip4(17, question, { fragment: 0x2000 }))];
}

/** Teredo with an authentication and an origin in front. */
export function teredoFrames(): Bytes[] {
  const six = ip6(58, bytes(133, 0, zeros(6)));
  const authentication = bytes(u16(1), [2, 3], zeros(2), zeros(3), zeros(8), 0);
  const origin = bytes(u16(0), zeros(6));
  return [six, bytes(origin, six), bytes(authentication, six), bytes(authentication, origin, six)].map(
    (data) => eth(0x0800, ip4(17, udp(3544, 50_000, data))),
  );
}

/** 802.11 frames cut after each of their first bytes, in all versions. */
export function cutWlanFrames(): Bytes[] {
  const out: Bytes[] = [];
  for (const [first, flags] of [
    [0x08, 0],
    [0x08, 3],
    [0x88, 0],
    [0x88, 3],
    [0x88, 0x80],
    [0x80, 0],
    [0x30, 0x30],
    [0x74, 0],
    [0xd4, 0],
    [0x09, 0],
    [0x0a, 0],
  ] as const) {
    const whole = bytes(first, flags, zeros(2), [0, 0x0c, 0x29, 1, 2, 3], zeros(34));
    for (const length of [1, 2, 9, 10, 11, 12, 16, 24, 25, 26, 31, 32, 36]) out.push(whole.slice(0, length));
  }
  return out;
}
