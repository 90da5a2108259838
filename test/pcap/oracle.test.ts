/** The engine against tshark, frame for frame. Skipped where tshark is not installed. */
import { describe, expect, test } from 'vitest';
import { differences } from './support/compare.ts';
import { cornerCases } from './support/corner-cases.ts';
import {
  type Captured,
  concat,
  enhancedPacket,
  interfaceBlock,
  pcap,
  random,
  save,
  sectionHeader,
} from './support/craft.ts';
import { dnsOverTcp, fragmentedDatagrams } from './support/fragment-chaos.ts';
import { linkCaptures } from './support/link-captures.ts';
import { scratch } from './support/scratch.ts';
import { chaoticStacks } from './support/stack-chaos.ts';
import { chaoticStreams, mptcpStreams, withBitErrors } from './support/tcp-chaos.ts';
import { tsharkVersion } from './support/tshark.ts';

const version = tsharkVersion();
/** The analysis rules changed between releases; these are the ones the engine follows. */
const supported = version?.startsWith('4.0.') === true;
const seeds = process.env.WRIT_LONG ? 40 : 2;

describe.skipIf(!supported)(`against tshark ${version ?? '(not installed)'}`, () => {
  const folder = scratch();

  const agree = async (name: string, frames: readonly Captured[]) =>
    expect(await differences(save(folder.path(name), pcap(frames)))).toEqual([]);

  test.each(Array.from({ length: seeds }, (_, i) => i + 1))(
    '[PCAP-10] TCP verdicts and ack RTTs are the same on chaotic streams, seed %i',
    async (seed) => agree(`tcp${seed}.pcap`, chaoticStreams(seed, 2000)),
  );

  test.each([1, 5])('[PCAP-10] and on streams whose numbers are damaged, seed %i', async (seed) =>
    agree(`damaged${seed}.pcap`, withBitErrors(chaoticStreams(seed, 2000), seed)),
  );

  test('[PCAP-10] multipath TCP repeats acks on purpose: the same ones are left out', async () => {
    for (let seed = 1; seed < 1 + seeds; seed++)
      for (const version of [0, 1] as const)
        await agree(`mptcp${seed}.pcap`, mptcpStreams(seed, 400, version));
  });

  test('[PCAP-07] nested encapsulations are followed alike', async () => {
    for (let seed = 101; seed < 101 + seeds; seed++)
      await agree(`stack${seed}.pcap`, chaoticStacks(seed, 600, false));
  });

  test('[PCAP-07] empty payloads, lengths that lie and pseudowires are taken alike', async () =>
    agree(
      'corners.pcap',
      cornerCases().map((data, i) => ({ data, seconds: 1_600_000_000 + i })),
    ));

  test('[PCAP-08] fragments are put together alike, late, twice and overlapping', async () => {
    for (let seed = 1; seed < 1 + seeds; seed++)
      await agree(`frag${seed}.pcap`, fragmentedDatagrams(seed, 80));
  });

  test('[PCAP-09] DNS over TCP is read alike in any order of segments', async () => {
    for (let seed = 1; seed < 1 + seeds; seed++) await agree(`dns${seed}.pcap`, dnsOverTcp(seed, 60, true));
  });

  test('[PCAP-06] every link type is read alike, all in one file', async () => {
    const all = linkCaptures();
    // Frame Relay keys its streams by circuit: it has a file of its own.
    const mixed = all.filter(({ name }) => name !== 'frame relay');
    const parts = [sectionHeader(), ...mixed.map(({ link }) => interfaceBlock(link))];
    let time = 1_600_000_000_000_000n;
    mixed.forEach(({ frames }, id) => {
      for (const data of frames) {
        time += 1000n;
        parts.push(enhancedPacket(data, time, id));
      }
    });
    expect(await differences(save(folder.path('links.pcapng'), concat(parts)))).toEqual([]);
    const relay = all.find(({ name }) => name === 'frame relay')!;
    const file = pcap(relay.frames, { link: relay.link });
    expect(await differences(save(folder.path('relay.pcap'), file))).toEqual([]);
  });

  test('[PCAP-04] damaged records are read to the same point', async () => {
    const r = random(7);
    const whole = pcap(chaoticStreams(9, 40));
    for (let i = 0; i < (process.env.WRIT_LONG ? 60 : 5); i++) {
      const file = Uint8Array.from(whole);
      // The first record headers: lengths and fractions decide which layout a file is taken to have.
      const at = 24 + r.int(3) * 70 + 8 + r.int(8);
      file[at] = r.pick([0, 1, 0x7f, 0xff]);
      expect(await differences(save(folder.path('damaged.pcap'), file)), `byte ${at}`).toEqual([]);
    }
  });
});
