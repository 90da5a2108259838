/** Whatever a wire does, a conversation ends, and what it delivers is what was sent. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Carrier } from '../../../src/lab/packets/sim/carrier.ts';
import { EventQueue } from '../../../src/lab/packets/sim/events.ts';
import { Link, type LinkSpec } from '../../../src/lab/packets/sim/link.ts';
import type { Packet } from '../../../src/lab/packets/sim/packet.ts';
import type { Path } from '../../../src/lab/packets/sim/path.ts';
import { RangeSet } from '../../../src/lab/packets/sim/ranges.ts';
import { TcpConversation, type TcpTraits } from '../../../src/lab/packets/sim/tcp-conversation.ts';

const CLEAN: LinkSpec = {
  lossPct: 0,
  delayUs: 0,
  jitterUs: 0,
  rate: null,
  mtu: 1500,
  tellsMtu: false,
  reorderPct: 0,
  corruptPct: 0,
};
const NOTHING = { fill: () => undefined };

interface Outcome {
  /** Highest number each end acknowledged, counted from the other's SYN; 0 = never. */
  readonly acknowledgedByServer: number;
  readonly acknowledgedByClient: number;
  readonly events: number;
  readonly endedUs: number;
  readonly packets: number;
  readonly largestOverrun: number;
}

/** Plays one conversation over the wire and reads the result off the packets. */
function play(
  spec: Partial<LinkSpec>,
  bytes: number,
  reply: number,
  traits: Partial<TcpTraits>,
  seed: number,
): Outcome {
  const events = new EventQueue();
  const first = new Map<string, number>();
  const highest = new Map<string, number>();
  const edge = new Map<string, number>();
  let packets = 0;
  let largestOverrun = 0;
  let endedUs = 0;
  const see = (point: string, way: 'in' | 'out', packet: Packet) => {
    const { body } = packet;
    if (body.kind !== 'tcp' || way !== 'out') return;
    packets += 1;
    endedUs = events.now;
    const peer = point === 'client' ? 'server' : 'client';
    if ((body.flags & 2) !== 0) first.set(point, body.sequence);
    if ((body.flags & 16) === 0 || (body.flags & 4) !== 0) return;
    const from = (body.acknowledgment - (first.get(peer) ?? 0)) >>> 0;
    highest.set(point, Math.max(highest.get(point) ?? 0, from));
    // What this end offers: no byte beyond it may ever be sent, but for a probe of one.
    const scale = (body.flags & 2) !== 0 || traits.slowReader === point ? 0 : 7;
    edge.set(point, Math.max(edge.get(point) ?? 0, from + (body.window << scale)));
    if (body.length > 1) {
      const end = ((body.sequence - first.get(point)!) >>> 0) + body.length;
      largestOverrun = Math.max(largestOverrun, end - (edge.get(peer) ?? Number.POSITIVE_INFINITY));
    }
  };
  const carrier = new Carrier(events, see);
  const there = new Link(events, seed, () => ({ ...CLEAN, ...spec }));
  const back = new Link(events, seed + 1, () => ({ ...CLEAN, ...spec }));
  const path = (link: Link, from: string, to: string): Path => [
    { kind: 'tap', point: from, way: 'out' },
    { kind: 'link', link, teller: 1 },
    { kind: 'wire', delayUs: 300 },
    { kind: 'tap', point: to, way: 'in' },
  ];
  const exchange = {
    seed,
    client: 1,
    server: 2,
    clientPort: 40_000,
    serverPort: 80,
    bytes,
    replyBytes: reply,
    request: NOTHING,
    reply: NOTHING,
    ways: {
      there: () => path(there, 'client', 'server'),
      back: () => path(back, 'server', 'client'),
      accepts: () => true,
    },
  };
  new TcpConversation(events, carrier, exchange, { slowReader: null, resets: false, ...traits }).start();
  events.run(200_000_000, () => events.processed > 200_000);
  return {
    acknowledgedByServer: highest.get('server') ?? 0,
    acknowledgedByClient: highest.get('client') ?? 0,
    events: events.processed,
    endedUs,
    packets,
    largestOverrun,
  };
}

const sizes = fc.integer({ min: 0, max: 60_000 });
const seeds = fc.integer({ min: 1, max: 1_000_000 });

describe('a TCP conversation', () => {
  it('[LABP-24] over a wire that only annoys delivers every byte both ways, and both ends close', () => {
    const wires = fc.record({
      lossPct: fc.double({ min: 0, max: 8, noNaN: true }),
      delayUs: fc.integer({ min: 0, max: 60_000 }),
      jitterUs: fc.integer({ min: 0, max: 10_000 }),
      reorderPct: fc.double({ min: 0, max: 10, noNaN: true }),
      corruptPct: fc.double({ min: 0, max: 4, noNaN: true }),
    });
    fc.assert(
      fc.property(wires, sizes, sizes, seeds, (spec, bytes, reply, seed) => {
        const result = play(spec, bytes, reply, {}, seed);
        // A rare wire is so bad that the client's patience ends first; then it must at least have ended.
        expect(result.endedUs).toBeLessThan(32_000_000);
        expect(result.acknowledgedByServer).toBeLessThanOrEqual(bytes + 2);
        expect(result.acknowledgedByClient).toBeLessThanOrEqual(reply + 2);
        expect(result.largestOverrun).toBeLessThanOrEqual(0);
        if (result.endedUs < 19_000_000 && result.packets > 8) {
          expect(result.acknowledgedByServer).toBe(bytes + 2);
          expect(result.acknowledgedByClient).toBe(reply + 2);
        }
      }),
      { numRuns: 120 },
    );
  });

  it('[LABP-24] over a wire that loses three packets in a hundred is done in seconds, nearly always', () => {
    let done = 0;
    let slow = 0;
    for (let seed = 1; seed <= 200; seed += 1) {
      const result = play({ lossPct: 3, delayUs: 10_000 }, 30_000, 30_000, {}, seed);
      if (result.acknowledgedByServer === 30_002 && result.acknowledgedByClient === 30_002) done += 1;
      if (result.endedUs > 5_000_000) slow += 1;
    }
    expect(done).toBeGreaterThanOrEqual(198);
    expect(slow).toBeLessThan(10);
  });

  it('[LABP-24] over a wire that nearly kills it still ends, in a bounded number of steps', () => {
    const wires = fc.record({
      lossPct: fc.integer({ min: 0, max: 100 }),
      delayUs: fc.integer({ min: 0, max: 3_000_000 }),
      reorderPct: fc.integer({ min: 0, max: 100 }),
      corruptPct: fc.integer({ min: 0, max: 100 }),
      rate: fc.option(fc.double({ min: 0.001, max: 10, noNaN: true }), { nil: null }),
      mtu: fc.integer({ min: 68, max: 1500 }),
      tellsMtu: fc.boolean(),
    });
    const traits = fc.record({
      slowReader: fc.constantFrom(null, 'client' as const, 'server' as const),
      resets: fc.boolean(),
    });
    fc.assert(
      fc.property(wires, traits, sizes, sizes, seeds, (spec, how, bytes, reply, seed) => {
        const result = play(spec, bytes, reply, how, seed);
        expect(result.events).toBeLessThan(20_000);
        expect(result.acknowledgedByServer).toBeLessThanOrEqual(bytes + 2);
        expect(result.acknowledgedByClient).toBeLessThanOrEqual(reply + 2);
      }),
      { numRuns: 150 },
    );
  });

  it('[LABP-24] with a slow reader on a good wire delivers everything, never beyond the window', () => {
    for (const bytes of [1, 100, 600, 2_000, 30_000, 200_000]) {
      const result = play({}, bytes, 500, { slowReader: 'server' }, bytes);
      expect(result.acknowledgedByServer).toBe(bytes + 2);
      expect(result.acknowledgedByClient).toBe(502);
      expect(result.largestOverrun).toBeLessThanOrEqual(0);
    }
  });
});

describe('ranges', () => {
  it('hold what was added, merged and in order', () => {
    const range = fc.tuple(fc.nat(60), fc.nat(60)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
    fc.assert(
      fc.property(fc.array(range, { maxLength: 12 }), fc.nat(60), (list, from) => {
        const set = new RangeSet();
        const bytes = new Set<number>();
        for (const [low, high] of list) {
          set.add(low, high);
          for (let at = low; at < high; at += 1) bytes.add(at);
        }
        expect(set.bytes).toBe(bytes.size);
        let gap = from;
        while (bytes.has(gap)) gap += 1;
        expect(set.firstGap(from)).toBe(gap);
        set.ranges.forEach((r, index) => {
          expect(r.from).toBeLessThan(r.to);
          if (index > 0) expect(r.from).toBeGreaterThan(set.ranges[index - 1]!.to);
        });
      }),
      { numRuns: 300 },
    );
  });
});
