import { isJsonObject, type Json } from '../core/index.ts';
import type { Edit, Finding } from './finding.ts';

/** The fewest edits of the policy after which the decision would be another. */
export interface Flip {
  readonly to: Finding['verdict'];
  readonly edits: readonly Edit[];
}

const MAX_EDITS = 6;

/**
 * Looks for the edits that flip a decision. Every answer is tried: the edited policy is judged again, so what
 * is proposed is known to work. `judge` gives the finding of the call under a policy, or throws when the
 * policy is not valid.
 */
export function findFlip(
  policy: Json,
  judge: (policy: Json) => Finding,
  tighten: readonly Edit[],
): Flip | undefined {
  const first = judge(policy);
  if (first.verdict === 'allow') {
    for (const edit of tighten) {
      const after = tryJudge(judge, applyEdit(policy, edit));
      if (after && after.verdict !== 'allow') return { to: after.verdict, edits: [edit] };
    }
    return undefined;
  }
  const edits: Edit[] = [];
  let current = policy;
  let finding = first;
  // Each denial names what would mend it; mending one may bring the next to light.
  while (finding.verdict === first.verdict && edits.length < MAX_EDITS) {
    if (finding.mend === undefined) return undefined;
    edits.push(finding.mend);
    current = applyEdit(current, finding.mend);
    const next = tryJudge(judge, current);
    if (next === undefined) return undefined;
    finding = next;
  }
  return finding.verdict === first.verdict
    ? undefined
    : { to: finding.verdict, edits: needed(edits, finding) };

  /** Without the edits that a later one makes idle: to add to a list also makes the block it stands in. */
  function needed(all: readonly Edit[], wanted: Finding): readonly Edit[] {
    let kept = all;
    for (let i = 0; i < kept.length; ) {
      const fewer = kept.toSpliced(i, 1);
      if (tryJudge(judge, fewer.reduce(applyEdit, policy))?.verdict === wanted.verdict) kept = fewer;
      else i++;
    }
    return kept;
  }
}

function tryJudge(judge: (policy: Json) => Finding, policy: Json): Finding | undefined {
  try {
    return judge(policy);
  } catch {
    return undefined;
  }
}

/** The policy with one edit made; the original is not touched. */
export function applyEdit(policy: Json, edit: Edit): Json {
  return change(policy, edit.at, (value) => {
    switch (edit.op) {
      case 'set':
        return edit.value;
      case 'remove':
        return undefined;
      case 'add':
        return [...(Array.isArray(value) ? (value as Json[]) : []), edit.value];
    }
  }) as Json;
}

function change(
  value: Json | undefined,
  at: readonly (string | number)[],
  edit: (value: Json | undefined) => Json | undefined,
): Json | undefined {
  const [key, ...rest] = at;
  if (key === undefined) return edit(value);
  if (Array.isArray(value) && typeof key === 'number') {
    const inner = change(value[key] as Json, rest, edit);
    return inner === undefined ? value.toSpliced(key, 1) : value.with(key, inner);
  }
  const object = isJsonObject(value) ? value : {};
  const inner = change(object[key], rest, edit);
  const others = Object.entries(object).filter(([name]) => name !== String(key));
  return Object.fromEntries(inner === undefined ? others : [...others, [String(key), inner]]);
}

/** An edit as a person would say it. */
export function sayEdit(edit: Edit): string {
  const last = edit.at.at(-1);
  const where = edit.at.map(String).join('.');
  switch (edit.op) {
    case 'add':
      return `add ${JSON.stringify(edit.value)} to ${where}`;
    case 'set':
      return `set ${where} to ${JSON.stringify(edit.value)}`;
    case 'remove':
      return typeof last === 'number'
        ? `remove entry ${last + 1} of ${edit.at.slice(0, -1).map(String).join('.')}`
        : `remove ${where}`;
  }
}
