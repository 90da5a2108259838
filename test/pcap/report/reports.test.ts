/** What people read: Markdown, the executive summary and HTML, from any capture. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { analyze } from '../../../src/pcap/analyze.ts';
import { findingsOf } from '../../../src/pcap/findings/index.ts';
import { html, md, mdCode } from '../../../src/pcap/report/escape.ts';
import { htmlReport } from '../../../src/pcap/report/html.ts';
import { executiveSummary, forensicReport } from '../../../src/pcap/report/markdown.ts';
import { semanticReport } from '../../../src/pcap/semantic/build.ts';
import type { Finding, SemanticReport } from '../../../src/pcap/semantic/types.ts';
import { type Bytes, dns, eth, ip4, SYN, tcp, udp, zeros } from '../support/craft.ts';
import { craftedFile, type Fault, sceneFile } from '../support/scenes.ts';

async function reportsOf(file: string) {
  const analysis = await analyze(file);
  const report = semanticReport(analysis, findingsOf(analysis));
  return {
    analysis,
    report,
    markdown: forensicReport(report, analysis),
    summary: executiveSummary(report),
    page: htmlReport(report, analysis),
  };
}
const lines = (text: string) => text.trimEnd().split('\n');
const FAULTS: readonly Fault[] = [
  'clean',
  'loss',
  'blackHole',
  'closedPort',
  'reject',
  'noName',
  'zeroWindow',
];

describe('reports', () => {
  it.each(FAULTS)(
    '[PCAPR-10] %s: summary near the top, every finding with frames, check and remedy',
    async (fault) => {
      const { markdown, report } = await reportsOf(sceneFile(fault));
      expect(lines(markdown).slice(0, 6)).toContain('## Executive Summary');
      for (const f of report.findings) {
        expect(markdown).toContain(`- Id: \`${f.id}\``);
        expect(markdown).toContain(`- Frames: ${f.frames.join(', ')}`);
        expect(markdown).toContain(`- Check: \`${f.predicate}\``);
      }
      expect(markdown).toContain(report.capture_summary.sha256);
      expect(markdown).not.toMatch(/undefined|NaN|\[object/u);
    },
  );

  it.each(FAULTS)('[PCAPR-11] %s: the executive summary keeps to fifty lines', async (fault) => {
    const { summary, report } = await reportsOf(sceneFile(fault));
    expect(lines(summary).length).toBeLessThanOrEqual(50);
    expect(summary).toContain('Executive Summary');
    for (const f of report.findings) expect(summary).toContain(f.severity);
  });

  it('[PCAPR-11] fifty lines hold for any number of findings with any text', async () => {
    const { report } = await reportsOf(sceneFile('clean'));
    const finding = fc.record({
      id: fc.string(),
      severity: fc.constantFrom('CRITICAL', 'HIGH', 'MEDIUM', 'LOW', 'INFO'),
      title: fc.string({ unit: 'binary' }),
      explanation: fc.string({ unit: 'binary' }),
      frames: fc.array(fc.nat()),
      predicate: fc.string(),
      remediation: fc.array(fc.string({ unit: 'binary' })),
    });
    fc.assert(
      fc.property(fc.array(finding, { maxLength: 60 }), fc.array(fc.string()), (findings, notes) => {
        const made: SemanticReport = {
          ...report,
          capture_summary: { ...report.capture_summary, notes },
          findings: findings as Finding[],
        };
        expect(executiveSummary(made).split(/\r\n|[\n\r\u2028\u2029\v\f]/u).length).toBeLessThanOrEqual(51);
      }),
      { numRuns: 20 },
    );
  });

  it('[PCAPR-12] no packets: every report says so', async () => {
    const { markdown, summary, page } = await reportsOf(craftedFile('empty.pcap', []));
    for (const text of [markdown, summary, page]) expect(text).toContain('holds no packets');
  });

  it('[PCAPR-12] a capture cut in the middle of a packet: every report says so', async () => {
    const whole = craftedFile('whole.pcap', [eth(0x0800, ip4(17, udp(1, 2, zeros(40))))]);
    const { readFileSync, writeFileSync } = await import('node:fs');
    writeFileSync(whole, readFileSync(whole).subarray(0, -10));
    const { markdown, summary, page, report } = await reportsOf(whole);
    const note = report.capture_summary.notes?.[0] ?? '';
    expect(note).not.toBe('');
    for (const text of [markdown, summary]) expect(text).toContain(md(note));
    expect(page).toContain(html(note));
  });

  it('[PCAPR-12] packets cut by the snap length: every report says so', async () => {
    const cut = { data: eth(0x0800, ip4(17, udp(1, 2, zeros(20)))), length: 900 };
    const { markdown, summary, page } = await reportsOf(craftedFile('snap.pcap', [cut, cut]));
    for (const text of [markdown, summary, page]) expect(text).toMatch(/2 packets were cut/u);
  });
});

const HOSTILE = [
  '<script>alert(1)</script>.example',
  '<img src=x onerror=alert(1)>.example',
  '[click](javascript:alert(1)).example',
  '| a | b |.example',
  '`code` **bold** _it_.example',
  '"><svg onload=alert(1)>.example',
  '\u001b[31mred\u0007.example',
];

describe('hostile names', () => {
  const asked = (name: string, id: number): readonly Bytes[] => [
    eth(0x0800, ip4(17, udp(40_000 + id, 53, dns({ id, name })), { id })),
    eth(
      0x0800,
      ip4(17, udp(53, 40_000 + id, dns({ id, name, flags: 0x8183 })), {
        id,
        src: [10, 0, 0, 2],
        dst: [10, 0, 0, 1],
      }),
    ),
  ];

  it('[PCAPR-13] stay text in Markdown and HTML', async () => {
    const frames = HOSTILE.flatMap((name, i) =>
      asked(name.replaceAll('.', '\u0001').replace('\u0001example', '.example'), i + 1),
    );
    const { markdown, summary, page, report } = await reportsOf(craftedFile('hostile.pcap', frames));
    expect(report.dns?.nxdomain_domains.length).toBe(HOSTILE.length);
    for (const text of [markdown, summary]) {
      expect(text).not.toMatch(/<(?:script|img|svg)/iu);
      expect(text).not.toMatch(/(?<!\\)\[click/u);
      expect(text.includes('\u001b') || text.includes('\u0007')).toBe(false);
    }
    // Every row of the tables has the cells its header has.
    const rows = markdown.split('\n').filter((l) => l.startsWith('| ') && l.includes('NXDOMAIN'));
    expect(rows.length).toBe(HOSTILE.length);
    for (const row of rows) expect(row.replaceAll('\\|', '').split('|').length).toBe(6);
    expect(page).not.toMatch(/<script|<img|\u001b/iu);
    expect(page.match(/<svg /gu)?.length ?? 0).toBe(page.match(/<svg [^>]*role="img"/gu)?.length ?? 0);
  });

  it('[PCAPR-13] a file name is hostile too', async () => {
    const name = 'a`<b>|*x*\n# y.pcap';
    const file = craftedFile('plain.pcap', [
      eth(0x0800, ip4(6, tcp({ src: 1, dst: 2, seq: 1, ack: 0, flags: SYN }))),
    ]);
    const analysis = await analyze(file);
    const named = { ...analysis, capture: { ...analysis.capture, file: name } };
    const report = semanticReport(named, findingsOf(named));
    expect(forensicReport(report, named).split('\n')[0]).toBe(
      '# Forensic report — a\\`&lt;b&gt;\\|\\*x\\* \\# y.pcap',
    );
    expect(htmlReport(report, named)).toContain('<strong>a`&lt;b&gt;|*x* # y.pcap</strong>');
  });

  it('[PCAPR-13] escaping leaves no markup, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(html(text)).not.toMatch(/[<>"']/u);
        expect(md(text)).not.toMatch(/[<>\n\r]|(?<!\\)(?:\\\\)*[`*_[\]|]/u);
        expect(mdCode(text).slice(1, -1)).not.toMatch(/[`\n\r]/u);
      }),
      { numRuns: 300 },
    );
  });
});
