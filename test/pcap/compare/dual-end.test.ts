/** Two captures of the same traffic: what happened between them, where, and how sure one can be. */
import { describe, expect, it } from 'vitest';
import { compareEnds, type DualEnd } from '../../../src/pcap/compare/dual-end.ts';
import { ACK, type Bytes, type Captured, eth, ip4, ip6, PSH, tcp, udp, zeros } from '../support/craft.ts';
import { craftedFile, type Fault, sceneFile } from '../support/scenes.ts';

const ends = (fault: Fault) => compareEnds(sceneFile(fault, 'client'), sceneFile(fault, 'server'));
const swapped = (fault: Fault) => compareEnds(sceneFile(fault, 'server'), sceneFile(fault, 'client'));
const told = (d: DualEnd | null) => d?.verdicts.map((v) => `${v.what} ${v.segment}`).sort();

describe('two ends of the lab', () => {
  it('[PCAPR-20] a clean path: every packet matched, nothing lost, delayed or altered', async () => {
    const d = await ends('clean');
    expect(d?.matched).toBeGreaterThan(900);
    expect(d?.verdicts).toEqual([]);
    expect(d?.confidence).toBe('high');
    expect(d?.directions.map((x) => x.lost)).toEqual([0, 0]);
  });

  it('[PCAPR-21] the offset of the clocks is the same whichever capture comes first', async () => {
    const [d, s] = [await ends('latency'), await swapped('latency')];
    expect(d?.clock_offset_ms).not.toBeNull();
    expect(Math.abs(d!.clock_offset_ms!)).toBeLessThan(10);
    expect(s?.clock_offset_ms).toBeCloseTo(-d!.clock_offset_ms!, 3);
    expect(d?.near_a).toEqual(['10.7.1.4']);
    expect(s?.near_a).toEqual(['10.7.2.4']);
    expect(d?.round_trip_ms).toBeGreaterThan(160);
    expect(d?.round_trip_ms).toBeLessThan(162);
    expect(told(d)).toEqual(['delayed A ↔ B']);
  });

  it('[PCAPR-22] loss is named in each direction in the share the wire has', async () => {
    const d = await ends('loss');
    expect(told(d)).toEqual(['lost A → B', 'lost B → A']);
    for (const x of d?.directions ?? []) {
      expect(x.loss_pct).toBeGreaterThan(2);
      expect(x.loss_pct).toBeLessThan(4);
    }
    expect(d?.verdicts.every((v) => v.confidence === 'high')).toBe(true);
  });

  it('[PCAPR-22] packets too large for the path: lost on the way there, and said to be the large ones', async () => {
    const d = await ends('blackHole');
    expect(told(d)).toEqual(['lost A → B']);
    expect(d?.directions[0]?.size_limit?.smallest_lost).toBe(1448);
    expect(d?.conclusion).toContain('smaller MTU');
    expect(told(await swapped('blackHole'))).toEqual(['lost B → A']);
  });

  it('[PCAPR-22] answers that never come back', async () => {
    expect(told(await ends('wayBack'))).toEqual(['blocked B → A']);
    expect(told(await swapped('wayBack'))).toEqual(['blocked A → B']);
  });

  it('[PCAPR-22] a far end that hears nothing at all', async () => {
    const d = await ends('synDrop');
    expect(d?.matched).toBe(0);
    expect(told(d)).toEqual(['blocked A → B']);
    expect(d?.verdicts[0]?.statement).toContain('tcp 10.7.2.4:7100');
    expect(d?.confidence).toBe('medium');
  });

  it('[PCAPR-23] altered packets', async () => {
    const d = await ends('corruption');
    expect(told(d)).toEqual(['altered A → B', 'altered B → A']);
    expect(d?.directions[0]?.changed_frames.length).toBe(5);
  });

  it('[PCAPR-23] reordering, and waiting in a queue', async () => {
    expect(told(await ends('reordering'))).toEqual(['reordered A → B', 'reordered B → A']);
    expect(told(await ends('narrow'))).toEqual(['delayed A → B', 'delayed B → A']);
  });

  it('[PCAPR-24] captures of other traffic are not ends of one path', async () => {
    const other = craftedFile('other.pcap', [
      eth(0x0800, ip4(17, udp(1, 2, zeros(4)), { src: [9, 9, 9, 1] })),
    ]);
    expect(await compareEnds(sceneFile('clean'), other)).toBeNull();
    expect(await compareEnds(sceneFile('clean'), craftedFile('nothing.pcap', []))).toBeNull();
  });
});

interface Sent {
  readonly fromA: boolean;
  readonly data: (v6: boolean) => Bytes;
  /** Seconds after the start. */
  readonly at: number;
}

/** Segments both ways, a tenth of a second apart. */
const SENT: readonly Sent[] = Array.from({ length: 120 }, (_, i) => ({
  fromA: i % 2 === 0,
  at: i / 10,
  data: (v6: boolean) => {
    const fromA = i % 2 === 0;
    const ports = fromA ? { src: 40_000, dst: 443 } : { src: 443, dst: 40_000 };
    const payload = new Uint8Array(100).fill(i);
    const segment = tcp({ ...ports, seq: 1000 + i * 100, ack: 5, flags: ACK | PSH, payload });
    return v6
      ? eth(0x86dd, ip6(6, segment, { src: fromA ? 1 : 2, dst: fromA ? 2 : 1 }))
      : eth(0x0800, ip4(6, segment, fromA ? { id: i } : { id: i, src: [10, 0, 0, 2], dst: [10, 0, 0, 1] }));
  },
}));

const START = 1_700_000_000;
const frame = (data: Bytes, seconds: number): Captured => ({
  data,
  seconds: START + Math.floor(seconds),
  nanoseconds: Math.round((seconds - Math.floor(seconds)) * 1e6) * 1000,
});

/** The same packets at both points: `there` seconds apart, the clock of B ahead by `offset`, some lost or altered. */
async function compare(o: {
  readonly name: string;
  readonly v6?: boolean;
  readonly offset: number;
  readonly lost?: (i: number) => boolean;
  readonly altered?: (i: number) => boolean;
  readonly snapB?: number;
  readonly extraB?: readonly Captured[];
}): Promise<DualEnd | null> {
  const delay = 0.004;
  const arrival = (s: Sent, i: number) => {
    const data = s.data(o.v6 ?? false);
    if (o.altered?.(i)) data[data.length - 1]! ^= 0x55;
    return data;
  };
  const a = SENT.flatMap((s, i) =>
    s.fromA ? [frame(s.data(o.v6 ?? false), s.at)] : o.lost?.(i) ? [] : [frame(arrival(s, i), s.at + delay)],
  );
  const b = SENT.flatMap((s, i) =>
    s.fromA
      ? o.lost?.(i)
        ? []
        : [frame(arrival(s, i), s.at + delay + o.offset)]
      : [frame(s.data(o.v6 ?? false), s.at + o.offset)],
  ).map((f) =>
    o.snapB === undefined ? f : { ...f, data: f.data.subarray(0, o.snapB), length: f.data.length },
  );
  return compareEnds(
    craftedFile(`${o.name}-a.pcap`, a),
    craftedFile(`${o.name}-b.pcap`, [...b, ...(o.extraB ?? [])]),
  );
}

describe('two ends made by hand', () => {
  it.each([
    ['IPv4', false],
    ['IPv6', true],
  ])('[PCAPR-21] %s: an offset of an hour and a half is found to the microsecond', async (name, v6) => {
    const d = await compare({ name: `offset-${name}`, v6, offset: 5400.25 });
    expect(d?.clock_offset_ms).toBeCloseTo(5_400_250, 2);
    expect(d?.round_trip_ms).toBeCloseTo(8, 2);
    expect(d?.matched).toBe(120);
    expect(d?.verdicts).toEqual([]);
  });

  it.each([
    ['IPv4', false],
    ['IPv6', true],
  ])('[PCAPR-22] %s: loss on one direction alone, under an offset', async (name, v6) => {
    const d = await compare({ name: `loss-${name}`, v6, offset: -77.5, lost: (i) => i % 10 === 0 });
    expect(d?.clock_offset_ms).toBeCloseTo(-77_500, 2);
    expect(told(d)).toEqual(['lost A → B']);
    // Packet 0 left before the other point is known to have watched.
    expect(d?.directions.map((x) => x.lost)).toEqual([11, 0]);
  });

  it('[PCAPR-23] packets altered in one direction, with the frames where they arrived', async () => {
    const d = await compare({ name: 'altered', offset: 3, altered: (i) => i % 20 === 1 });
    expect(told(d)).toEqual(['altered B → A']);
    expect(d?.verdicts[0]?.frames).toEqual({ capture: 'A', numbers: [2, 22, 42, 62, 82] });
  });

  it('[PCAPR-25] a smaller snap length is no alteration', async () => {
    const d = await compare({ name: 'snap', offset: 1, snapB: 90 });
    expect(d?.matched).toBe(120);
    expect(d?.verdicts).toEqual([]);
  });

  it('[PCAPR-23] packets that arrive and never left were made in between', async () => {
    const reset = eth(0x0800, ip4(6, tcp({ src: 40_000, dst: 443, seq: 7, ack: 5, flags: 4 }), { id: 999 }));
    const extraB = [frame(reset, 5.5), frame(SENT.at(-2)!.data(false), 12)];
    const d = await compare({ name: 'injected', offset: 0, extraB });
    expect(told(d)).toEqual(['injected A → B']);
    expect(d?.verdicts[0]?.confidence).toBe('low');
  });

  it('[PCAPR-24] the same machines at another time are compared by rates alone', async () => {
    const later = SENT.map((s, i) =>
      frame(
        eth(
          0x0800,
          ip4(6, tcp({ src: 41_000, dst: 443, seq: 9_000_000 + i, ack: 1, flags: ACK }), { id: i }),
        ),
        s.at + 86_400,
      ),
    );
    const now = SENT.filter((s) => s.fromA).map((s) => frame(s.data(false), s.at));
    expect(await compareEnds(craftedFile('now.pcap', now), craftedFile('later.pcap', later))).toBeNull();
  });
});
