/** The commands as a person runs them. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dns, eth, ip4, pcap, save, udp } from './support/craft.ts';
import { scratch } from './support/scratch.ts';
import { chaoticStreams } from './support/tcp-chaos.ts';

const folder = scratch();
const root = join(import.meta.dirname, '..', '..');

function run(binary: 'writ' | 'pcap-forensics', args: readonly string[], cwd = folder.path('.')) {
  const done = spawnSync(process.execPath, [join(root, 'bin', `${binary}.js`), ...args], {
    encoding: 'utf8',
    cwd,
  });
  return { code: done.status, out: done.stdout, err: done.stderr };
}

const sample = () => save(folder.path('sample.pcap'), pcap(chaoticStreams(4, 200)));

describe('writ pcap counters', () => {
  test('[PCAP-17] one JSON document for any number of files, by name', () => {
    sample();
    save(folder.path('q.pcap'), pcap([eth(0x0800, ip4(17, udp(1, 53, dns())))]));
    const { code, out } = run('writ', ['pcap', 'counters', 'sample.pcap', 'q.pcap', '--json']);
    expect(code).toBe(0);
    const { files } = JSON.parse(out);
    expect(Object.keys(files)).toEqual(['sample.pcap', 'q.pcap']);
    expect(files['q.pcap']).toMatchObject({
      packets: 1,
      frames_dns: 1,
      dns_queries: 1,
      dns_rcodes: {},
      encap: 'Ethernet',
    });
  });

  test('[PCAP-17] a file that is no capture: zeros and the reason in the document, exit 2', () => {
    writeFileSync(folder.path('text.pcap'), 'no capture here\n');
    sample();
    const { code, out, err } = run('writ', ['pcap', 'counters', 'text.pcap', 'sample.pcap', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(out).files['text.pcap']).toMatchObject({ packets: 0, first_ts: null, file_type: null });
    expect(JSON.parse(out).files['sample.pcap'].packets).toBe(200);
    expect(err).toContain('not a capture');
  });
});

describe('analyze', () => {
  test.each(['writ', 'pcap-forensics'] as const)(
    '[PCAP-18] %s --json alone prints the semantic JSON and writes nothing',
    (binary) => {
      const cwd = folder.path(`quiet-${binary}`);
      mkdirSync(cwd);
      const args = binary === 'writ' ? ['pcap', 'analyze', sample(), '--json'] : [sample(), '--json'];
      const { code, out } = run(binary, args, cwd);
      expect(code).toBe(0);
      expect(JSON.parse(out)).toMatchObject({
        schema: 'writ.pcap.semantic/1',
        capture_summary: { total_packets: 200 },
      });
      expect(readdirSync(cwd)).toEqual([]);
    },
  );

  test('[PCAP-18] --semantic-dir gets <stem>_semantic.json', () => {
    const { code } = run('pcap-forensics', [sample(), '--semantic-dir', 'out', '--report-dir', 'out']);
    expect(code).toBe(0);
    const path = folder.path('out/sample_semantic.json');
    expect(existsSync(path)).toBe(true);
    expect(JSON.parse(readFileSync(path, 'utf8')).capture_summary.total_packets).toBe(200);
  });

  test('[PCAP-05] what is no capture: a sentence, what to do, exit 2', () => {
    writeFileSync(folder.path('note.txt'), 'hello');
    for (const [binary, args] of [
      ['writ', ['pcap', 'analyze', 'note.txt', '--json']],
      ['pcap-forensics', ['note.txt', '--json']],
      ['pcap-forensics', ['missing.pcap', '--json']],
    ] as const) {
      const { code, out, err } = run(binary, args);
      expect(code, args.join(' ')).toBe(2);
      expect(JSON.parse(out).error).toMatchObject({ code: 3004, suggestion: expect.any(String) });
      expect(err).toContain('try:');
    }
  });

  test('[PCAP-18] usage errors exit 2, help exits 0 with an example', () => {
    expect(run('pcap-forensics', []).code).toBe(2);
    expect(run('pcap-forensics', ['--nonsense', 'x']).code).toBe(2);
    const help = run('pcap-forensics', ['--help']);
    expect(help.code).toBe(0);
    expect(help.out).toContain('Example');
    expect(run('writ', ['pcap', 'analyze', '--help']).out).toContain('Example');
  });

  test('[PCAP-03] a truncated capture is reported with what was read, exit 0', () => {
    const whole = pcap(chaoticStreams(4, 50));
    save(folder.path('cut.pcap'), whole.slice(0, whole.length - 20));
    const { code, out } = run('pcap-forensics', ['cut.pcap', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out).capture_summary).toMatchObject({
      total_packets: 49,
      notes: [expect.stringContaining('middle of a packet')],
    });
  });
});
