/** One small capture a link type: what each framing can carry, and what it must not be taken for. */
import { type Bytes, bytes, dns, eth, ip4, ip6, SYN, tcp, u16, u32, udp, vlanTag, zeros } from './craft.ts';

const four = ip4(17, udp(1000, 53, dns()));
const six = ip6(17, udp(1000, 53, dns()));
const syn = ip4(6, tcp({ src: 1000, dst: 80, seq: 5, ack: 6, flags: SYN }));
const arp = bytes(u16(1), u16(0x0800), [6, 4], u16(1), zeros(20));
const frame = eth(0x0800, four);

const le16 = (value: number) => u16(value).reverse();
const le32 = (value: number) => u32(value).reverse();
const snap = (type: number, data: Bytes) => bytes([0xaa, 0xaa, 3, 0, 0, 0], u16(type), data);

function cooked(protocol: number, data: ArrayLike<number>, hardware = 1): Bytes {
  return bytes(u16(0), u16(hardware), u16(6), zeros(8), u16(protocol), data);
}

function cooked2(protocol: number, data: ArrayLike<number>, hardware = 1): Bytes {
  return bytes(u16(protocol), u16(0), u32(1), u16(hardware), [0, 6], zeros(8), data);
}

const cookedFrames = (make: typeof cooked): Bytes[] => [
  make(0x0800, four),
  make(0x86dd, six),
  make(0x0806, arp),
  make(0x8100, vlanTag(5, 0x0800, four)),
  make(4, snap(0x0800, four)),
  make(3, frame),
  make(7, bytes([0xff, 3, 0, 0x21], four)),
  make(0x0800, four, 778),
  make(0x88be, frame, 778),
  make(0x0800, four, 824),
  make(12, zeros(16)),
];

const pppFrames: Bytes[] = [
  bytes([0xff, 3, 0, 0x21], four),
  bytes([0, 0x21], four),
  bytes([0x21], four),
  bytes([0, 0x57], six),
  bytes([0xff, 3, 0xc0, 0x21, 1, 1, 0, 4]),
  bytes([0x0f, 0, 8, 0], four),
  bytes([0x8f, 0, 0x86, 0xdd], six),
  bytes([0xff, 3, 2, 0x81, 0, 0, 1, 0x40], four),
  bytes([0xff, 3, 0, 0x31, 0, 1], frame),
];

const nflog = (family: number, ...attributes: readonly Bytes[]) => bytes([family, 0, 0, 0], ...attributes);
const attribute = (type: number, value: Bytes) =>
  bytes(le16(4 + value.length), le16(type), value, zeros((4 - (value.length & 3)) & 3));

/* ---------------------------------------------------------------- wireless */

const mac = (last: number) => [0, 0x0c, 0x29, 1, 2, last];

interface Wlan {
  readonly type: number;
  readonly subtype: number;
  readonly flags: number;
  readonly data?: Bytes;
  readonly sequence?: number;
  readonly qos?: number;
  readonly fourth?: boolean;
}

function wlan(o: Wlan): Bytes {
  return bytes(
    (o.type << 2) | (o.subtype << 4),
    o.flags,
    [0, 0],
    mac(1),
    mac(2),
    mac(3),
    le16(o.sequence ?? 0),
    o.fourth ? mac(4) : [],
    o.qos === undefined ? [] : le16(o.qos),
    o.data ?? [],
  );
}

function aggregated(...parts: readonly Bytes[]): Bytes {
  return bytes(
    ...parts.map((part) => {
      const sub = bytes(mac(7), mac(8), u16(part.length), part);
      return bytes(sub, zeros((4 - (sub.length & 3)) & 3));
    }),
  );
}

const whole = snap(0x0800, four);

const wireless: Bytes[] = [
  wlan({ type: 2, subtype: 0, flags: 1, data: snap(0x0800, four) }),
  wlan({ type: 2, subtype: 0, flags: 2, data: snap(0x86dd, six) }),
  wlan({ type: 2, subtype: 0, flags: 0, data: snap(0x0806, arp) }),
  wlan({ type: 2, subtype: 0, flags: 3, data: snap(0x0800, four), fourth: true }),
  wlan({ type: 2, subtype: 8, flags: 1, data: snap(0x0800, four), qos: 0 }),
  wlan({ type: 2, subtype: 8, flags: 1, data: aggregated(snap(0x0800, four), snap(0x0806, arp)), qos: 0x80 }),
  wlan({ type: 2, subtype: 4, flags: 1 }),
  wlan({ type: 2, subtype: 0, flags: 0x41, data: bytes(zeros(8), snap(0x0800, four)) }),
  wlan({ type: 0, subtype: 8, flags: 0, data: zeros(40) }),
  wlan({ type: 1, subtype: 13, flags: 0 }).slice(0, 10),
  wlan({ type: 2, subtype: 0, flags: 5, data: whole.slice(0, 40), sequence: 0x110 }),
  wlan({ type: 2, subtype: 0, flags: 1, data: whole.slice(40), sequence: 0x111 }),
  wlan({ type: 2, subtype: 0, flags: 1, data: whole, sequence: 0x123 }),
];

function radiotap(data: Bytes, flags: number | undefined): Bytes {
  const fields = flags === undefined ? bytes() : bytes(flags);
  return bytes([0, 0], le16(8 + fields.length), le32(flags === undefined ? 0 : 2), fields, data);
}

/* ---------------------------------------------------------------- the set */

export interface LinkCapture {
  readonly name: string;
  readonly link: number;
  readonly frames: readonly Bytes[];
}

export function linkCaptures(): LinkCapture[] {
  const captures: LinkCapture[] = [];
  const add = (name: string, link: number, frames: readonly Bytes[]) => captures.push({ name, link, frames });
  const families = [2, 24, 28, 30, 7, 10];
  add('null', 0, [
    ...families.map((family) => bytes(le32(family), family === 2 ? four : six)),
    ...families.map((family) => bytes(u32(family), family === 2 ? four : six)),
    bytes(le32(0x0800), four),
    ...[
      [2, 0, 2, 0],
      [0, 2, 1, 2],
      [0, 0, 2, 0],
      [2, 0, 0, 9],
    ].map((odd) => bytes(odd, four)),
    bytes(le32(2), six),
    bytes([0xff, 3, 0, 0x21], four),
    bytes([2, 0, 0]),
  ]);
  add(
    'loop',
    108,
    families.map((family) => bytes(u32(family), family === 2 ? four : six)),
  );
  for (const link of [12, 101])
    add(`raw ${link}`, link, [four, six, syn, bytes(0x10, zeros(30)), bytes([0xff, 3, 0, 0x21], four)]);
  add('ipv4', 228, [four, six]);
  add('ipv6', 229, [six]);
  add('cooked', 113, cookedFrames(cooked));
  add('cooked 2', 276, cookedFrames(cooked2));
  for (const link of [9, 50]) add(`ppp ${link}`, link, pppFrames);
  add(
    'ppp with direction',
    204,
    pppFrames.map((data) => bytes(0, data)),
  );
  add('pppoe', 51, [bytes([0x11, 0, 0, 1], u16(four.length + 2), [0, 0x21], four)]);
  add('hdlc', 104, [
    bytes([0x0f, 0, 8, 0], four),
    bytes([0x8f, 0, 0x86, 0xdd], six),
    bytes([0x0f, 0, 0x88, 0x47, 0, 0, 1, 0x40], four),
    bytes([0x8f, 0, 0x80, 0x35], zeros(18)),
  ]);
  add('frame relay', 107, [
    bytes([4, 1, 3, 0xcc], four),
    bytes([4, 1, 3, 0, 0x80, 0, 0, 0, 8, 0], four),
    bytes([4, 1, 8, 0], four),
  ]);
  add('enc', 109, [
    bytes(le32(2), zeros(8), four),
    bytes(u32(24), zeros(8), six),
    bytes(le32(30), zeros(8), six),
  ]);
  add('pflog', 117, [
    bytes([61, 2], zeros(62), four),
    bytes([61, 24], zeros(62), six),
    bytes([61, 10], zeros(62), six),
  ]);
  add('nflog', 239, [
    nflog(2, attribute(1, zeros(4)), attribute(9, four)),
    nflog(10, attribute(9, six)),
    nflog(7, attribute(9, frame)),
    nflog(2, bytes(le16(400), le16(9), four)),
  ]);
  add('atm', 100, [
    snap(0x0800, four),
    bytes([0xaa, 0xaa, 3, 0, 0x80, 0xc2, 0, 7, 0, 0], frame),
    bytes([0xfe, 0xfe, 3, 0xcc], four),
  ]);
  add('clip', 106, [four, six]);
  add('token ring', 6, [bytes([0x10, 0x40], zeros(12), snap(0x0800, four)), bytes([0x10, 0], zeros(22))]);
  add('fddi', 10, [bytes(0x50, zeros(12), snap(0x0800, four)), bytes(0x57, zeros(12), snap(0x0806, arp))]);
  add('firewire', 138, [bytes(zeros(16), u16(0x0800), four), bytes(zeros(16), u16(0x86dd), six)]);
  add('infiniband', 242, [bytes(zeros(40), [8, 0, 0, 0], four)]);
  add('arcnet', 7, [
    bytes([1, 2, 0xd4, 0, 0, 1], four),
    bytes([1, 2, 0xf0], four),
    bytes([1, 2, 0xd5, 0, 0, 1], arp),
  ]);
  add('apple tap', 258, [
    bytes(le32(108), le32(1), le32(1), zeros(96), frame),
    bytes(le32(108), le32(1), le32(12), zeros(96), four),
  ]);
  add('wireless', 105, wireless);
  add('radiotap', 127, [
    ...wireless.map((data) => radiotap(data, undefined)),
    ...wireless.slice(0, 8).map((data) => radiotap(bytes(data, zeros(4)), 0x10)),
  ]);
  add(
    'prism',
    119,
    wireless.map((data) => bytes(le32(0x44), le32(144), zeros(136), data)),
  );
  add(
    'avs',
    163,
    wireless.map((data) => bytes(u32(0x80211001), u32(64), zeros(56), data)),
  );
  add(
    'ppi',
    192,
    wireless.map((data) => bytes([0, 0], le16(8), le32(105), data)),
  );
  for (const link of [147, 187, 189, 253, 271]) add(`opaque ${link}`, link, [zeros(64)]);
  return captures;
}
