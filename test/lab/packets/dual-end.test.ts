/** Captures at two ends of the same minutes are captures of the same packets. */
import { describe, expect, it } from 'vitest';
import { synthesizeCapture } from '../../../src/lab/packets/index.ts';
import { NOW_MS, pair } from './pair.ts';
import { hasTshark, rows } from './tshark.ts';

const FIELDS = ['ip.src', 'ip.id', 'tcp.srcport', 'tcp.seq_raw', 'tcp.len', 'tcp.flags', 'frame.time_epoch'];

function seen(pcap: Uint8Array): Map<string, number> {
  return new Map(
    rows(pcap, 'tcp', ...FIELDS).map((row) => [row.slice(0, 6).join(' '), Number(row[6]) * 1000]),
  );
}

describe.skipIf(!hasTshark)('two ends', () => {
  const world = pair({
    id: 'two-ends',
    server: { link: { loss_pct: 3, delay_ms: 2 } },
    flow: { bytes: 20_000 },
  });
  const client = seen(synthesizeCapture(world, { vm: 'client', startMs: NOW_MS, durationMs: 30_000 }));
  // Started three seconds later, as a second `create` would be.
  const server = seen(synthesizeCapture(world, { vm: 'server', startMs: NOW_MS + 3000, durationMs: 30_000 }));

  it('[LABP-30] every packet one end received was sent by the other, under the same numbers', () => {
    const times = [...client.values()];
    const from = NOW_MS + 3_100;
    const to = Math.max(...times) - 100;
    const inside = (time: number) => time > from && time < to;
    const arrivedAtServer = [...server].filter(([key, time]) => key.startsWith('10.7.1.4') && inside(time));
    const arrivedAtClient = [...client].filter(([key, time]) => key.startsWith('10.7.2.4') && inside(time));
    expect(arrivedAtServer.length).toBeGreaterThan(500);
    expect(arrivedAtServer.filter(([key]) => !client.has(key))).toEqual([]);
    expect(arrivedAtClient.filter(([key]) => !server.has(key))).toEqual([]);
  });

  it('[LABP-30] what was lost is missing at the far end only, in the stated share', () => {
    const overlap = (time: number) => time > NOW_MS + 3_100 && time < NOW_MS + 29_900;
    const sent = [...client].filter(([key, time]) => key.startsWith('10.7.1.4') && overlap(time));
    const lost = sent.filter(([key]) => !server.has(key));
    expect(lost.length / sent.length).toBeGreaterThan(0.015);
    expect(lost.length / sent.length).toBeLessThan(0.05);
  });

  it('[LABP-31] the clocks differ by a few milliseconds, the same all the time', () => {
    const there: number[] = [];
    const back: number[] = [];
    for (const [key, time] of client) {
      const other = server.get(key);
      if (other === undefined) continue;
      if (key.startsWith('10.7.1.4')) there.push(other - time);
      else back.push(time - other);
    }
    // One way plus the offset, the other way minus it: half the difference is the offset.
    const offset = (Math.min(...there) - Math.min(...back)) / 2;
    const oneWay = (Math.min(...there) + Math.min(...back)) / 2;
    expect(Math.abs(offset)).toBeGreaterThan(0.1);
    expect(Math.abs(offset)).toBeLessThan(10);
    expect(oneWay).toBeGreaterThan(2);
    expect(oneWay).toBeLessThan(3);
  });

  it('[LABP-32] an appliance on the way sees each packet come and go, one hop older', () => {
    const through = pair({ id: 'through', appliance: {}, flow: { every_ms: 1000, bytes: 600 } });
    const start = { startMs: NOW_MS, durationMs: 10_000 };
    const nva = rows(
      synthesizeCapture(through, { vm: 'nva', ...start }),
      'tcp',
      'ip.id',
      'ip.ttl',
      'eth.src',
    );
    const far = rows(synthesizeCapture(through, { vm: 'server', ...start }), 'ip.src == 10.7.1.4', 'ip.ttl');
    expect(new Set(far.map(([ttl]) => ttl))).toEqual(new Set(['63']));
    const came = nva.filter(([, ttl]) => ttl === '64').length;
    const went = nva.filter(([, ttl]) => ttl === '63').length;
    expect(came).toBeGreaterThan(50);
    expect(Math.abs(came - went)).toBeLessThanOrEqual(2);
  });
});
