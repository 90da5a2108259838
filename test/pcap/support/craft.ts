/** Packets and capture files made by hand, for corner cases no network will produce on demand. */
import { writeFileSync } from 'node:fs';

export type Bytes = Uint8Array;

export function bytes(...parts: readonly (number | string | ArrayLike<number>)[]): Bytes {
  const out: number[] = [];
  for (const part of parts) {
    if (typeof part === 'number') out.push(part & 255);
    else if (typeof part === 'string') for (const char of part) out.push(char.charCodeAt(0) & 255);
    else out.push(...Array.from(part));
  }
  return Uint8Array.from(out);
}

export function u16(value: number): Bytes {
  return bytes(value >>> 8, value);
}

export function u32(value: number): Bytes {
  return bytes(value >>> 24, value >>> 16, value >>> 8, value);
}

export function zeros(length: number): Bytes {
  return new Uint8Array(length);
}

const MAC_A = [0x00, 0x0c, 0x29, 0xa1, 0xb2, 0xc3];
const MAC_B = [0x00, 0x50, 0x56, 0x91, 0x82, 0x73];

export function eth(type: number, payload: ArrayLike<number>, from = MAC_A, to = MAC_B): Bytes {
  return bytes(to, from, u16(type), payload);
}

export function vlanTag(id: number, type: number, payload: ArrayLike<number>): Bytes {
  return bytes(u16(id), u16(type), payload);
}

export interface Ip4Options {
  readonly src?: readonly number[];
  readonly dst?: readonly number[];
  readonly id?: number;
  readonly fragment?: number;
  readonly ttl?: number;
  readonly length?: number;
  readonly first?: number;
  readonly options?: ArrayLike<number>;
}

export function ip4(protocol: number, payload: ArrayLike<number>, o: Ip4Options = {}): Bytes {
  const options = bytes(o.options ?? []);
  const header = 20 + options.length;
  return bytes(
    o.first ?? 0x40 | (header >> 2),
    0,
    u16(o.length ?? header + payload.length),
    u16(o.id ?? 1),
    u16(o.fragment ?? 0),
    o.ttl ?? 64,
    protocol,
    0,
    0,
    o.src ?? [10, 0, 0, 1],
    o.dst ?? [10, 0, 0, 2],
    options,
    payload,
  );
}

export function ip6(
  next: number,
  payload: ArrayLike<number>,
  o: { readonly src?: number; readonly dst?: number; readonly length?: number; readonly hops?: number } = {},
): Bytes {
  return bytes(
    [0x60, 0, 0, 0],
    u16(o.length ?? payload.length),
    next,
    o.hops ?? 64,
    zeros(15),
    o.src ?? 1,
    zeros(15),
    o.dst ?? 2,
    payload,
  );
}

export function udp(
  src: number,
  dst: number,
  payload: ArrayLike<number>,
  length = 8 + payload.length,
): Bytes {
  return bytes(u16(src), u16(dst), u16(length), 0, 0, payload);
}

export interface TcpOptions {
  readonly src: number;
  readonly dst: number;
  readonly seq: number;
  readonly ack: number;
  readonly flags: number;
  readonly window?: number;
  readonly payload?: ArrayLike<number>;
  readonly options?: ArrayLike<number>;
  readonly offset?: number;
}

export function tcp(o: TcpOptions): Bytes {
  const raw = bytes(o.options ?? []);
  const options = bytes(raw, zeros((4 - (raw.length & 3)) & 3));
  const words = o.offset ?? 5 + (options.length >> 2);
  return bytes(
    u16(o.src),
    u16(o.dst),
    u32(o.seq),
    u32(o.ack),
    (words << 4) | ((o.flags >> 8) & 15),
    o.flags,
    u16(o.window ?? 1000),
    [0, 0, 0, 0],
    options,
    o.payload ?? [],
  );
}

export const FIN = 1;
export const SYN = 2;
export const RST = 4;
export const PSH = 8;
export const ACK = 16;

export function dnsName(name: string): Bytes {
  return bytes(...name.split('.').flatMap((label) => [label.length, label]), 0);
}

export function dns(
  o: { readonly id?: number; readonly flags?: number; readonly name?: string; readonly type?: number } = {},
): Bytes {
  const name = dnsName(o.name ?? 'www.example.com');
  return bytes(
    u16(o.id ?? 1),
    u16(o.flags ?? 0x0100),
    u16(1),
    [0, 0, 0, 0, 0, 0],
    name,
    u16(o.type ?? 1),
    u16(1),
  );
}

export interface Captured {
  readonly data: Bytes;
  /** Epoch seconds and nanoseconds. */
  readonly seconds?: number;
  readonly nanoseconds?: number;
  /** Length on the wire when the capture cut it. */
  readonly length?: number;
}

export interface PcapOptions {
  readonly link?: number;
  readonly big?: boolean;
  readonly nano?: boolean;
  readonly snaplen?: number;
  readonly version?: readonly [number, number];
}

/** A classic capture file. Frames without a time are a millisecond apart. */
export function pcap(frames: readonly (Bytes | Captured)[], o: PcapOptions = {}): Bytes {
  const big = o.big ?? false;
  const w16 = (value: number) => (big ? u16(value) : u16(value).reverse());
  const w32 = (value: number) => (big ? u32(value) : u32(value).reverse());
  const [major, minor] = o.version ?? [2, 4];
  const parts: Bytes[] = [
    w32(o.nano ? 0xa1b23c4d : 0xa1b2c3d4),
    w16(major),
    w16(minor),
    zeros(8),
    w32(o.snaplen ?? 262_144),
    w32(o.link ?? 1),
  ];
  frames.forEach((frame, i) => {
    const { data, seconds, nanoseconds, length } = frame instanceof Uint8Array ? captured(frame) : frame;
    const nano = nanoseconds ?? (seconds === undefined ? (i * 1_000_000) % 1_000_000_000 : 0);
    const whole = seconds ?? 1_600_000_000 + Math.floor(i / 1000);
    parts.push(
      w32(whole),
      w32(o.nano ? nano : Math.floor(nano / 1000)),
      w32(data.length),
      w32(length ?? data.length),
      data,
    );
  });
  return concat(parts);
}

function captured(data: Bytes): Captured {
  return { data };
}

export function concat(parts: readonly Bytes[]): Bytes {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

export function block(type: number, body: ArrayLike<number>, big = false): Bytes {
  const w32 = (value: number) => (big ? u32(value) : u32(value).reverse());
  const padded = bytes(body, zeros((4 - (body.length & 3)) & 3));
  return bytes(w32(type), w32(padded.length + 12), padded, w32(padded.length + 12));
}

export function sectionHeader(big = false): Bytes {
  const w16 = (value: number) => (big ? u16(value) : u16(value).reverse());
  const w32 = (value: number) => (big ? u32(value) : u32(value).reverse());
  return block(0x0a0d0d0a, bytes(w32(0x1a2b3c4d), w16(1), w16(0), new Uint8Array(8).fill(255)), big);
}

export function option(code: number, value: ArrayLike<number>, big = false): Bytes {
  const w16 = (n: number) => (big ? u16(n) : u16(n).reverse());
  return bytes(w16(code), w16(value.length), value, zeros((4 - (value.length & 3)) & 3));
}

export function interfaceBlock(
  link: number,
  options: ArrayLike<number> = [],
  big = false,
  snaplen = 0,
): Bytes {
  const w16 = (value: number) => (big ? u16(value) : u16(value).reverse());
  const w32 = (value: number) => (big ? u32(value) : u32(value).reverse());
  const end = options.length > 0 ? zeros(4) : zeros(0);
  return block(1, bytes(w16(link), w16(0), w32(snaplen), options, end), big);
}

export function enhancedPacket(
  data: Bytes,
  time: bigint,
  interfaceId = 0,
  big = false,
  length = data.length,
): Bytes {
  const w32 = (value: number) => (big ? u32(value) : u32(value).reverse());
  const high = Number((time >> 32n) & 0xffff_ffffn);
  const low = Number(time & 0xffff_ffffn);
  const padding = zeros((4 - (data.length & 3)) & 3);
  return block(
    6,
    bytes(w32(interfaceId), w32(high), w32(low), w32(data.length), w32(length), data, padding),
    big,
  );
}

export function simplePacket(data: Bytes, big = false, length = data.length): Bytes {
  const w32 = (value: number) => (big ? u32(value) : u32(value).reverse());
  return block(3, bytes(w32(length), data), big);
}

export function save(path: string, data: Bytes): string {
  writeFileSync(path, data);
  return path;
}

/** A small seeded generator: the same seed gives the same captures. */
export function random(seed: number): {
  readonly int: (below: number) => number;
  readonly pick: <T>(from: readonly T[]) => T;
} {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  for (let i = 0; i < 8; i++) next();
  const int = (below: number) => next() % below;
  return { int, pick: (from) => from[int(from.length)]! };
}
