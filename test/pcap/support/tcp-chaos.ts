/**
 * Streams that nobody sends: sequence numbers, windows, flags and times drawn from small sets so that every rule
 * of the analysis meets every other.
 */
import { createHash } from 'node:crypto';
import { ACK, type Bytes, type Captured, eth, FIN, ip4, PSH, RST, random, SYN, tcp, zeros } from './craft.ts';

export function chaoticStreams(seed: number, packets: number): Captured[] {
  const r = random(seed);
  const frames: Captured[] = [];
  let time = 1_600_000_000_000_000;
  const sides = [0, 1, 2].map(() => ({
    a: { next: r.pick([1000, 0, 0xffff_ff00, 5]), acked: 0 },
    b: { next: r.pick([9000, 1, 0xffff_fff0, 7]), acked: 0 },
  }));
  for (let i = 0; i < packets; i++) {
    const stream = r.int(sides.length);
    const forward = r.int(2) === 0;
    const own = forward ? sides[stream]!.a : sides[stream]!.b;
    const other = forward ? sides[stream]!.b : sides[stream]!.a;
    const length = r.pick([0, 0, 0, 1, 1, 2, 10, 10, 100]);
    const jump = r.pick([0, 0, 0, 0, 0, 0, -1, -1, -2, -10, -10, -100, 1, 10, 100]);
    const seq = (own.next + jump) >>> 0;
    const ack = (other.next + r.pick([0, 0, 0, 0, -10, -1, 1, 10, -100, 100])) >>> 0;
    const flags = r.pick([
      ACK,
      ACK,
      ACK,
      ACK,
      ACK,
      ACK,
      ACK | PSH,
      ACK | FIN,
      ACK | RST,
      RST,
      SYN,
      SYN | ACK,
      0,
      FIN,
    ]);
    const window = r.pick([1000, 1000, 1000, 1000, 0, 0, 10, 100, 65535, 2000]);
    const options =
      (flags & SYN) !== 0
        ? r.pick([[], [2, 4, 5, 180], [3, 3, 2], [2, 4, 5, 180, 1, 3, 3, 7], [3, 3, 0]])
        : [];
    // Acks often repeat exactly: that is what most rules are about.
    const useAck = r.int(3) === 0 ? ack : other.next >>> 0;
    time += r.pick([0, 1, 100, 1000, 2900, 3000, 3100, 10_000, 19_999, 20_000, 20_001, 200_000, 1_000_000]);
    if (r.int(200) === 0) time -= 500_000;
    const segment = tcp({
      src: forward ? 1000 + stream : 80,
      dst: forward ? 80 : 1000 + stream,
      seq,
      ack: useAck,
      flags,
      window,
      options,
      payload: zeros(length),
    });
    const packet = ip4(6, segment, forward ? {} : { src: [10, 0, 0, 2], dst: [10, 0, 0, 1] });
    frames.push(stamped(eth(0x0800, packet), time));
    const end = (seq + length + ((flags & (SYN | FIN)) !== 0 ? 1 : 0)) >>> 0;
    if (((end - own.next) | 0) > 0 || r.int(40) === 0) own.next = end;
  }
  return frames;
}

const KEY = [1, 2, 3, 4, 5, 6, 7, 8];
const SIGNALS = [[], [30, 8, 0x20, 1, 0, 0, 0, 9], [30, 8, 0x30, 1, 10, 0, 0, 9], [30, 4, 0x50, 0]];
const STAMP = [1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1];

/**
 * Multipath TCP: acks that repeat while its signalling changes, and while it does not. One connection from its start,
 * a second path that joins it by its token, one of which the start was not captured.
 */
export function mptcpStreams(seed: number, packets: number, version: 0 | 1 = 0): Captured[] {
  const r = random(seed);
  const token = createHash(version === 0 ? 'sha1' : 'sha256')
    .update(Uint8Array.from(KEY))
    .digest()
    .subarray(0, 4);
  const first = { port: 4000, opening: [30, 12, version, 1, ...KEY], next: [1000, 9000], sent: 0 };
  const joined = {
    port: 4001,
    opening: [30, 12, 0x10, 1, ...token, 0, 0, 0, 7],
    next: [2000, 8000],
    sent: 0,
  };
  const middle = { port: 4002, opening: undefined, next: [3000, 7000], sent: 2 };
  return Array.from({ length: packets }, (_, i) => {
    const path = i < 3 ? first : r.pick([first, joined, middle]);
    const at = path.sent++;
    const side = at < 3 && path.opening ? at & 1 : r.int(2);
    const syn = path.opening !== undefined && at < 2;
    const payload = zeros(!syn && at > 2 && r.int(5) === 0 ? 10 : 0);
    const segment = tcp({
      src: side === 0 ? path.port : 80,
      dst: side === 0 ? 80 : path.port,
      seq: path.next[side]!,
      ack: syn && at === 0 ? 0 : path.next[1 - side]!,
      flags: syn ? (at === 0 ? SYN : SYN | ACK) : ACK,
      options: syn && path.opening ? path.opening : [...(r.int(2) === 0 ? STAMP : []), ...r.pick(SIGNALS)],
      payload,
    });
    path.next[side]! += payload.length + (syn ? 1 : 0);
    const ends = side === 0 ? {} : { src: [10, 0, 0, 2], dst: [10, 0, 0, 1] };
    return stamped(eth(0x0800, ip4(6, segment, ends)), 1_600_000_000_000_000 + i * 1000);
  });
}

export function stamped(data: Bytes, microseconds: number): Captured {
  return {
    data,
    seconds: Math.floor(microseconds / 1e6),
    nanoseconds: (microseconds % 1e6) * 1000,
  };
}

/** The same frames with a bit turned in some of their sequence and acknowledgement numbers. */
export function withBitErrors(frames: readonly Captured[], seed: number): Captured[] {
  const r = random(seed);
  return frames.map((frame) => {
    const plain = frame.data[12] === 8 && frame.data[13] === 0 && frame.data[14] === 0x45;
    if (!plain || frame.data.length < 54 || r.int(12) !== 0) return frame;
    const data = Uint8Array.from(frame.data);
    data[38 + r.int(8)]! ^= 1 << r.int(8);
    return { ...frame, data };
  });
}
