import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { resumeFlight } from '../../src/flight/index.ts';
import { bench } from './engine-kit.ts';
import { fly, folder, inProcess, writ } from './kit.ts';

const made: string[] = [];
afterAll(() => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});
const installed = ['terraform', 'tofu'].some((name) => spawnSync(name, ['version']).status === 0);

const CONFIG = `variable "word" {}
variable "pass" {
  default   = "correct-horse"
  sensitive = true
}
resource "terraform_data" "note" { input = var.word }
resource "terraform_data" "hidden" { input = var.pass }
`;

function place(config: object, more: Record<string, string> = {}): string {
  const steps = [{ id: 's', engine: 'terraform', config, approval: { role: 'platform' } }];
  const dir = folder({ 'workflow.yaml': JSON.stringify({ id: 't', steps }), 'main.tf': CONFIG, ...more });
  made.push(dir);
  return dir;
}

async function approved(dir: string, flight: string, approval: string) {
  await inProcess(dir, ({ queue }) =>
    queue.respond(approval, { approved: true, approver: 'ada', role: 'platform' }),
  );
  return inProcess(dir, (deps) => resumeFlight(deps, flight));
}

const artifactsOf = (dir: string, flight: string) => join(dir, '.writ/flights', flight, 'steps/s/artifacts');

describe.skipIf(!installed)('the engine terraform, with the real program', () => {
  it('[FLT-B1] the plan file is the state artifact; take-off applies that file and nothing else', async () => {
    const dir = place({ vars: { word: 'bonjour' } });
    const { code, json } = await fly(dir);
    expect({ code, error: json.error }).toEqual({ code: 4, error: null });
    const artifacts = artifactsOf(dir, json.flight_id);
    const { changes } = JSON.parse(readFileSync(join(artifacts, 'changes/body.data'), 'utf8'));
    expect(changes.map((c: { address: string }) => c.address)).toEqual([
      'terraform_data.hidden',
      'terraform_data.note',
    ]);
    expect(JSON.stringify(changes)).toContain('bonjour');
    expect(JSON.stringify(changes)).not.toContain('correct-horse');
    expect(readFileSync(join(artifacts, 'plan-text/body.data'), 'utf8')).toContain('2 to add');
    // Planning left the workspace as it was.
    expect(existsSync(join(dir, 'terraform.tfstate'))).toBe(false);
    const done = await approved(dir, json.flight_id, json.pending_approvals[0] ?? '');
    expect(done.status.error).toBeNull();
    expect(readFileSync(join(dir, 'terraform.tfstate'), 'utf8')).toContain('bonjour');
  });

  it('[FLT-B1] a plan file that changed after approval is not applied', async () => {
    const dir = place({ vars: { word: 'x' } });
    const { json } = await fly(dir);
    const plan = join(artifactsOf(dir, json.flight_id), 'plan/body.data');
    chmodSync(plan, 0o600);
    writeFileSync(plan, Buffer.concat([readFileSync(plan), Buffer.from('x')]));
    const done = await approved(dir, json.flight_id, json.pending_approvals[0] ?? '');
    expect(done.exit).toBe(5);
    expect(existsSync(join(dir, 'terraform.tfstate'))).toBe(false);
  });

  it('providers that are nowhere to be had are a clear failure', async () => {
    const needs = 'terraform {\n  required_providers {\n    null = { source = "hashicorp/null" }\n  }\n}\n';
    const { code, json } = await fly(place({ vars: { word: 'x' } }, { 'needs.tf': needs }));
    expect(code).toBe(1);
    expect(json.error?.message).toMatch(/terraform init: [\s\S]*plugin_dir/);
  });
});

/** Speaks terraform's command line as far as the engine uses it, and writes down how it was called. */
const STAND_IN = `#!/bin/sh
for word; do case "$word" in -out=*) out="\${word#-out=}";; esac; last="$word"; done
case "$2" in
  init) exit 0;;
  plan) printf 'a plan' > "$out";;
  show) if [ "$3" = -json ]; then printf '%s' '{"terraform_version":"1.0","resource_changes":[{"address":"x.y","change":{"actions":["delete"],"before":{"a":1},"after":null}}]}'; else echo '1 to destroy'; fi;;
  apply) { cat "$last"; echo " via $TF_DATA_DIR"; env; } > "$CABINCREW_WORKSPACE/applied";;
esac
`;

describe('the engine terraform, with a stand-in that speaks its command line', () => {
  it('[FLT-B1] deletions need a person, secrets are mapped and nothing else, the planned file is applied', async () => {
    const steps = [{ id: 's', engine: 'terraform', config: { program: './tf' }, secrets: ['TF_VAR_key'] }];
    const dir = folder({ 'workflow.yaml': JSON.stringify({ id: 't', steps }), tf: STAND_IN });
    made.push(dir);
    const env = { TF_VAR_key: 'open-sesame', OTHER: 'not-for-you' };
    const { code, json } = await fly(dir, 'workflow.yaml', { env });
    expect({ code, error: json.error }).toEqual({ code: 4, error: null });
    await inProcess(dir, ({ queue }) =>
      queue.respond(json.pending_approvals[0] ?? '', { approved: true, approver: 'ada', role: 'any' }),
    );
    const done = await inProcess(dir, (deps) => resumeFlight(deps, json.flight_id), { env });
    expect(done.status.error).toBeNull();
    const applied = readFileSync(join(dir, 'applied'), 'utf8');
    expect(applied).toContain('a plan via');
    expect(applied).toContain('TF_VAR_key=open-sesame');
    expect(applied).not.toContain('not-for-you');
  });

  it('not installed: said before anything runs', async () => {
    const dir = place({ program: 'no-such-terraform' });
    const { code, err } = await writ(dir, ['flight', 'run', 'workflow.yaml']);
    expect(code).toBe(2);
    expect(err).toContain('terraform is not installed');
    expect(err).toContain('install terraform or tofu');
  });

  it('what the plan calls sensitive is not shown, at any depth', () => {
    const at = bench();
    const change = {
      actions: ['update'],
      before: { a: { b: 'old-secret', c: 1 } },
      before_sensitive: { a: { b: true } },
      after: { a: { b: 'new-secret', c: 2 }, list: ['s1', 'open'] },
      after_sensitive: { a: { b: true }, list: [true] },
    };
    writeFileSync(
      join(at.temp, 'show.json'),
      JSON.stringify({ resource_changes: [{ address: 'r', change }] }),
    );
    writeFileSync(join(at.temp, 'show.txt'), 'text');
    writeFileSync(join(at.temp, 'plan.out'), 'plan');
    expect(at.run('terraform', {}).code).toBe(0);
    const shown = readFileSync(join(at.artifacts, 'changes/body.data'), 'utf8');
    expect(shown).not.toMatch(/secret|s1/);
    expect(shown).toContain('"open"');
  });
});
