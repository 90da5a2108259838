/** Random stacks of headers: every encapsulation in every other, cut and bent at random. */
import {
  ACK,
  type Bytes,
  bytes,
  type Captured,
  dns,
  eth,
  ip4,
  ip6,
  PSH,
  RST,
  random,
  SYN,
  tcp,
  u16,
  u32,
  udp,
  vlanTag,
  zeros,
} from './craft.ts';

type Random = ReturnType<typeof random>;

/** What an Ethernet type can announce. */
interface Typed {
  readonly type: number;
  readonly data: Bytes;
}

export function chaoticStacks(seed: number, packets: number, damage: boolean): Captured[] {
  const r = random(seed);
  const frames: Captured[] = [];
  for (let i = 0; i < packets; i++) {
    const data = frame(r, 0);
    const bent = damage && r.int(3) === 0 ? bend(r, data) : data;
    const cut = damage && r.int(4) === 0 ? bent.slice(0, Math.max(1, r.int(bent.length + 1))) : bent;
    frames.push({ data: cut, length: bent.length, seconds: 1_600_000_000 + i, nanoseconds: 0 });
  }
  return frames;
}

function bend(r: Random, data: Bytes): Bytes {
  const copy = Uint8Array.from(data);
  for (let n = 1 + r.int(3); n > 0; n--)
    copy[r.int(copy.length)] = r.pick([0, 1, 4, 6, 17, 0x45, 0x60, 0xff, r.int(256)]);
  return copy;
}

function frame(r: Random, depth: number): Bytes {
  const { type, data } = typed(r, depth);
  if (r.int(12) === 0 && data.length < 1400) {
    const llc = bytes([0xaa, 0xaa, 3, 0, 0, 0], u16(type), data);
    return eth(llc.length, llc);
  }
  return eth(type, data);
}

function typed(r: Random, depth: number): Typed {
  const kind = depth > 4 ? r.int(3) : r.int(14);
  switch (kind) {
    case 0:
    case 1:
    case 2:
    case 3:
      return { type: 0x0800, data: packet4(r, depth) };
    case 4:
    case 5:
    case 6:
      return { type: 0x86dd, data: packet6(r, depth) };
    case 7:
      return { type: 0x0806, data: arp(r) };
    case 8:
    case 9: {
      const inner = typed(r, depth + 1);
      return {
        type: r.pick([0x8100, 0x8100, 0x88a8, 0x9100]),
        data: vlanTag(r.int(4096), inner.type, inner.data),
      };
    }
    case 10:
    case 11:
      return { type: r.pick([0x8847, 0x8848]), data: labels(r, depth) };
    case 12:
      return { type: 0x8864, data: pppoe(r, depth) };
    default:
      return { type: 0x6558, data: frame(r, depth + 1) };
  }
}

function arp(r: Random): Bytes {
  return bytes(
    u16(1),
    u16(0x0800),
    [6, 4],
    u16(r.pick([1, 2, 1, 2, 3, 8])),
    [2, 0, 0, 0, 0, 1, 10, 0, 0, r.int(4), 2, 0, 0, 0, 0, 2, 10, 0, 0, r.int(4)],
    zeros(r.pick([0, 18])),
  );
}

function labels(r: Random, depth: number): Bytes {
  const stack: Bytes[] = [];
  const n = 1 + r.int(3);
  for (let i = 0; i < n; i++) {
    const label = r.pick([16, 100, 1000, 70_000, 0, 2, 3]);
    stack.push(u32((label << 12) | (i === n - 1 ? 0x100 : 0) | 64));
  }
  const inner = r.pick<() => Bytes>([
    () => packet4(r, depth + 1),
    () => packet4(r, depth + 1),
    () => packet6(r, depth + 1),
    () => bytes(zeros(4), frame(r, depth + 1)),
    () => frame(r, depth + 1),
  ]);
  return bytes(...stack, inner());
}

function pppoe(r: Random, depth: number): Bytes {
  const four = r.int(2) === 0;
  const inner = bytes(u16(four ? 0x0021 : 0x0057), four ? packet4(r, depth + 1) : packet6(r, depth + 1));
  return bytes([0x11, 0], u16(1), u16(inner.length), inner);
}

function packet4(r: Random, depth: number): Bytes {
  const { protocol, data } = transport(r, depth, 4);
  const addresses = { src: [10, 0, 0, 1 + r.int(3)], dst: [10, 0, 1, 1 + r.int(3)] };
  const options = r.int(10) === 0 ? [148, 4, 0, 0] : [];
  return ip4(protocol, data, { ...addresses, options, id: r.int(65_536), ttl: 10 + r.int(200) });
}

function packet6(r: Random, depth: number): Bytes {
  let { protocol, data } = transport(r, depth, 6);
  for (let n = r.pick([0, 0, 0, 0, 1, 2]); n > 0; n--) {
    const header = r.pick([0, 60, 43, 51, 44]);
    data = extension(r, header, protocol, data);
    protocol = header;
  }
  return ip6(protocol, data, { src: 1 + r.int(3), dst: 10 + r.int(3) });
}

function extension(r: Random, header: number, next: number, data: Bytes): Bytes {
  if (header === 51) return bytes(next, 4, zeros(22), data);
  if (header === 44) return bytes(next, 0, u16(0), u32(r.int(100)), data);
  if (header === 43) return bytes(next, 2, 0, r.int(2), zeros(4), zeros(15), 77, data);
  return bytes(next, 0, [1, 4, 0, 0, 0, 0], data);
}

function transport(r: Random, depth: number, version: 4 | 6): { protocol: number; data: Bytes } {
  const kind = depth > 4 ? r.int(7) : r.int(12);
  switch (kind) {
    case 0:
    case 1:
      return { protocol: 17, data: datagram(r, depth) };
    case 2:
    case 3:
      return {
        protocol: 17,
        data: udp(1024 + r.int(4), 53, dns({ id: r.int(4), flags: r.pick([0x0100, 0x8180, 0x8183]) })),
      };
    case 4:
    case 5: {
      const flags = r.pick([ACK, ACK | PSH, SYN, SYN | ACK, RST, ACK]);
      const payload = zeros(r.pick([0, 0, 10]));
      return {
        protocol: 6,
        data: tcp({ src: 2000 + r.int(3), dst: 8081, seq: 1000, ack: 5, flags, payload }),
      };
    }
    case 6:
    case 7:
      return version === 4 ? { protocol: 1, data: icmp4(r, depth) } : { protocol: 58, data: icmp6(r, depth) };
    case 8:
      return { protocol: 4, data: packet4(r, depth + 1) };
    case 9:
      return { protocol: 41, data: packet6(r, depth + 1) };
    default:
      return { protocol: 47, data: gre(r, depth) };
  }
}

function icmp4(r: Random, depth: number): Bytes {
  const type = r.pick([0, 8, 8, 3, 3, 11, 5, 12, 13, 4]);
  const code = r.int(5);
  if (type === 3 || type === 11 || type === 5 || type === 12 || type === 4) {
    const quoted = packet4(r, depth + 3);
    return bytes(type, code, [0, 0, 0, 0, 0, 0], quoted.slice(0, r.pick([28, 28, 60, quoted.length])));
  }
  return bytes(type, 0, [0, 0], u16(1), u16(r.int(5)), zeros(r.pick([0, 20])));
}

function icmp6(r: Random, depth: number): Bytes {
  const type = r.pick([128, 129, 1, 2, 3, 4, 135, 136, 143]);
  if (type <= 4) return bytes(type, 0, [0, 0, 0, 0, 0, 0], packet6(r, depth + 3));
  return bytes(type, 0, [0, 0], zeros(20));
}

function gre(r: Random, depth: number): Bytes {
  const flags = r.pick([0, 0x2000, 0x1000, 0x3000, 0x8000, 0xb000]);
  const optional = zeros((flags & 0x8000 ? 4 : 0) + (flags & 0x2000 ? 4 : 0) + (flags & 0x1000 ? 4 : 0));
  const [type, data] = r.pick<() => [number, Bytes]>([
    () => [0x0800, packet4(r, depth + 1)],
    () => [0x86dd, packet6(r, depth + 1)],
    () => [0x6558, frame(r, depth + 1)],
    () => [0x8847, labels(r, depth + 1)],
    () => [
      0x88be,
      (flags & 0x1000) !== 0 ? bytes([0x10, 1, 0, 0, 0, 0, 0, 0], frame(r, depth + 1)) : frame(r, depth + 1),
    ],
    () => [0x22eb, bytes([0x20, 1], zeros(10), frame(r, depth + 1))],
    () => [0x880b, bytes(u16(0x0021), packet4(r, depth + 1))],
  ])();
  return bytes(u16(flags), u16(type), optional, data);
}

function datagram(r: Random, depth: number): Bytes {
  if (depth > 4) return udp(3000 + r.int(3), 4000, zeros(r.int(20)));
  const port = 40_000 + r.int(3);
  return r.pick<() => Bytes>([
    () => udp(port, 4000, zeros(r.int(20))),
    () => udp(port, 4789, bytes([8, 0, 0, 0], u32(r.int(100) << 8), frame(r, depth + 1))),
    () => udp(port, 4790, bytes([0x0c, 0, 0, 1], u32(0), packet4(r, depth + 1))),
    () => udp(port, 6081, bytes([0, 0], u16(0x6558), u32(5 << 8), frame(r, depth + 1))),
    () => udp(port, 6081, bytes([1, 0], u16(0x0800), u32(5 << 8), zeros(4), packet4(r, depth + 1))),
    () => gtp(r, port, depth),
    () => udp(port, 3544, packet6(r, depth + 1)),
    () => udp(5353, 5353, dns({ flags: r.pick([0, 0x8400]) })),
    () => udp(port, 5355, dns()),
    () => udp(1701, 1701, bytes([0, 2], u16(1), u16(1), [0xff, 3], u16(0x0021), packet4(r, depth + 1))),
    () => udp(port, 4341, bytes(zeros(8), packet4(r, depth + 1))),
    () => udp(port, 6635, labels(r, depth + 1)),
  ])();
}

function gtp(r: Random, port: number, depth: number): Bytes {
  const inner = r.int(2) === 0 ? packet4(r, depth + 1) : packet6(r, depth + 1);
  return udp(port, 2152, bytes([0x30, 255], u16(inner.length), u32(7), inner));
}
