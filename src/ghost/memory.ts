import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../core/index.ts';

/** What earlier investigations left behind, read and never written. */
export interface Investigation {
  readonly session_id: string;
  readonly generated_at: string;
  readonly symptom: string;
  readonly summary: string;
  readonly verdict: string;
  readonly confidence: string;
  readonly causes: readonly {
    readonly kind: string;
    readonly resource: string;
    readonly detail: string | null;
    readonly verdict: string;
  }[];
  readonly path: string;
}

const MAX_FILES = 500;
const MAX_OFFERED = 5;

/** Every finished investigation in the folder, newest first. Unreadable files are left out. */
export function pastInvestigations(auditDir: string): readonly Investigation[] {
  if (!existsSync(auditDir)) return [];
  return readdirSync(auditDir)
    .filter((name) => /^ghost_rca_[\w-]+\.json$/.test(name))
    .sort()
    .reverse()
    .slice(0, MAX_FILES)
    .flatMap((name) => {
      const found = readInvestigation(join(auditDir, name));
      return found === undefined ? [] : [found];
    });
}

export function readInvestigation(path: string): Investigation | undefined {
  const parsed = parseJson(readFileSync(path, 'utf8'));
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const text = (key: string) =>
    typeof (parsed.value as Record<string, unknown>)[key] === 'string'
      ? String((parsed.value as Record<string, unknown>)[key])
      : '';
  const causes = Array.isArray(parsed.value.causes) ? parsed.value.causes.filter(isJsonObject) : [];
  if (text('session_id') === '') return undefined;
  return {
    session_id: text('session_id'),
    generated_at: text('generated_at'),
    symptom: text('symptom'),
    summary: text('summary'),
    verdict: text('verdict'),
    confidence: text('confidence'),
    causes: causes.map((c) => ({
      kind: String(c.kind),
      resource: String(c.resource),
      detail: c.detail === null ? null : String(c.detail),
      verdict: String(c.verdict),
    })),
    path,
  };
}

/** Those that concern the same resources, addresses or words; the most alike first. */
export function related(symptom: string, past: readonly Investigation[]): readonly Investigation[] {
  const wanted = tellingWords(symptom);
  return past
    .map((investigation) => {
      const words = tellingWords(
        [investigation.symptom, ...investigation.causes.flatMap((c) => [c.resource, c.detail ?? ''])].join(
          ' ',
        ),
      );
      return {
        investigation,
        shared: [...wanted].filter((w) => words.has(w)).reduce((sum, w) => sum + (isName(w) ? 2 : 1), 0),
      };
    })
    .filter(({ shared }) => shared >= 2)
    .sort((a, b) => b.shared - a.shared)
    .slice(0, MAX_OFFERED)
    .map(({ investigation }) => investigation);
}

/** Old evidence, always with its date: it is offered, never asserted. */
export function remember(investigation: Investigation): string {
  const causes =
    investigation.causes
      .map((c) => `${c.kind} at ${c.resource}${c.detail ? `/${c.detail}` : ''} (${c.verdict})`)
      .join(', ') || 'no cause established';
  return `${investigation.generated_at.slice(0, 10)} ${investigation.session_id}: "${investigation.symptom.slice(0, 160)}" — ${causes}`;
}

const COMMON = new Set(
  'the a an and or to of in on at for from with is are was were not no can cannot could our we it its this that they them but be been has have had does do did by as after before since than then when which who why how all any some into out over under port vm vms server servers service network azure connection connections fails failing failed slow'.split(
    ' ',
  ),
);

const isName = (word: string) => /[-.\d]/.test(word);

function tellingWords(text: string): Set<string> {
  return new Set(
    (text.toLowerCase().match(/[a-z0-9][a-z0-9._-]+[a-z0-9]/g) ?? []).filter((w) => !COMMON.has(w)),
  );
}
