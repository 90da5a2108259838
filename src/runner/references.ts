import { isJsonObject, type Json, type JsonObject, type WritError } from '../core/index.ts';
import type { Plan } from './plan.ts';

/**
 * `${id.data.field}`: what an earlier step gave, as an argument of a later one.
 *
 * X1 Only earlier steps can be named: a later one, the step itself, a cycle or an unknown id is refused when
 *    the plan is read.
 * X2 A value is put in as data, once. What it says is never read as a reference again.
 * X3 `$${` is a plain `${`.
 */
export interface PlanReferences {
  /** For each step, the ids it needs. */
  readonly needs: readonly (readonly string[])[];
  /** For each id, the index of the last step that needs it: after that its value can be let go. */
  readonly lastUse: ReadonlyMap<string, number>;
}

const REFERENCE = /\$(\$)?\{([^{}]*)\}/g;
const FORM = /^([A-Za-z_][A-Za-z0-9_-]*)\.data((?:\.[A-Za-z0-9_-]+)*)$/;

type Mistake = (path: readonly (string | number)[], message: string, suggestion: string) => WritError;

export function checkReferences(plan: Plan, mistake: Mistake): PlanReferences {
  const position = new Map<string, number>();
  for (const [i, step] of plan.steps.entries()) {
    if (step.id === undefined) continue;
    if (position.has(step.id))
      throw mistake(
        ['steps', i, 'id'],
        `there are two steps with the id "${step.id}"`,
        'give each step an id of its own',
      );
    position.set(step.id, i);
  }
  // Most steps refer to nothing: a plain look at their texts is enough to know.
  const found = plan.steps.map((step) => (mentions(step.args) ? [...referencesIn(step.args)] : NONE));
  const lastUse = new Map<string, number>();
  const needs = found.map((references, i) => {
    if (references.length === 0) return NO_IDS;
    const ids = new Set<string>();
    for (const { text, path } of references) {
      const at = ['steps', i, 'args', ...path];
      const id = FORM.exec(text)?.[1];
      if (id === undefined)
        throw mistake(
          at,
          `"\${${text}}" is not a reference`,
          `write \${id.data.field}, or $\${${text}} for the plain text`,
        );
      const target = position.get(id);
      if (target === undefined)
        throw mistake(
          at,
          `"\${${text}}" names the step "${id}", which does not exist`,
          `known ids: ${[...position.keys()].slice(0, 20).join(', ') || 'none'}`,
        );
      if (target >= i)
        throw mistake(at, forward(plan, found, i, id, target), 'a step can only use what earlier steps gave');
      ids.add(id);
      lastUse.set(id, i);
    }
    return [...ids];
  });
  return { needs, lastUse };
}

function forward(
  plan: Plan,
  found: readonly (readonly Found[])[],
  from: number,
  id: string,
  target: number,
): string {
  if (target === from) return `the step "${id}" refers to itself`;
  // Does the later step lead back here? Then it is a cycle, and saying so helps more.
  const position = new Map(plan.steps.map((step, i) => [step.id, i]));
  const seen = new Set<number>();
  const waiting = [target];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (at === from)
      return `the references of "${plan.steps[from]?.id ?? `step ${from}`}" and "${id}" form a cycle`;
    if (seen.has(at)) continue;
    seen.add(at);
    for (const { text } of found[at] ?? []) {
      const next = position.get(FORM.exec(text)?.[1]);
      if (next !== undefined) waiting.push(next);
    }
  }
  return `"${id}" is a later step`;
}

const NONE: readonly Found[] = [];
const NO_IDS: readonly string[] = [];

/** True when a `${` stands anywhere in the texts of a value. */
function mentions(value: Json): boolean {
  if (typeof value === 'string') return value.includes('${');
  if (typeof value !== 'object' || value === null) return false;
  for (const item of Object.values(value)) if (mentions(item as Json)) return true;
  return false;
}

interface Found {
  readonly text: string;
  readonly path: readonly (string | number)[];
}

function* referencesIn(value: Json, path: readonly (string | number)[] = []): Iterable<Found> {
  if (typeof value === 'string') {
    for (const match of value.matchAll(REFERENCE))
      if (match[1] === undefined) yield { text: match[2] ?? '', path };
  } else if (Array.isArray(value)) {
    for (const [i, item] of (value as Json[]).entries()) yield* referencesIn(item, [...path, i]);
  } else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) yield* referencesIn(item, [...path, key]);
  }
}

export type Filled =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly reason: string };

/** The arguments with every reference replaced by what the step gave. */
export function fillReferences(args: JsonObject, outputs: ReadonlyMap<string, Json>): Filled {
  if (!mentions(args)) return { ok: true, args };
  try {
    return { ok: true, args: fill(args, outputs) as JsonObject };
  } catch (error) {
    if (error instanceof Missing) return { ok: false, reason: error.message };
    throw error;
  }
}

class Missing extends Error {}

function fill(value: Json, outputs: ReadonlyMap<string, Json>): Json {
  if (typeof value === 'string') return fillText(value, outputs);
  if (Array.isArray(value)) return value.map((item: Json) => fill(item, outputs));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fill(item, outputs)]));
}

function fillText(text: string, outputs: ReadonlyMap<string, Json>): Json {
  if (!text.includes('${')) return text;
  // A reference that is the whole text keeps its type; within other text it must be something to print.
  const whole = /^\$\{([^{}]*)\}$/.exec(text);
  if (whole) return lookUp(whole[1] as string, outputs);
  return text.replace(REFERENCE, (all, escaped: string | undefined, reference: string) => {
    if (escaped !== undefined) return all.slice(1);
    const value = lookUp(reference, outputs);
    if (typeof value === 'object')
      throw new Missing(`\${${reference}} is not text, a number or a truth value`);
    return String(value);
  });
}

function lookUp(reference: string, outputs: ReadonlyMap<string, Json>): Json {
  const form = FORM.exec(reference);
  const id = form?.[1] ?? '';
  let value: Json | undefined = outputs.get(id);
  for (const field of (form?.[2] ?? '').split('.').slice(1)) {
    if (Array.isArray(value))
      value = /^\d+$/.test(field) ? (value[Number(field)] as Json | undefined) : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
  }
  if (value === undefined) throw new Missing(`\${${reference}}: the step "${id}" gave no such field`);
  return value;
}
