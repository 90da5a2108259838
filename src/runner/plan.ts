import { z } from 'zod';
import { type ReadDocument, readDocument } from '../core/document.ts';
import { CODES, canonicalJson, invalid, type JsonObject, messageOf } from '../core/index.ts';
import { checkReferences, type PlanReferences } from './references.ts';

/** A plan: steps in order, each a call of a tool. */
export interface Plan {
  readonly version: '1.0';
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly steps: readonly PlanStep[];
}

export interface PlanStep {
  readonly tool: string;
  readonly id?: string | undefined;
  readonly args: JsonObject;
  /** Can only shorten what the policy gives. */
  readonly timeout_seconds?: number | undefined;
}

export interface LoadedPlan {
  readonly file: string;
  readonly plan: Plan;
  readonly references: PlanReferences;
}

export const PLAN_FILE = { code: CODES.invalid_plan, maxBytes: 16 * 1024 * 1024 } as const;
const MAX_STEPS = 100_000;

const stepSchema = z.strictObject({
  tool: z.string().min(1).max(100),
  id: z
    .string()
    .regex(
      /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
      'an id has letters, digits, "_" and "-", and starts with a letter',
    )
    .optional(),
  args: z.record(z.string(), z.unknown()).default({}),
  timeout_seconds: z.number().positive().max(86_400).optional(),
});

const planSchema = z.strictObject({
  version: z.literal('1.0', { error: 'write version: "1.0" (in quotes)' }),
  name: z.string().max(200).optional(),
  description: z.string().max(2000).optional(),
  steps: z.array(stepSchema).min(1, 'a plan has at least one step').max(MAX_STEPS),
});

/** Reads a plan from text. Anything wrong throws, with file, line, column and what to write. */
export function loadPlan(text: string, file: string): LoadedPlan {
  const document = readDocument(text, planSchema, { file, ...PLAN_FILE });
  const plan = document.value as Plan;
  const mistake = (path: readonly (string | number)[], message: string, suggestion: string) => {
    const { line, column } = document.place(path);
    return invalid(PLAN_FILE.code, { file, line, column }, message, suggestion);
  };
  for (const [i, step] of plan.steps.entries()) {
    try {
      canonicalJson(step.args);
    } catch (error) {
      throw mistake(
        ['steps', i, 'args'],
        `steps.${i}.args: ${messageOf(error)}`,
        'use text, numbers, true, false, null, lists and maps',
      );
    }
  }
  return { file, plan, references: checkReferences(plan, mistake) };
}

export type PlanDocument = ReadDocument<Plan>;
