import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { z } from 'zod';
import { readDocument } from '../core/document.ts';
import {
  AGGREGATION_METHODS,
  CODES,
  type Digest,
  digestOf,
  invalid,
  type JsonObject,
  sha256,
} from '../core/index.ts';
import { modelFile } from '../policy/index.ts';
import { BUILTIN_ENGINES, terraformProgram } from './builtin.ts';
import { readPlace } from './host-proxy.ts';

const unit = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const TEN_YEARS = 3650 * unit.d;

/** `workflow.yaml` as people write it, read strictly; everything it names is there before anything runs. */
const duration = z
  .string()
  .regex(/^\d+(s|m|h|d)$/, 'write a duration such as 30s, 10m, 4h or 2d')
  .refine((text) => milliseconds(text, 0) > 0 && milliseconds(text, 0) <= TEN_YEARS, 'between 1s and 3650d');
const name = z
  .string()
  .min(1)
  .max(100)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, 'use letters, digits, dots, dashes and underscores');
const path = z.string().min(1).max(4096);
const map = z.record(z.string(), z.json());
const host = z
  .string()
  .refine((text) => readPlace(text) !== undefined, 'write a host such as api.example.org or 10.0.0.5:8443');

const stepSchema = z.strictObject({
  id: name,
  engine: path,
  config: map.optional(),
  secrets: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'write the name of an environment variable'))
    .optional(),
  context: map.optional(),
  policies: z
    .array(
      z.union([
        path,
        z.strictObject({ path, entrypoint: z.string().min(1) }),
        z.strictObject({ opa: z.url({ protocol: /^https?$/ }) }),
      ]),
    )
    .optional(),
  entrypoint: z.string().min(1).optional(),
  rules: z.array(path).optional(),
  models: z.array(path).optional(),
  approval: z
    .strictObject({ role: z.string().min(1).max(200).optional(), expires: duration.optional() })
    .optional(),
  timeout: duration.optional(),
  network: z
    .strictObject({
      'flight-plan': z.array(host).max(100).optional(),
      'take-off': z.array(host).max(100).optional(),
    })
    .optional(),
  isolation: z.enum(['bubblewrap', 'none']).optional(),
  probe: path.optional(),
});

export const workflowSchema = z.strictObject({
  id: name,
  workspace: path.optional(),
  isolation: z.enum(['bubblewrap', 'none']).optional(),
  aggregation: z.enum(AGGREGATION_METHODS).optional(),
  steps: z.array(stepSchema).min(1).max(200),
});
export type Workflow = z.infer<typeof workflowSchema>;
export type Step = Workflow['steps'][number];

export interface LoadedWorkflow {
  readonly file: string;
  readonly folder: string;
  readonly workspace: string;
  readonly text: string;
  readonly digest: Digest;
  readonly value: Workflow;
}

export function loadWorkflow(given: string): LoadedWorkflow {
  const file = resolve(given);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile())
    throw invalid(
      CODES.invalid_plan,
      { file: given },
      'there is no such file',
      'writ flight run WORKFLOW.yaml',
    );
  return readWorkflow(realpathSync(file), readFileSync(file, 'utf8'));
}

export function readWorkflow(file: string, text: string): LoadedWorkflow {
  const { value, place } = readDocument(text, workflowSchema, { file, code: CODES.invalid_plan });
  const folder = dirname(file);
  const missing = (path: readonly PropertyKey[], message: string, suggestion: string) =>
    invalid(CODES.invalid_plan, { file, ...place(path) }, message, suggestion);
  const workspace = resolve(folder, value.workspace ?? '.');
  if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory())
    throw missing(['workspace'], `workspace ${workspace} is not a folder`, 'name a folder that exists');
  const seen = new Set<string>();
  for (const [i, step] of value.steps.entries()) {
    if (seen.has(step.id.toLowerCase()))
      throw missing(['steps', i, 'id'], `two steps are called ${step.id}`, 'give each step its own id');
    seen.add(step.id.toLowerCase());
    const engine = resolveEngine(folder, step);
    if (engine === undefined)
      throw missing(
        ['steps', i, 'engine'],
        step.engine === 'terraform' ? 'terraform is not installed' : `engine ${step.engine} does not exist`,
        step.engine === 'terraform'
          ? 'install terraform or tofu, or name it in config.program; `writ doctor` shows what is there'
          : `name an executable, or one of ${BUILTIN_ENGINES.join(', ')}`,
      );
    const files: (readonly [string, string])[] = [
      ...(step.policies ?? []).flatMap((p): (readonly [string, string])[] =>
        typeof p === 'string' ? [['policies', p]] : 'path' in p ? [['policies', p.path]] : [],
      ),
      ...(step.rules ?? []).map((p) => ['rules', p] as const),
      ...(step.models ?? []).map((p) => ['models', modelFile(p, folder)] as const),
      ...(step.probe === undefined ? [] : [['probe', step.probe] as const]),
    ];
    for (const [key, path] of files)
      if (!statSync(resolve(folder, path), { throwIfNoEntry: false })?.isFile())
        throw missing(['steps', i, key], `${path} does not exist`, `write it, or take it out of ${key}`);
  }
  return { file, folder, workspace: realpathSync(workspace), text, digest: sha256(text), value };
}

export type ResolvedEngine =
  | {
      readonly kind: 'builtin';
      readonly name: (typeof BUILTIN_ENGINES)[number];
      readonly file: string;
      /** A program from outside that it needs. */
      readonly program?: string;
    }
  | { readonly kind: 'file'; readonly name: string; readonly file: string };

/** A builtin by its bare name, otherwise a file relative to the workflow. */
export function resolveEngine(
  folder: string,
  { engine: given, config }: Pick<Step, 'engine' | 'config'>,
): ResolvedEngine | undefined {
  const bare = given.replace(/^builtin:\s*/, '');
  const builtin = BUILTIN_ENGINES.find((engine) => engine === bare);
  if (builtin === 'terraform') {
    const program = terraformProgram(folder, config?.program);
    if (program === undefined) return undefined;
    return { kind: 'builtin', name: builtin, file: builtinFile(builtin), program };
  }
  if (builtin !== undefined) return { kind: 'builtin', name: builtin, file: builtinFile(builtin) };
  const file = isAbsolute(given) ? given : join(folder, given);
  if (!existsSync(file) || !statSync(file).isFile()) return undefined;
  return { kind: 'file', name: given, file: realpathSync(file) };
}

/** Our own engines lie beside this file, compiled or not. */
function builtinFile(name: string): string {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./engines/${name}.${ending}`, import.meta.url).pathname;
}

/** All of a step that decides what would happen: part of the plan-token. */
export function stepConfig(workflow: LoadedWorkflow, step: Step): JsonObject {
  return JSON.parse(
    JSON.stringify({ workflow: workflow.value.id, workspace: workflow.workspace, step }),
  ) as JsonObject;
}

export function milliseconds(text: string | undefined, usual: number): number {
  return text === undefined ? usual : Number(text.slice(0, -1)) * unit[text.at(-1) as keyof typeof unit];
}

export function workflowDigest(workflow: LoadedWorkflow): Digest {
  return digestOf({ file: workflow.file, text: workflow.text });
}
