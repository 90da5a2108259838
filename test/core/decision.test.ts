import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  AGGREGATION_METHODS,
  type AggregationMethod,
  aggregate,
  decidingEvaluation,
  type Evaluation,
  severityOf,
  strictest,
  VERDICTS,
  type Verdict,
} from '../../src/core/index.ts';

const verdict = fc.constantFrom(...VERDICTS);
const method = fc.constantFrom(...AGGREGATION_METHODS);

function said(...verdicts: readonly Verdict[]): readonly Evaluation[] {
  return verdicts.map((v, i) => ({ evaluator: `e${i}`, verdict: v, rule: `r${i}`, reason: v }));
}

describe('decisions', () => {
  it('[CORE-04] has one order of severity: allow < warn < require_approval < deny', () => {
    expect(VERDICTS.map(severityOf)).toEqual([0, 1, 2, 3]);
    expect([...VERDICTS]).toEqual(['allow', 'warn', 'require_approval', 'deny']);
  });

  it('[CORE-05] nobody judged: denied, by every method', () => {
    expect(strictest([])).toBe('deny');
    for (const m of AGGREGATION_METHODS) expect(aggregate([], m).verdict).toBe('deny');
  });

  const cases: readonly (readonly [AggregationMethod, readonly Verdict[], Verdict])[] = [
    ['most_restrictive', ['allow', 'warn'], 'warn'],
    ['most_restrictive', ['warn', 'require_approval', 'allow'], 'require_approval'],
    ['most_restrictive', ['allow', 'deny', 'require_approval'], 'deny'],
    ['unanimous', ['allow', 'allow'], 'allow'],
    ['unanimous', ['require_approval', 'require_approval'], 'require_approval'],
    ['unanimous', ['allow', 'warn'], 'deny'],
    ['majority', ['allow', 'allow', 'deny'], 'allow'],
    ['majority', ['allow', 'deny', 'deny'], 'deny'],
    ['majority', ['allow', 'deny'], 'deny'],
    ['majority', ['allow', 'warn', 'require_approval'], 'require_approval'],
    ['any_deny', ['allow', 'allow', 'deny'], 'deny'],
    ['any_deny', ['allow', 'require_approval'], 'require_approval'],
    ['any_deny', ['allow', 'warn'], 'warn'],
    ['all_allow', ['allow', 'allow'], 'allow'],
    ['all_allow', ['allow', 'warn'], 'warn'],
    ['all_allow', ['allow', 'require_approval'], 'deny'],
    ['all_allow', ['allow', 'deny'], 'deny'],
  ];
  it.each(cases)('[CORE-06] %s of %j is %s', (m, verdicts, expected) => {
    expect(aggregate(said(...verdicts), m).verdict).toBe(expected);
  });

  it('[CORE-06] every method is total, ignores the order, and agrees with a single voice (but all_allow on approval)', () => {
    fc.assert(
      fc.property(fc.array(verdict, { minLength: 1, maxLength: 6 }), method, (verdicts, m) => {
        const result = aggregate(said(...verdicts), m).verdict;
        expect(VERDICTS).toContain(result);
        expect(aggregate(said(...verdicts.toReversed()), m).verdict).toBe(result);
        const one = aggregate(said(verdicts[0]!), m).verdict;
        if (!(m === 'all_allow' && verdicts[0] === 'require_approval')) expect(one).toBe(verdicts[0]);
      }),
    );
  });

  it('no method is laxer than the laxest voice; a lone deny wins unless majority outvotes it', () => {
    fc.assert(
      fc.property(fc.array(verdict, { minLength: 1, maxLength: 6 }), method, (verdicts, m) => {
        const result = severityOf(aggregate(said(...verdicts), m).verdict);
        expect(result).toBeGreaterThanOrEqual(Math.min(...verdicts.map(severityOf)));
        if (verdicts.includes('deny') && m !== 'majority') expect(result).toBe(3);
      }),
    );
  });

  it('[CORE-07] carries every evaluation, and points at the first of the deciding ones', () => {
    const evaluations = said('allow', 'deny', 'deny');
    const decision = aggregate(evaluations);
    expect(decision.evaluations).toEqual(evaluations);
    expect(decidingEvaluation(decision)?.rule).toBe('r1');
    expect(decidingEvaluation(aggregate([]))).toBeUndefined();
  });
});
