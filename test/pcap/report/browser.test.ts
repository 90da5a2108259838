/** The HTML report in a real browser: it draws, it reaches for nothing, and hostile names stay text. */
import { existsSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { analyze } from '../../../src/pcap/analyze.ts';
import { findingsOf } from '../../../src/pcap/findings/index.ts';
import { htmlReport } from '../../../src/pcap/report/html.ts';
import { semanticReport } from '../../../src/pcap/semantic/build.ts';
import { dns, eth, ip4, udp } from '../support/craft.ts';
import { craftedFile, sceneFile, scratch } from '../support/scenes.ts';

const CHROMIUM = process.env['WRIT_CHROMIUM'] ?? '/usr/bin/chromium';
const missing = !existsSync(CHROMIUM);
if (missing) console.warn(`browser tests skipped: no browser at ${CHROMIUM}`);

async function written(file: string, name: string): Promise<string> {
  const analysis = await analyze(file);
  const path = scratch(name);
  writeFileSync(path, htmlReport(semanticReport(analysis, findingsOf(analysis)), analysis));
  return pathToFileURL(path).href;
}

describe.skipIf(missing)('the HTML report in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: CHROMIUM, chromiumSandbox: false, headless: true });
  });
  afterAll(() => browser?.close());

  async function open(url: string, width = 1200) {
    const page = await browser.newPage({ viewport: { width, height: 900 } });
    const trouble: string[] = [];
    page.on('console', (m) => void trouble.push(m.text()));
    page.on('pageerror', (e) => void trouble.push(e.message));
    page.on('dialog', (d) => {
      trouble.push('dialog');
      void d.dismiss();
    });
    page.on('request', (r) => r.url() !== url && trouble.push(r.url()));
    await page.goto(url);
    return { page, trouble };
  }

  it('[PCAPR-40] draws throughput, round trips, retransmissions and the conversations', async () => {
    const { page, trouble } = await open(await written(sceneFile('loss'), 'loss.html'));
    expect(await page.locator('figure svg').count()).toBe(3);
    for (const name of ['Throughput', 'Round-trip time', 'Retransmissions'])
      expect(await page.locator(`svg[aria-label^="${name}"] :is(rect, circle)`).count()).toBeGreaterThan(10);
    const bars = page.locator('svg[aria-label="conversations over time"] rect');
    expect(await bars.count()).toBe(25);
    const box = await page.locator('figure svg').first().boundingBox();
    expect(box?.width).toBeGreaterThan(700);
    expect(await page.locator('.finding').count()).toBe(1);
    expect(trouble).toEqual([]);
    const shot = process.env['WRIT_SCREENSHOT'];
    if (shot !== undefined) await page.screenshot({ path: shot, fullPage: true });
    await page.close();
  });

  it('[PCAPR-40] fits a narrow screen without scrolling sideways', async () => {
    const { page } = await open(await written(sceneFile('blackHole'), 'narrow.html'), 380);
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    expect(wide).toBeLessThanOrEqual(380);
    await page.close();
  });

  it('[PCAPR-41] hostile names make no element, run nothing and ask for nothing', async () => {
    const names = ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', '"><svg onload=alert(1)>'];
    const frames = names.flatMap((name, i) => [
      eth(0x0800, ip4(17, udp(40_000 + i, 53, dns({ id: i, name })), { id: i })),
      eth(
        0x0800,
        ip4(17, udp(53, 40_000 + i, dns({ id: i, name, flags: 0x8183 })), {
          id: i,
          src: [10, 0, 0, 2],
          dst: [10, 0, 0, 1],
        }),
      ),
    ]);
    const { page, trouble } = await open(await written(craftedFile('evil.pcap', frames), 'evil.html'));
    expect(await page.locator('script, img, iframe, [onload], [onerror], a').count()).toBe(0);
    expect(await page.locator('.finding').innerText()).toContain('onerror=alert(1)');
    expect(trouble).toEqual([]);
    await page.close();
  });
});
