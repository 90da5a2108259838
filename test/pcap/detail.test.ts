/** Counting alone and the full analysis see the same capture; a large file has the same hash as a small one. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { analyze } from '../../src/pcap/analyze.ts';
import { nth } from '../../src/pcap/facts/select.ts';
import { LARGE_FILE } from '../../src/pcap/read/file-hash.ts';
import { countFile } from '../../src/pcap/run.ts';
import { type Captured, concat, eth, ip4, pcap, random, save, udp, zeros } from './support/craft.ts';
import { dnsOverTcp, fragmentedDatagrams } from './support/fragment-chaos.ts';
import { scratch } from './support/scratch.ts';
import { chaoticStacks } from './support/stack-chaos.ts';
import { chaoticStreams } from './support/tcp-chaos.ts';

const folder = scratch();

describe('counters without facts', () => {
  const kinds: readonly (readonly [string, (seed: number) => Captured[]])[] = [
    ['streams', (seed) => chaoticStreams(seed, 400)],
    ['stacks', (seed) => chaoticStacks(seed, 300, true)],
    ['fragments', (seed) => fragmentedDatagrams(seed, 30)],
    ['dns', (seed) => dnsOverTcp(seed, 30, true)],
  ];
  test.each(kinds)('[PCAP-17] %s: the same as those of the full analysis', async (name, make) => {
    for (let seed = 1; seed <= 5; seed++) {
      const file = save(folder.path(`${name}-${seed}.pcap`), pcap(make(seed)));
      expect(await countFile(file)).toEqual((await analyze(file)).counters);
    }
  });
});

describe('the hash of a capture', () => {
  const big = () => {
    const frame = pcap([eth(0x0800, ip4(17, udp(1, 2, zeros(60_000))))]);
    const record = frame.subarray(24);
    const records = Array.from({ length: Math.ceil(LARGE_FILE / record.length) + 1 }, () => record);
    return concat([frame.subarray(0, 24), ...records]);
  };

  test('[PCAP-29] is that of the whole file, also on a thread of its own and behind damage', async () => {
    const whole = big();
    const damaged = Uint8Array.from(whole);
    // The tenth record claims more than any record can have: reading ends there, hashing does not.
    const tenth = 24 + 9 * (16 + 60_042);
    damaged.fill(0xff, tenth + 8, tenth + 12);
    for (const [name, data] of [
      ['whole', whole],
      ['damaged', damaged],
      ['small', whole.subarray(0, 200_000)],
    ] as const) {
      const file = save(folder.path(`${name}.pcap`), data);
      const { capture } = await analyze(file);
      expect(capture.sha256).toBe(createHash('sha256').update(readFileSync(file)).digest('hex'));
      expect(capture.packets).toBe(name === 'damaged' ? 9 : name === 'small' ? 3 : capture.packets);
    }
  });
});

test('[PCAP-16] the n-th value is that of the sorted values', () => {
  const r = random(3);
  for (let round = 0; round < 200; round++) {
    const values = Float64Array.from({ length: 1 + r.int(60) }, () => r.pick([r.int(5), r.int(1000) / 7]));
    const sorted = [...values].sort((a, b) => a - b);
    const k = r.int(values.length);
    expect(nth(values, k)).toBe(sorted[k]);
  }
});
