import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const WORLDS = 'test/ghost/playbook/worlds';
const LONG = process.env.WRIT_LONG === '1';
const every = readdirSync(WORLDS).map((name) => `${WORLDS}/${name}`);

interface Result {
  readonly id: string;
  readonly claimed: readonly { readonly kind: string; readonly resource: string }[];
  readonly missed: readonly object[];
  readonly wrong: readonly object[];
  readonly exact: boolean;
  readonly citations_valid: boolean;
  readonly left_behind: number;
  readonly commands: number;
}

/** The whole product, as a person would run it. */
function bench(files: readonly string[], ...flags: readonly string[]): readonly Result[] {
  const done = spawnSync(process.execPath, ['bin/writ.js', 'lab', 'bench', ...files, ...flags, '--json'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return (JSON.parse(done.stdout) as { worlds: readonly Result[] }).worlds;
}

const pick = (...ids: readonly string[]) => ids.map((id) => `${WORLDS}/${id}.yaml`);
// One of each layer: names, routes, filters inside a machine, the wire, and nothing at all.
const SOME = pick(
  'print-shop-stale-name',
  'orchestra-bypass',
  'harbour-crane-forward',
  'campus-mail-two-causes',
  'hotel-kiosk-no-vpn',
);
const WITHOUT = pick('dental-xray-direction', 'gallery-guide-policy', 'hotel-kiosk-no-vpn');

describe('the playbook on its test worlds', () => {
  it('[PLAY-03] [PLAY-04] [PLAY-05] finds exactly the causes, cites what it ran, leaves nothing behind', {
    timeout: LONG ? 600_000 : 60_000,
  }, () => {
    const results = bench(LONG ? every : SOME);
    expect(results.filter((r) => !r.exact).map((r) => [r.id, r.missed, r.wrong])).toEqual([]);
    expect(results.filter((r) => !r.citations_valid || r.left_behind > 0).map((r) => r.id)).toEqual([]);
    const commands = results.map((r) => r.commands).sort((a, b) => a - b);
    expect(commands[Math.floor(commands.length / 2)]).toBeLessThanOrEqual(20);
  });

  it('[PLAY-06] claims nothing wrong, and never "no fault", when nobody approves', {
    timeout: LONG ? 600_000 : 60_000,
  }, () => {
    const results = bench(LONG ? every : WITHOUT, '--approve', 'none');
    expect(results.filter((r) => r.wrong.length > 0).map((r) => [r.id, r.wrong])).toEqual([]);
    expect(results.flatMap((r) => r.claimed).filter((c) => c.kind === 'no_fault')).toEqual([]);
  });
});
