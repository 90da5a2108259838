/** What keeps memory bounded, each part by itself. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { InternTable } from '../../src/pcap/facts/intern.ts';
import { Hasher, Pending } from '../../src/pcap/facts/pending.ts';
import { Samples } from '../../src/pcap/facts/samples.ts';
import { Series } from '../../src/pcap/facts/series.ts';
import { Tally } from '../../src/pcap/facts/tally.ts';
import { addressText, safeText } from '../../src/pcap/facts/text.ts';
import { TopList } from '../../src/pcap/facts/top-list.ts';
import { type Endpoints, FlowTable } from '../../src/pcap/tcp/flow-table.ts';
import { SampleChains } from '../../src/pcap/tcp/sample-chains.ts';

const ends = (port: number): Endpoints => ({
  src: Int32Array.from([1, 0, 0, 0]),
  dst: Int32Array.from([2, 0, 0, 0]),
  family: 4,
  srcPort: port,
  dstPort: 80,
});

describe('flow table', () => {
  test('[PCAP-15] never holds more than its capacity: the quiet go first and their owner is told', () => {
    const evicted: number[] = [];
    const seen = new Map<number, number>();
    const table = new FlowTable(64, {
      grow: () => undefined,
      evict: (slot) => evicted.push(slot),
      lastFrame: (slot) => seen.get(slot) ?? 0,
    });
    for (let port = 1; port <= 200; port++) {
      const e = ends(port);
      expect(table.find(e, table.direction(e))).toBe(-1);
      seen.set(table.insert(), port);
    }
    expect(table.size).toBeLessThanOrEqual(64);
    expect(table.evicted).toBe(evicted.length);
    expect(table.size + table.evicted).toBe(200);
    const recent = ends(200);
    expect(table.find(recent, table.direction(recent))).toBeGreaterThanOrEqual(0);
    const first = ends(1);
    expect(table.find(first, table.direction(first))).toBe(-1);
  });

  test('[PCAP-15] both directions meet in one slot, and the endpoints come back', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer(), fc.integer(), fc.nat(65_535), fc.nat(65_535), fc.boolean()), {
          maxLength: 60,
        }),
        (flows) => {
          const table = new FlowTable(1024, {
            grow: () => undefined,
            evict: () => undefined,
            lastFrame: () => 0,
          });
          for (const [a, b, p, q, six] of flows) {
            const forth: Endpoints = {
              src: Int32Array.from([a, b, 1, 2]),
              dst: Int32Array.from([b, a, 3, 4]),
              family: six ? 6 : 4,
              srcPort: p,
              dstPort: q,
            };
            const back: Endpoints = {
              src: forth.dst,
              dst: forth.src,
              family: forth.family,
              srcPort: q,
              dstPort: p,
            };
            let slot = table.find(forth, table.direction(forth));
            if (slot < 0) slot = table.insert();
            expect(table.find(back, table.direction(back))).toBe(slot);
          }
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('samples', () => {
  test('[PCAP-16] the median is the middle, p95 the value at ⌊0.95·n⌋', () => {
    const samples = new Samples();
    for (let i = 1; i <= 20; i++) samples.add(i);
    expect(samples.spread()).toMatchObject({
      count: 20,
      min: 1,
      median: 10.5,
      p95: 20,
      max: 20,
      mean: 10.5,
      exact: true,
    });
    expect(samples.above(15)).toBe(5);
    expect(new Samples().spread()).toBeNull();
  });

  test('[PCAP-16] beyond a million values a sketch answers within a percent, and says so', () => {
    const samples = new Samples();
    for (let i = 1; i <= 1_300_000; i++) samples.add((i % 1000) + 1);
    const spread = samples.spread()!;
    expect(spread.exact).toBe(false);
    expect(spread).toMatchObject({ count: 1_300_000, min: 1, max: 1000 });
    expect(Math.abs(spread.median - 500) / 500).toBeLessThan(0.015);
    expect(Math.abs(spread.p95 - 950) / 950).toBeLessThan(0.015);
  });

  test('[PCAP-16] a stream keeps about a hundred values, evenly taken', () => {
    const chains = new SampleChains();
    const words = Int32Array.from([-1, 0, 0, -1, 0, 0]);
    const sums = new Float64Array(2);
    for (let i = 0; i < 100; i++) chains.add(words, 0, sums, 0, i);
    expect(chains.spread(words, 0, sums, 0)).toMatchObject({
      count: 100,
      median: 49.5,
      mean: 49.5,
      exact: true,
    });
    for (let i = 0; i < 100_000; i++) chains.add(words, 3, sums, 1, i);
    const spread = chains.spread(words, 3, sums, 1)!;
    expect(spread).toMatchObject({ count: 100_000, exact: false });
    expect(Math.abs(spread.median - 50_000)).toBeLessThan(2000);
    chains.release(words, 3);
    expect(chains.spread(words, 3, sums, 1)).toBeNull();
  });
});

describe('waiting questions and names', () => {
  test('[PCAP-15] when full, the oldest question gives way', () => {
    const pending = new Pending(4);
    const key = (n: number) => {
      const h = new Hasher();
      h.low = n;
      h.high = n * 7;
      return h;
    };
    for (let n = 1; n <= 6; n++) pending.put(key(n), n, n, n);
    expect(pending).toMatchObject({ size: 4, dropped: 2 });
    expect(pending.take(key(1))).toBe(false);
    expect(pending.take(key(5))).toBe(true);
    expect(pending).toMatchObject({ time: 5, frame: 5, tag: 5, size: 3 });
    expect([...pending.waiting()].map(({ tag }) => tag)).toEqual([3, 4, 6]);
  });

  test('[PCAP-15] interning, tallying and ranking stop at their bounds', () => {
    const table = new InternTable(2000);
    for (let i = 0; i < 3000; i++) expect(table.add(i * 2_654_435_761, i)).toBe(i < 2000 ? i : -1);
    expect(table.find((1999 * 2_654_435_761) | 0, 1999)).toBe(1999);
    const tally = new Tally(3, () => ({ count: 0 }));
    for (const name of ['a', 'b', 'c', 'd', 'e']) tally.of(name);
    expect(tally).toMatchObject({ total: 5, dropped: 2 });
    const top = new TopList<number>(3);
    for (let i = 0; i < 50; i++)
      if (top.wants(i % 17)) top.add(i % 17, i);
      else top.skip();
    expect(top.bounded()).toEqual({ items: [16, 33, 15], total: 50 });
  });

  test('[PCAP-15] the time series keeps its number of bins, whatever the duration', () => {
    const series = new Series();
    for (let i = 0; i < 10_000; i++) series.packet(i * 3.6e12, 100);
    const facts = series.facts(0);
    expect(facts.packets.length).toBeLessThanOrEqual(512);
    expect(facts.packets.reduce((sum, n) => sum + n, 0)).toBe(10_000);
  });
});

describe('text', () => {
  test('[PCAP-26] whatever goes in, plain printable ASCII comes out', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => /^[\x20-\x7e…]*$/.test(safeText(text))));
    expect(safeText('a'.repeat(1000)).length).toBeLessThan(260);
  });

  test('[PCAP-28] IPv6 addresses are written the one canonical way', () => {
    expect(addressText([0x20010db8, 0, 0, 1], 6)).toBe('2001:db8::1');
    expect(addressText([0, 0, 0, 0], 6)).toBe('::');
    expect(addressText([0x20010db8, 0x00010000, 0x00010000, 0x00010000], 6)).toBe('2001:db8:1:0:1:0:1:0');
    expect(addressText([0xc0a80001, 0, 0, 0], 4)).toBe('192.168.0.1');
  });
});
