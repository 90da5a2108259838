import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { writ } from '../flight/kit.ts';

/** Diagnose → propose → approve → fix → verified, as a person in a lab's shell would do it. */
const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

interface Proposal {
  readonly commands: readonly { readonly command: string; readonly undo: string }[];
  readonly nothing_because: string | null;
  readonly flight: {
    readonly flight_id: string;
    readonly pending_approvals: readonly string[];
    readonly how_to_go_on: readonly string[];
  } | null;
}

async function proposed(world: string) {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'writ-propose-')));
  made.push(cwd);
  const run = await writ(cwd, [
    'investigate',
    '--lab',
    world,
    '--yes',
    '--speed',
    '600',
    '--propose',
    '--json',
  ]);
  const events = run.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const proposal: Proposal = events.findLast((e) => e.type === 'proposal');
  const report = events.findLast((e) => e.type === 'report');
  const lab = /^WRIT_LAB_DIR=(\S+) /.exec(proposal.flight?.how_to_go_on.at(-1) ?? '')?.[1] ?? '';
  if (lab !== '') made.push(lab);
  return { cwd, code: run.code, proposal, report, env: { WRIT_LAB_DIR: lab } };
}

const approve = (cwd: string, { flight }: Proposal, role = 'network-lead') =>
  writ(cwd, ['approvals', 'approve', flight?.pending_approvals[0] ?? '', '--as', 'ada', '--role', role]);

describe('writ investigate --propose', () => {
  it.each([
    ['freight-booking-queue', 'nsg_deny', /^az network nsg rule create .* --access Allow/],
    ['redis-behind-dead-nva', 'route_wrong_next_hop', /^az network route-table route delete/],
    ['observatory-night-run', 'vm_not_running', /^az vm start/],
    ['vineyard-erp-peering', 'peering_disconnected', /^az network vnet peering sync/],
    ['pension-archive-blob', 'storage_firewall', /^az storage account network-rule add/],
    ['newsroom-media-cache', 'os_firewall_drop', /^az vm run-command invoke .* 'iptables -I INPUT/],
  ])('[FLT-R1] %s: the %s is gone after the flight', { timeout: 60_000 }, async (world, kind, remedy) => {
    const { cwd, code, proposal, report, env } = await proposed(world);
    expect(report.causes.map((c: { kind: string }) => c.kind)).toEqual([kind]);
    expect({ code, nothing: proposal.nothing_because }).toEqual({ code: 4, nothing: null });
    expect(proposal.commands[0]?.command).toMatch(remedy);
    expect(proposal.commands[0]?.undo).toMatch(/^az /);
    expect((await approve(cwd, proposal)).code).toBe(0);
    const done = await writ(cwd, ['flight', 'resume', proposal.flight?.flight_id ?? '', '--json'], env);
    expect({ code: done.code, error: done.json.error }).toEqual({ code: 0, error: null });
    // Asked again with the same words, a new investigation finds that fault no more.
    const symptom = readFileSync(join(cwd, 'audit', `ghost_rca_${sessionOf(report.path)}.json`), 'utf8');
    const again = await writ(
      cwd,
      ['investigate', JSON.parse(symptom).symptom, '--no-memory', '--json', '--audit-dir', 'second'],
      env,
    );
    const second = again.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const causes = second.findLast((e) => e.type === 'report').causes.map((c: { kind: string }) => c.kind);
    expect(causes).not.toContain(kind);
  });

  it('[FLT-R1] somebody changed it meanwhile: the flight stops and changes nothing', {
    timeout: 60_000,
  }, async () => {
    const { cwd, proposal, env } = await proposed('freight-booking-queue');
    const lab = (...args: string[]) =>
      execFileSync(join(env.WRIT_LAB_DIR, 'bin/az'), args, {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      });
    const nsg = ['-g', 'rg-freight', '--nsg-name', 'booking-nsg'];
    lab('network', 'nsg', 'rule', 'update', ...nsg, '-n', 'tidy-legacy-ports', '--priority', '150');
    const before = lab('network', 'nsg', 'rule', 'list', ...nsg);
    // Only the role that the proposal names can approve it.
    expect((await approve(cwd, proposal, 'intern')).code).toBe(3);
    expect((await approve(cwd, proposal)).code).toBe(0);
    const done = await writ(cwd, ['flight', 'resume', proposal.flight?.flight_id ?? '', '--json'], env);
    expect(done.code).toBe(1);
    expect(done.json.error?.message).toContain('nothing has been done');
    expect(lab('network', 'nsg', 'rule', 'list', ...nsg)).toBe(before);
  });

  it('[FLT-R2] where no safe command mends the cause, it says so and proposes nothing', {
    timeout: 60_000,
  }, async () => {
    const { code, proposal } = await proposed('tramway-timetable-api');
    expect(code).toBe(0);
    expect(proposal.flight).toBeNull();
    expect(proposal.nothing_because).toContain('no safe command');
  });
});

const sessionOf = (path: string) => /ghost_rca_(ghost_\w+)\.md$/.exec(path)?.[1] ?? '';
