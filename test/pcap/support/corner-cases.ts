/** Frames on which readers differ easily: empty payloads, lengths that lie, payloads nothing announces. */
import { type Bytes, bytes, eth, ip4, ip6, SYN, tcp, u16, u32, udp, vlanTag, zeros } from './craft.ts';

const segment = tcp({ src: 1, dst: 2, seq: 5, ack: 0, flags: SYN });
const packet = ip4(6, segment);
const gre = (flags: number, type: number, ...rest: readonly Bytes[]) =>
  eth(0x0800, ip4(47, bytes(u16(flags), u16(type), ...rest)));
const gtp = (length: number) =>
  eth(0x0800, ip4(17, udp(40_000, 2152, bytes([0x30, 255], u16(length), u32(7), packet))));
const unreachable = (quoted: Bytes) => eth(0x0800, ip4(1, bytes(3, 1, zeros(6), quoted)));
const labelled = (payload: Bytes) => eth(0x8847, bytes(u32((100 << 12) | 0x140), payload));
const from = [0, 0x0c, 0x29, 1, 2, 3];
const bridged = (to: readonly number[], source = from) => eth(0x0800, packet, source, [...to]);

/** Destinations of pseudowires: registered, of a group, local, and such that no control word can be told. */
const MACS = [
  [0x20, 0x37, 6, 1, 2, 3],
  [0x34, 0x15, 0x9e, 1, 2, 3],
  [0xd4, 0x61, 0x9d, 1, 2, 3],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0x33, 0x33, 0, 0, 0, 1],
  [0x01, 0, 0x5e, 0, 0, 1],
  [0x02, 0, 0, 0, 0, 1],
  [0x00, 0x1b, 0x21, 1, 2, 3],
  [0x0e, 1, 2, 3, 4, 5],
];

export function cornerCases(): Bytes[] {
  return [
    eth(0x86dd, []),
    eth(0x0800, []),
    eth(0x0806, []),
    eth(0x8100, vlanTag(5, 0x86dd, [])),
    eth(0x86dd, ip6(58, zeros(24), { length: 0 })),
    ...[58, 6, 17, 1, 41, 4, 47].map((next) => eth(0x86dd, ip6(next, []))),
    ...[58, 41, 4, 1, 6].map((protocol) => eth(0x0800, ip4(protocol, []))),
    eth(0x86dd, ip6(6, segment, { length: 0 })),
    gre(0x1000, 0x86dd, zeros(4)),
    gre(0x1000, 0x0800, zeros(4)),
    gre(0, 0x86dd),
    gre(0x2081, 0x880b, zeros(8)),
    gre(1, 0x88be, eth(0x0806, bytes(u16(1), u16(0x0800), 6, 4, u16(2), zeros(20)))),
    gre(1, 0x0800, packet),
    eth(0x0800, ip4(6, segment, { length: 1, fragment: 0x45 })),
    eth(0x0800, ip4(6, segment, { length: 19, fragment: 0x2000 })),
    unreachable(ip4(41, ip6(58, zeros(24)).slice(0, 40), { length: 84 })),
    unreachable(ip4(41, ip6(6, zeros(24)).slice(0, 40), { length: 84 })),
    unreachable(ip4(58, [], { length: 84 })),
    ...[0, 1, 30, 40, 300].map(gtp),
    ...MACS.flatMap((mac) => [labelled(bridged(mac)), labelled(bytes(zeros(4), bridged(mac)))]),
    ...[
      [2, 0, 0, 0, 0, 1],
      [0xfe, 1, 2, 3, 4, 5],
    ].map((source) => labelled(bridged([0, 0x1b, 0x21, 1, 2, 3], source))),
  ];
}
