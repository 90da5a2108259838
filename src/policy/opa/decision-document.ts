import { z } from 'zod';
import { type Digest, type Evaluation, type Json, VERDICTS, type Verdict } from '../../core/index.ts';

/**
 * What a policy engine or a model says about a document.
 *
 * DD1 Anything but a well-formed answer is a denial: an undefined result, another type, an unknown decision.
 * DD2 The lists are bounded: a policy cannot fill the record.
 */
export interface DocumentDecision {
  readonly decision: Verdict;
  readonly violations: readonly string[];
  readonly warnings: readonly string[];
  readonly requires?: { readonly role?: string; readonly reason?: string };
  /** It could not judge at all: such a denial cannot be outvoted. */
  readonly failed?: true;
}

/** Judges a document (a preflight input, a gateway request). Never throws: what goes wrong is a denial. */
export interface DocumentJudge {
  /** `opa:network.wasm`, `opa:http://…`, `onnx:secrets.onnx`. */
  readonly name: string;
  readonly source: 'opa' | 'onnx';
  /** SHA-256 of what judges: the file's bytes, or the address of a server. */
  readonly digest: Digest;
  evaluate(input: Json): Promise<DocumentDecision>;
  /** The digest of what is in force now, asked anew: the file on disk, the modules a server holds. */
  fingerprint(): Promise<Digest>;
}

const MAX_LINES = 100;
const lines = z.array(z.string().max(2000)).max(MAX_LINES);
const answer = z.object({
  decision: z.enum(VERDICTS),
  violations: lines.optional(),
  warnings: lines.optional(),
  requires: z
    .object({ role: z.string().min(1).max(200).optional(), reason: z.string().max(2000).optional() })
    .nullish(),
});

export function denial(reason: string): DocumentDecision {
  return { decision: 'deny', violations: [reason], warnings: [], failed: true };
}

export function readDecision(value: unknown, who: string): DocumentDecision {
  if (value === undefined) return denial(`${who}: the policy says nothing about this (undefined)`);
  const read = answer.safeParse(value);
  if (!read.success) {
    const issue = read.error.issues[0];
    const where = issue?.path.join('.') || 'the result';
    return denial(`${who}: not a decision document (${where}: ${issue?.message ?? 'invalid'})`);
  }
  const { decision, violations = [], warnings = [], requires } = read.data;
  const needs = {
    ...(requires?.role === undefined ? {} : { role: requires.role }),
    ...(requires?.reason === undefined ? {} : { reason: requires.reason }),
  };
  return { decision, violations, warnings, ...(requires ? { requires: needs } : {}) };
}

/** The same answer in the words of `core`. */
export function evaluationOf(judge: Pick<DocumentJudge, 'name'>, said: DocumentDecision): Evaluation {
  const { decision, violations, warnings, requires } = said;
  const reason = requires?.reason ?? violations[0] ?? warnings[0] ?? `${judge.name} says ${decision}`;
  return {
    evaluator: judge.name,
    verdict: decision,
    rule: judge.name,
    reason,
    ...(requires?.role !== undefined && decision === 'require_approval'
      ? { requiredRole: requires.role }
      : {}),
    ...(violations.length + warnings.length > 0 ? { evidence: [...violations, ...warnings] } : {}),
  };
}
