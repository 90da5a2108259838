/** `writ pcap verify` as a person uses it: a report holds against its capture, and only against that. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verificationExit, verifyReport } from '../../../src/pcap/report/verify.ts';
import type { Finding, SemanticReport } from '../../../src/pcap/semantic/types.ts';
import { type Fault, sceneFile, scratch } from '../support/scenes.ts';

const ROOT = join(import.meta.dirname, '../../..');
function run(bin: 'writ' | 'pcap-forensics', cwd: string, ...args: string[]) {
  const done = spawnSync(process.execPath, [join(ROOT, 'bin', `${bin}.js`), ...args], {
    cwd,
    encoding: 'utf8',
    timeout: 20_000,
    env: { ...process.env, NO_COLOR: '1' },
  });
  return { status: done.status, stdout: done.stdout, stderr: done.stderr };
}

/** A folder with a capture and its report. */
function reported(fault: Fault): { readonly dir: string; readonly report: string; readonly capture: string } {
  const dir = scratch(`verify-${fault}`);
  const report = join(dir, `${fault}-client_semantic.json`);
  const capture = join(dir, `${fault}-client.pcap`);
  if (!existsSync(dir)) {
    mkdirSync(dir);
    copyFileSync(sceneFile(fault), capture);
    expect(run('writ', dir, 'pcap', 'analyze', basename(capture), '--html').status).toBe(0);
  }
  return { dir, report, capture };
}

type Edit = (report: { findings: Finding[] } & Omit<SemanticReport, 'findings'>) => void;
const first =
  (change: (f: Finding) => Finding): Edit =>
  (r) => {
    r.findings[0] = change(r.findings[0]!);
  };
const EDITS: Readonly<Record<string, Edit>> = {
  severity: first((f) => ({ ...f, severity: 'LOW' })),
  frames: first((f) => ({ ...f, frames: [...f.frames.slice(1), 1] })),
  'one frame less': first((f) => ({ ...f, frames: f.frames.slice(0, -1) })),
  predicate: first((f) => ({ ...f, predicate: `${f.predicate} ` })),
  title: first((f) => ({ ...f, title: 'All is well' })),
  explanation: first((f) => ({ ...f, explanation: 'Nothing to see.' })),
  remediation: first((f) => ({ ...f, remediation: [] })),
  'a field more': first((f) => Object.assign({}, f, { note: 'x' })),
  id: first((f) => ({ ...f, id: 'something_else' })),
  'a finding left out': (r) => void r.findings.shift(),
  'a finding twice': (r) => void r.findings.push(r.findings[0]!),
  'a finding made up': (r) => void r.findings.push({ ...r.findings[0]!, id: 'zero_window' }),
  'no findings': (r) => void r.findings.splice(0),
  'a figure of the TCP section': (r) => Object.assign(r.tcp!, { rst_count: 12_345 }),
  'the hash': (r) => Object.assign(r.capture_summary, { sha256: '0'.repeat(64) }),
};

describe('verify', () => {
  it.each(['blackHole', 'noName', 'clean', 'loss'] as const)(
    '[PCAPR-14] the report of %s holds',
    async (fault) => {
      const { dir, report } = reported(fault);
      const v = await verifyReport(report, dir);
      expect(v).toMatchObject({ hash_matches: true, missing: [], altered: [], verified: true });
      expect(verificationExit(v)).toBe(0);
    },
  );

  it.each(Object.entries(EDITS))('[PCAPR-15] after an edit of %s it fails with 5', async (name, edit) => {
    const { dir, report } = reported('blackHole');
    const edited = JSON.parse(readFileSync(report, 'utf8'));
    edit(edited);
    const file = join(dir, `edited-${name.replaceAll(' ', '-')}.json`);
    writeFileSync(file, JSON.stringify(edited));
    const v = await verifyReport(file, dir);
    expect(v.verified).toBe(false);
    expect(verificationExit(v)).toBe(5);
  });

  it('[PCAPR-15] one byte of the capture changed: nothing holds, exit 5', () => {
    const { dir, report, capture } = reported('loss');
    expect(run('writ', dir, 'pcap', 'verify', report).status).toBe(0);
    const bytes = readFileSync(capture);
    bytes[bytes.length - 1]! ^= 1;
    const other = join(dir, 'other.pcap');
    writeFileSync(other, bytes);
    const done = run('writ', dir, 'pcap', 'verify', report, '--capture', other, '--json');
    expect(done.status).toBe(5);
    expect(JSON.parse(done.stdout)).toMatchObject({ hash_matches: false, verified: false });
  });

  it('[PCAPR-16] no report, no capture: exit 2 and what to do', () => {
    const { dir, report } = reported('blackHole');
    for (const args of [
      ['nothing.json'],
      [report, '--capture', 'gone.pcap'],
      [join(dir, 'blackHole-client.pcap')],
    ]) {
      const done = run('writ', dir, 'pcap', 'verify', ...args);
      expect(done.status).toBe(2);
      expect(done.stderr).toMatch(/try:|semantic\.json|--capture/u);
    }
  });
});

describe('commands', () => {
  it('[PCAPR-17] analyze writes its files and no others; --json alone writes none', () => {
    const { dir } = reported('noName');
    const names = readdirSync(dir).filter((n) => n.startsWith('noName-client'));
    expect(names.sort()).toEqual([
      'noName-client.pcap',
      'noName-client_executive_summary.md',
      'noName-client_forensic_report.html',
      'noName-client_forensic_report.md',
      'noName-client_semantic.json',
    ]);
    const empty = scratch('json-alone');
    mkdirSync(empty);
    const done = run('pcap-forensics', empty, join(dir, 'noName-client.pcap'), '--json');
    expect(JSON.parse(done.stdout)).toMatchObject({ schema: 'writ.pcap.semantic/1' });
    expect(readdirSync(empty)).toEqual([]);
  });

  it('[PCAPR-18] two captures of one name keep their own reports and a comparison', () => {
    const dir = scratch('same-name');
    for (const end of ['client', 'server'] as const) {
      mkdirSync(join(dir, end), { recursive: true });
      copyFileSync(sceneFile('loss', end), join(dir, end, 'trace.pcap'));
    }
    const done = run(
      'pcap-forensics',
      dir,
      'client/trace.pcap',
      '--compare',
      'server/trace.pcap',
      '--report-dir',
      'out',
      '--semantic-dir',
      'out',
    );
    expect(done.status).toBe(0);
    const made = readdirSync(join(dir, 'out'));
    for (const name of [
      'trace_semantic.json',
      'trace-2_semantic.json',
      'trace_vs_trace-2_comparison.md',
      'trace_vs_trace-2_comparison.json',
    ])
      expect(made).toContain(name);
    const comparison = JSON.parse(readFileSync(join(dir, 'out/trace_vs_trace-2_comparison.json'), 'utf8'));
    expect(comparison.dual_end.verdicts.map((v: { what: string }) => v.what)).toEqual(['lost', 'lost']);
  });

  it('[PCAPR-19] what is no capture: exit 2, a message, no report', () => {
    const dir = scratch('bad');
    mkdirSync(dir);
    writeFileSync(join(dir, 'text.pcap'), 'these are not packets, whatever the name says\n');
    for (const file of ['text.pcap', '.', 'missing.pcap']) {
      const done = run('pcap-forensics', dir, file);
      expect(done.status).toBe(2);
      expect(done.stderr).toMatch(/^error/u);
    }
    expect(readdirSync(dir)).toEqual(['text.pcap']);
  });
});
