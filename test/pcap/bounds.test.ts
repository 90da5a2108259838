/** What keeps memory bounded, each part by itself. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_SIGHTINGS, SightingColumns } from '../../src/pcap/compare/sightings.ts';
import { InternTable } from '../../src/pcap/facts/intern.ts';
import { NAME, NameTable } from '../../src/pcap/facts/name-table.ts';
import { Hasher, Pending } from '../../src/pcap/facts/pending.ts';
import { Samples, spreadOf } from '../../src/pcap/facts/samples.ts';
import { firstOf } from '../../src/pcap/facts/select.ts';
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

  test('[PCAP-15] whatever is asked and answered, a question waits until as many newer ones came as fit', () => {
    const h = new Hasher();
    const key = (n: number) => {
      h.low = Math.imul(n, 0x9e3779b1);
      h.high = n;
      return h;
    };
    fc.assert(
      fc.property(
        fc.constantFrom(300, 1000),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 400 }), fc.nat(100)), { minLength: 20, maxLength: 60 }),
        (bound, steps) => {
          const pending = new Pending(bound);
          const model: { readonly n: number; readonly number: number }[] = [];
          const wrong: number[] = [];
          let [n, dropped] = [0, 0];
          for (const [asked, answeredPercent] of steps) {
            for (let i = 0; i < asked; i++) {
              const lost = pending.put(key(++n), n, n, n);
              const gone = model[0]?.number === n - bound ? model.shift() : undefined;
              if (gone !== undefined) dropped++;
              if (lost !== (gone?.n ?? -1)) wrong.push(n);
              model.push({ n, number: n });
              if ((n * 61) % 100 >= answeredPercent) continue;
              if (!pending.take(key(n)) || pending.time !== n || pending.tag !== n) wrong.push(n);
              model.pop();
            }
          }
          expect(pending).toMatchObject({ size: model.length, dropped });
          expect([...pending.waiting()].map(({ tag }) => tag)).toEqual(model.map((entry) => entry.n));
          expect(model.every((entry) => pending.has(key(entry.n)))).toBe(true);
          expect(wrong).toEqual([]);
        },
      ),
      { numRuns: 15 },
    );
  });

  test('[PCAP-16] the first few and the quantiles are those that sorting gives', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 30 }),
        (values, keep) => {
          const wanted = values.map((_, i) => i).filter((i) => values[i]! > 3);
          const sorted = [...wanted].sort((a, b) => values[b]! - values[a]! || a - b);
          const first = firstOf(
            values.length,
            keep,
            (i) => values[i]! > 3,
            (a, b) => values[a]! > values[b]! || (values[a] === values[b] && a < b),
          );
          expect(first).toEqual({ indices: sorted.slice(0, keep), total: wanted.length });
          const order = values.toSorted((a, b) => a - b);
          const n = order.length;
          expect(spreadOf(Float64Array.from(values))).toEqual({
            count: n,
            min: order[0],
            median: (order[(n - 1) >> 1]! + order[n >> 1]!) / 2,
            p95: order[Math.min(n - 1, Math.floor(0.95 * n))],
            max: order[n - 1],
          });
        },
      ),
    );
  });

  test('[PCAP-15] names beyond the bound are only counted; those within keep their counts and first frames', () => {
    const table = new NameTable();
    const name = (text: string) => Uint8Array.from([text.length, ...Buffer.from(text), 0]);
    const of = (text: string) => {
      const h = new Hasher();
      [h.low, h.high] = [Number(text.slice(1)), 7];
      return table.of(h, name(text), 0);
    };
    for (let i = 0; i < 33_000; i++) of(`N${i}`);
    expect(table).toMatchObject({ dropped: 33_000 - 32_768 });
    expect(table.names[5000]).toBe('n5000');
    expect(of('N5000')).toBe(5000);
    expect(of('N32999')).toBe(-1);
    for (let frame = 1; frame <= 9; frame++) table.add(5000, NAME.queries, frame);
    table.add(5000, NAME.unanswered, 0);
    table.add(-1, NAME.queries, 3);
    expect(table.count(5000, NAME.queries)).toBe(9);
    expect(table.frames(5000, NAME.queries)).toEqual([1, 2, 3, 4, 5]);
    expect(table.count(5000, NAME.unanswered)).toBe(1);
    expect(table.frames(5000, NAME.unanswered)).toEqual([]);
    expect(table.count(4999, NAME.queries)).toBe(0);
    expect(table.count(5001, NAME.nxdomain)).toBe(0);
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

describe('sightings of two ends', () => {
  test('[PCAP-15] columns grow to their bound and keep what was put', () => {
    const columns = new SightingColumns();
    for (let i = 0; !columns.full; i++)
      columns.push({
        ...{ key: i * 2 ** 20, at: i + 0.5, route: i, service: i % 7, frame: i + 1, ttl: i & 255 },
        ...{ length: i % 1500, captured: i % 100, content: -i, start: i ^ 5 },
      });
    expect(columns.size).toBe(MAX_SIGHTINGS);
    expect(columns.key.length).toBe(MAX_SIGHTINGS);
    const last = MAX_SIGHTINGS - 1;
    expect([columns.key[last], columns.at[last], columns.content[last]]).toEqual([
      last * 2 ** 20,
      last + 0.5,
      -last,
    ]);
    expect([columns.route[5000], columns.ttl[5000], columns.start[5000]]).toEqual([
      5000,
      5000 & 255,
      5000 ^ 5,
    ]);
    expect([...columns.where((i) => columns.at[i]! < 3)]).toEqual([0, 1, 2]);
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
