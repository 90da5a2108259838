import { describe, expect, it } from 'vitest';
import { analyze } from '../../../src/pcap/analyze.ts';
import { type Comparison, compareRates } from '../../../src/pcap/compare/compare.ts';
import { compareEnds } from '../../../src/pcap/compare/dual-end.ts';
import { comparisonMarkdown } from '../../../src/pcap/compare/markdown.ts';
import { type Fault, sceneFile } from '../support/scenes.ts';

async function rates(a: Fault, b: Fault): Promise<Comparison> {
  return compareRates(await analyze(sceneFile(a)), await analyze(sceneFile(b)), null);
}
const metric = (c: Comparison, name: string) => c.metrics.find((m) => m.name === name);

describe('rates of two captures', () => {
  it('[PCAPR-30] a capture is stable against itself', async () => {
    const c = await rates('loss', 'loss');
    expect(c.verdict).toBe('stable');
    expect(c.metrics.length).toBeGreaterThan(3);
    expect(c.metrics.every((m) => m.change_pct === 0 && m.judgement === 'stable')).toBe(true);
  });

  it('[PCAPR-30] round trips a hundred times longer are critical, and better the other way round', async () => {
    const worse = await rates('clean', 'latency');
    expect(metric(worse, 'handshake time')).toMatchObject({ judgement: 'critical', worse: true });
    expect(worse.verdict).toBe('critical');
    const better = await rates('latency', 'clean');
    expect(metric(better, 'handshake time')).toMatchObject({ judgement: 'significant', worse: false });
  });

  it('[PCAPR-30] connections that fail where none failed before are critical', async () => {
    const c = await rates('clean', 'synDrop');
    expect(metric(c, 'handshake failure rate')).toMatchObject({ a: 0, b: 100, judgement: 'critical' });
  });

  it('[PCAPR-30] a retransmission rate is counted once a packet', async () => {
    const c = await rates('clean', 'loss');
    const { tcp } = await analyze(sceneFile('loss'));
    const share = (100 * tcp!.totals.retransmissions) / tcp!.totals.packets;
    expect(metric(c, 'retransmission rate')?.b).toBeCloseTo(share, 2);
  });

  it('[PCAPR-31] the page says what changed, where, and how sure it is', async () => {
    const [a, b] = [sceneFile('loss', 'client'), sceneFile('loss', 'server')];
    const text = comparisonMarkdown(
      compareRates(await analyze(a), await analyze(b), await compareEnds(a, b)),
    );
    expect(text.split('\n').slice(0, 4)).toContain('## Executive Summary');
    expect(text).toMatch(
      /Confidence high: \d+ packets were seen at both points; clock of B minus clock of A -?[\d.]+ ms/u,
    );
    expect(text).toContain('- **lost**, segment A → B, confidence high');
  });
});
