import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { project, type RunDocument } from './project.ts';

const home = project();
afterAll(home.remove);
const CHROMIUM = '/usr/bin/chromium';
const HOSTILE = '<img src=x onerror="document.title=\'pwned\'"><script>document.title="pwned"</script>';
let run: RunDocument;

beforeAll(async () => {
  home.file('a.txt', HOSTILE);
  run = await home.run(
    `version: "1.0"\nname: '${HOSTILE.replaceAll("'", "''")}'\nsteps:\n  - { tool: fs.read, id: a, args: { path: a.txt } }\n  - { tool: fs.write, args: { path: out/b.txt, content: x } }\n  - { tool: shell.run, args: { cmd: [sleep, "0.2"] } }\n  - { tool: fs.read, args: { path: /etc/passwd } }\n  - { tool: no.op }\n`,
    'tools: { fs.read: { allow_paths: ["./**"] }, fs.write: { allow_paths: ["./out/**"] }, shell.run: { allow_executables: [sleep] }, no.op: {} }',
  );
});

describe('reports', () => {
  it('[RUN-33] JSON has the structure of the contract', () => {
    const got = home.writ('report', run.run_id, '--format', 'json').json();
    expect(Object.keys(got)).toEqual([
      'report_version',
      'generated_at',
      'run',
      'plan',
      'policy',
      'steps',
      'summary',
    ]);
    expect(got).toMatchObject({
      report_version: '1.0',
      run: { run_id: run.run_id, status: 'failed', mode: 'run' },
      plan: { version: '1.0' },
      policy: { boundary: 'deny_by_default' },
    });
    expect(got.steps).toHaveLength(5);
    expect(got.steps[0]).toMatchObject({ tool: 'fs.read', status: 'success', args: { path: 'a.txt' } });
    expect(got.summary).toMatchObject({
      total_duration_ms: run.duration_ms,
      resources: {
        files_read: [`${home.path}/a.txt`],
        files_written: [`${home.path}/out/b.txt`],
        domains_contacted: [],
        commands_run: ['sleep 0.2'],
      },
      denials: [{ step: 3, rule: 'fs.read.allow_paths' }],
    });
  });

  it('[RUN-34] the console shows a timeline with marks, times, denials and what was touched', () => {
    const { stdout, code } = home.writ('report', run.run_id);
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ +0 fs\.read \(a\).*a\.txt.*ms/);
    expect(stdout).toMatch(/⊘ +3 fs\.read/);
    expect(stdout).toContain('fs.read.allow_paths: /etc/passwd is not in allow_paths (policy.yaml:1)');
    expect(stdout).toMatch(/· +4 no\.op/);
    expect(stdout).toContain('files written');
    expect(home.writ('show-run', run.run_id).stdout).toContain('sleep 0.2');
    expect(home.writ('show-run', run.run_id, '--json').json()).toMatchObject({
      run_id: run.run_id,
      mode: 'run',
      steps: run.steps,
      events: [{ event: 'started' }, { event: 'finished' }],
    });
    expect(home.writ('show-run', run.run_id.slice(0, 12), '--json').json().run_id).toBe(run.run_id);
  });

  it('terminal escapes in a record are shown, not obeyed', async () => {
    home.file('esc.txt', 'x');
    const got = await home.run(
      `version: "1.0"\nsteps:\n  - { tool: fs.read, args: { path: "\\e[31mred\\u202e" } }\n`,
      'tools: { fs.read: { allow_paths: ["./**"] } }',
    );
    const { stdout } = home.writ('report', got.run_id);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('\u202e');
  });

  it.skipIf(!existsSync(CHROMIUM))(
    '[RUN-35] the HTML is one file that a browser opens with its timeline drawn, and nothing in it runs',
    async () => {
      expect(home.writ('report', run.run_id, '--format', 'html', '-o', 'run.html').code).toBe(0);
      const html = home.read('run.html');
      expect(html).not.toMatch(/<script|src=["']?http|href=["']?http/i);
      const browser = await chromium.launch({
        executablePath: CHROMIUM,
        chromiumSandbox: false,
        args: ['--disable-background-networking', '--disable-component-update'],
      });
      try {
        const page = await browser.newPage();
        const requests: string[] = [];
        const errors: string[] = [];
        page.on('request', (request) => requests.push(request.url()));
        page.on('pageerror', (error) => errors.push(String(error)));
        await page.goto(pathToFileURL(`${home.path}/run.html`).href);
        expect(await page.title()).toBe(`Run ${run.run_id}`);
        expect(await page.locator('svg rect.step').count()).toBe(4);
        expect(await page.locator('svg rect.denied').count()).toBe(1);
        const widths = await page
          .locator('svg rect.step')
          .evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
        // The step that slept is by far the longest bar.
        expect(widths.indexOf(Math.max(...widths))).toBe(2);
        expect(await page.locator('details[id^=step]').count()).toBe(5);
        expect(await page.locator('.tile').allInnerTexts()).toEqual(
          expect.arrayContaining([
            expect.stringMatching(/^3 of 5\s+steps done$/),
            expect.stringMatching(/^1\s+denied$/),
          ]),
        );
        // A bar leads to its step, and nothing is wider than a phone.
        await page.locator('svg a').nth(3).click();
        expect(await page.evaluate('location.hash')).toBe('#step-3');
        await page.setViewportSize({ width: 390, height: 800 });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
        await page.locator('details').first().locator('summary').click();
        expect(await page.locator('details').first().innerText()).toContain('<script>');
        expect(await page.locator('img').count()).toBe(0);
        expect(requests).toEqual([pathToFileURL(`${home.path}/run.html`).href]);
        expect(errors).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    60_000,
  );
});
