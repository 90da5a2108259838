import {
  type Action,
  AGGREGATION_METHODS,
  type AggregationMethod,
  aggregate,
  type Decision,
  type Evaluation,
  messageOf,
  VERDICTS,
} from '../core/index.ts';
import type { Evaluator } from './types.ts';
import { withTimeout } from './with-timeout.ts';

/**
 * Evaluators → decision.
 *
 * J1 Evaluators are asked in order; each gets the same frozen action and the same time.
 * J2 A throw, a rejection, no answer in time or an answer that is not an evaluation is that evaluator's
 *    denial, and no aggregation method can outvote it: a broken gate is a closed gate.
 * J3 No evaluators: denied.
 */
export async function judge(
  action: Action,
  evaluators: readonly Evaluator[],
  timeoutMs: number,
  method: AggregationMethod = 'most_restrictive',
): Promise<Decision> {
  const evaluations: Evaluation[] = [];
  let broken = !AGGREGATION_METHODS.includes(method);
  for (const evaluator of evaluators) {
    const answer = await ask(evaluator, action, timeoutMs);
    evaluations.push(answer.evaluation);
    broken ||= answer.failed;
  }
  if (evaluators.length === 0) {
    evaluations.push(denial('authority', 'authority.no_evaluators', 'nobody judged this action'));
  }
  const decision = aggregate(evaluations, broken ? 'most_restrictive' : method);
  return broken ? { ...decision, verdict: 'deny' } : decision;
}

interface Answer {
  readonly evaluation: Evaluation;
  readonly failed: boolean;
}

async function ask(evaluator: Evaluator, action: Action, timeoutMs: number): Promise<Answer> {
  const name = typeof evaluator?.name === 'string' ? evaluator.name : 'unnamed';
  const failed = (rule: string, reason: string) => ({ evaluation: denial(name, rule, reason), failed: true });
  try {
    const said = evaluator.evaluate(action);
    // Who has answered already needs no clock.
    const answer = isPromise(said)
      ? await withTimeout(async () => said, timeoutMs)
      : { late: false as const, value: said };
    if (answer.late) return failed('evaluator.timeout', `${name} gave no answer within ${timeoutMs} ms`);
    const evaluation = readEvaluation(answer.value);
    if (evaluation === undefined) return failed('evaluator.invalid', `${name} gave no valid evaluation`);
    return { evaluation, failed: false };
  } catch (error) {
    return failed('evaluator.failed', `${name} failed: ${messageOf(error)}`);
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof (value as { then?: unknown } | undefined | null)?.then === 'function';
}

function denial(evaluator: string, rule: string, reason: string): Evaluation {
  return { evaluator, verdict: 'deny', rule, reason };
}

/** A copy with the known fields only, or undefined when the answer is not an evaluation. */
function readEvaluation(value: unknown): Evaluation | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { evaluator, verdict, rule, reason, file, line, requiredRole, evidence } =
    value as Partial<Evaluation>;
  if (typeof evaluator !== 'string' || typeof rule !== 'string' || typeof reason !== 'string')
    return undefined;
  if (verdict === undefined || !VERDICTS.includes(verdict)) return undefined;
  if (requiredRole !== undefined && (typeof requiredRole !== 'string' || requiredRole === ''))
    return undefined;
  return Object.freeze({
    evaluator,
    verdict,
    rule,
    reason,
    ...(typeof file === 'string' ? { file } : {}),
    ...(typeof line === 'number' ? { line } : {}),
    ...(requiredRole === undefined ? {} : { requiredRole }),
    ...(Array.isArray(evidence) ? { evidence: evidence.filter((e) => typeof e === 'string') } : {}),
  });
}
