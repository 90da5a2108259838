/** The narrative: prose of a model beside the report, with every number checked and nothing depending on it. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { narrativeOf } from '../../../src/pcap/report/narrative.ts';
import type { SemanticReport } from '../../../src/pcap/semantic/types.ts';
import { dns, eth, ip4, pcap, save, udp } from '../support/craft.ts';
import { scratch } from '../support/scratch.ts';

const folder = scratch();
const root = join(import.meta.dirname, '..', '..', '..');

const FACTS = {
  capture_summary: { file: 'a.pcap', total_packets: 12_345, duration_seconds: 60.4567 },
  findings: [{ title: 'No answer from 10.0.0.4:443' }],
} as unknown as SemanticReport;
const told = (text: string) => narrativeOf(FACTS, { model: 'm', tell: async () => text });

describe('what is kept of the prose', () => {
  test('[PCAPR-50] numbers of the facts pass, grouped or rounded; others are marked', async () => {
    const n = await told('12,345 packets in 60.46 s, about 60 s; 10.0.0.4 port 443 lost 17 % of 999.');
    expect(n).toMatchObject({ written: true, unsupported: ['17', '999'] });
    expect(n.written && n.paragraphs[0]).toContain('lost 17 (not in the facts) % of 999 (not in the facts).');
  });

  test('[PCAPR-50] markup, length and number of paragraphs are bounded', async () => {
    const n = await told(`# Title\n\n1. first\n- second\n${'x\n'.repeat(100)}${'y'.repeat(50_000)}`);
    expect(n.written && n.paragraphs.slice(0, 3)).toEqual(['Title', 'first', 'second']);
    expect(n.written && n.paragraphs.length).toBeLessThanOrEqual(12);
    expect(JSON.stringify(await told('z'.repeat(100_000))).length).toBeLessThan(7000);
  });

  test('[PCAPR-50] no text, an error, no model: absent, with the reason', async () => {
    expect(await told('  \n ')).toEqual({ written: false, reason: 'the model gave no text' });
    expect(await narrativeOf(FACTS, { absent: 'no model is set up' })).toEqual({
      written: false,
      reason: 'no model is set up',
    });
    const tell = () => Promise.reject(new Error('the model answered 500'));
    expect(await narrativeOf(FACTS, { model: 'm', tell })).toEqual({
      written: false,
      reason: 'the model answered 500',
    });
  });
});

let server: Server | undefined;
afterEach(() => new Promise<void>((done) => (server ? server.close(() => done()) : done())));

/** A provider on loopback that says the text in both protocols. */
async function provider(text: string, status = 200): Promise<{ url: string; bodies: string[] }> {
  const bodies: string[] = [];
  server = createServer(async (req, res) => {
    let body = '';
    for await (const chunk of req) body += chunk;
    bodies.push(body);
    res.writeHead(status, { 'content-type': 'application/json' });
    res.end(
      JSON.stringify(
        req.url?.includes('generateContent')
          ? { candidates: [{ content: { role: 'model', parts: [{ text }] } }] }
          : { id: '1', choices: [{ index: 0, message: { role: 'assistant', content: text } }] },
      ),
    );
  });
  await new Promise<void>((listening) => server!.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies };
}

/** Runs analyze in a folder of its own; nothing of the caller's environment names a model. */
function analyse(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const cwd = folder.path(name);
  mkdirSync(cwd);
  const query = eth(0x0800, ip4(17, udp(4000, 53, dns({ name: 'secret-payload.example.com' }))));
  save(join(cwd, 'a.pcap'), pcap([query, query]));
  const argv = [join(root, 'bin', 'writ.js'), 'pcap', 'analyze', 'a.pcap', '--html', '--narrative', ...args];
  const path = process.env.PATH ?? '';
  return new Promise<{ code: unknown; err: string; md: string; html: string; semantic: string }>((done) => {
    execFile(process.execPath, argv, { cwd, env: { PATH: path, ...env } }, (error, _out, err) =>
      done({
        code: error === null ? 0 : error.code,
        err,
        md: readFileSync(join(cwd, 'a_forensic_report.md'), 'utf8'),
        html: readFileSync(join(cwd, 'a_forensic_report.html'), 'utf8'),
        semantic: readFileSync(join(cwd, 'a_semantic.json'), 'utf8'),
      }),
    );
  });
}

const HOSTILE = '<script>alert(1)</script> [click](http://evil.example) 2 packets and 4711 lies';

describe('analyze --narrative', () => {
  test.each([
    ['openai', {}],
    ['gemini', { GEMINI_API_KEY: 'key-of-this-test' }],
  ] as const)('[PCAPR-50] %s: marked, escaped, apart from the facts', async (brain, env) => {
    const { url, bodies } = await provider(HOSTILE);
    const { code, md, html, semantic } = await analyse(brain, ['--brain', brain, '--base-url', url], env);
    expect(code).toBe(0);
    expect(md).toContain('## Narrative (written by a model)');
    expect(md.indexOf('## Findings')).toBeLessThan(md.indexOf('## Narrative'));
    expect(md).toContain('4711 (not in the facts)');
    expect(md).not.toMatch(/<script>|\[click\]\(/u);
    expect(html).toContain('Narrative (written by a model)');
    expect(html).not.toContain('<script>');
    expect(semantic).not.toMatch(/narrative|4711/iu);
    // The model saw the semantic JSON: one call, no tools, no bytes of packets.
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain('capture_summary');
    expect(bodies[0]).not.toContain('"tools"');
  });

  test('[PCAPR-50] no key, and a provider that refuses: the report is complete and says why', async () => {
    const none = await analyse('none', []);
    expect(none.code).toBe(0);
    expect(none.err).toContain('no narrative: no model is set up');
    expect(none.md).toContain('## Executive Summary');
    expect(none.md).toMatch(/## Narrative\n\nAbsent: no model is set up/u);
    const { url } = await provider('', 400);
    const refused = await analyse('refused', ['--brain', 'openai', '--base-url', url]);
    expect(refused.code).toBe(0);
    expect(refused.md).toContain('## Executive Summary');
    expect(refused.html).toContain('<h2>Narrative</h2>');
    expect(refused.md).toMatch(/Absent: .*400/u);
  });
});
