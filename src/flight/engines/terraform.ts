import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { artifact, engine, Invalid } from './contract.ts';

/**
 * `terraform`: the plan file as state, what it would do as evidence. The plan has been made by terraform, launched
 * by the orchestrator; here it becomes artifacts. Take-off is terraform's again, with exactly this file.
 *
 * config: { dir?, vars?, var_files?, targets?, destroy?, refresh?, plugin_dir?, program? }
 */
interface Change {
  readonly address: string;
  readonly actions: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

engine('writ/terraform', {
  plan: (_, at) => {
    const temp = process.env.CABINCREW_TEMP_DIR ?? '';
    const shown: unknown = JSON.parse(readFileSync(join(temp, 'show.json'), 'utf8'));
    if (!isMap(shown)) throw new Invalid('terraform show -json printed no document');
    const changes = list(shown.resource_changes)
      .map(resourceChange)
      .filter((c) => !isNoop(c));
    const count = (action: string) => changes.filter((c) => c.actions.includes(action)).length;
    const counts = { create: count('create'), update: count('update'), delete: count('delete') };
    const outputs = isMap(shown.output_changes) ? Object.keys(shown.output_changes).sort() : [];
    return [
      artifact(
        at.artifacts,
        'plan',
        'state',
        {
          artifact_type: 'terraform-plan',
          action: 'apply',
          mime: 'application/zip',
          metadata: { ...counts, terraform_version: shown.terraform_version ?? null },
        },
        readFileSync(join(temp, 'plan.out')),
      ),
      artifact(
        at.artifacts,
        'changes',
        'evidence',
        { artifact_type: 'terraform-changes', action: 'show', mime: 'application/json', metadata: counts },
        JSON.stringify({ changes, outputs }),
      ),
      artifact(
        at.artifacts,
        'plan-text',
        'evidence',
        { artifact_type: 'text', action: 'show', mime: 'text/plain' },
        readFileSync(join(temp, 'show.txt')),
      ),
    ];
  },
  takeOff: () => {
    throw new Error('terraform is launched by the orchestrator');
  },
});

function resourceChange(given: unknown): Change {
  const resource = isMap(given) ? given : {};
  const change = isMap(resource.change) ? resource.change : {};
  return {
    address: String(resource.address ?? '?'),
    actions: list(change.actions).map(String),
    before: masked(change.before, change.before_sensitive),
    after: masked(change.after, change.after_sensitive),
  };
}

function isNoop(change: Change): boolean {
  return change.actions.every((a) => a === 'no-op' || a === 'read');
}

/** What terraform calls sensitive is not shown, at whatever depth it says so. */
function masked(value: unknown, sensitive: unknown): unknown {
  if (sensitive === true) return '(sensitive)';
  if (Array.isArray(value)) return value.map((v, i) => masked(v, list(sensitive)[i]));
  if (isMap(value)) {
    const marks = isMap(sensitive) ? sensitive : {};
    return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, masked(v, marks[key])]));
  }
  return value ?? null;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
