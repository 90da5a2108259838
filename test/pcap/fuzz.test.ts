/** Hostile files: whatever the bytes, an answer or a clear refusal, in time and without growing. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { analyze, NotACapture, semanticReport } from '../../src/pcap/index.ts';
import {
  type Bytes,
  concat,
  enhancedPacket,
  interfaceBlock,
  pcap,
  save,
  sectionHeader,
} from './support/craft.ts';
import { dnsOverTcp, fragmentedDatagrams } from './support/fragment-chaos.ts';
import { linkCaptures } from './support/link-captures.ts';
import { scratch } from './support/scratch.ts';
import { chaoticStacks } from './support/stack-chaos.ts';

const folder = scratch();
const RUNS = process.env.WRIT_LONG ? 5000 : 150;
const SLOWEST = 3000;

const bases: readonly Bytes[] = [
  pcap(chaoticStacks(1, 60, true)),
  pcap(fragmentedDatagrams(2, 20)),
  pcap(dnsOverTcp(3, 10, true)),
  concat([
    sectionHeader(),
    ...linkCaptures().map(({ link }) => interfaceBlock(link)),
    ...linkCaptures().flatMap(({ frames }, id) => frames.map((data) => enhancedPacket(data, 1n, id))),
  ]),
];

/** Changes some bytes, cuts or repeats a part. */
const damaged = fc
  .record({
    base: fc.constantFrom(...bases),
    changes: fc.array(
      fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 255 })),
      { maxLength: 40 },
    ),
    cut: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    again: fc.boolean(),
  })
  .map(({ base, changes, cut, again }) => {
    const copy = Uint8Array.from(base);
    for (const [where, value] of changes)
      copy[Math.min(copy.length - 1, Math.floor(where * copy.length))] = value;
    const kept = cut === null ? copy : copy.slice(0, Math.floor(cut * copy.length));
    return again ? concat([kept, kept.slice(kept.length >> 1)]) : kept;
  });

async function survives(name: string, file: Bytes): Promise<void> {
  const started = performance.now();
  try {
    const report = semanticReport(await analyze(save(folder.path(name), file)), []);
    expect(JSON.stringify(report).length).toBeLessThan(40_000);
  } catch (error) {
    expect(error).toBeInstanceOf(NotACapture);
  }
  expect(performance.now() - started).toBeLessThan(SLOWEST);
}

describe('hostile captures', () => {
  test('[PCAP-14] mutated captures never throw, hang or bloat the report', async () => {
    await fc.assert(
      fc.asyncProperty(damaged, (file) => survives('mutated.pcap', file)),
      { numRuns: RUNS },
    );
  });

  test('[PCAP-14] random bytes behind a valid header', async () => {
    const links = linkCaptures().map(({ link }) => link);
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...links),
        fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 }),
        (link, frames) => survives('random.pcap', pcap(frames, { link })),
      ),
      { numRuns: RUNS },
    );
  });

  test('[PCAP-14] lengths that claim gigabytes allocate nothing', async () => {
    const before = process.memoryUsage().rss;
    for (const value of [0x7fff_ffff, 0xffff_ffff, 0x1000_0000]) {
      const file = pcap(chaoticStacks(1, 6, false));
      new DataView(file.buffer).setUint32(24 + 8, value, true);
      await survives('claims.pcap', file);
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(200e6);
  });
});
