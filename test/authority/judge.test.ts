import { describe, expect, it } from 'vitest';
import type { Evaluator } from '../../src/authority/index.ts';
import { judge } from '../../src/authority/judge.ts';
import { AGGREGATION_METHODS, type AggregationMethod, type Evaluation } from '../../src/core/index.ts';
import { action, says } from './desk.ts';

const SOON = 50;
const answers = (value: unknown): Evaluator => ({ name: 'odd', evaluate: () => value as Evaluation });

describe('judging', () => {
  it('[AUT-01] asks every evaluator in order, one at a time, and keeps all answers', async () => {
    const order: string[] = [];
    const slow = (name: string, ms: number): Evaluator => ({
      name,
      evaluate: async () => {
        order.push(`${name} asked`);
        await new Promise((resolve) => setTimeout(resolve, ms));
        order.push(`${name} said`);
        return { evaluator: name, verdict: 'allow', rule: name, reason: name };
      },
    });
    const decision = await judge(action, [slow('a', 20), slow('b', 1)], 1000);
    expect(order).toEqual(['a asked', 'a said', 'b asked', 'b said']);
    expect(decision.evaluations.map((e) => e.rule)).toEqual(['a', 'b']);
    expect(decision.verdict).toBe('allow');
  });

  it('[AUT-02] nobody to ask: denied, and the decision says so', async () => {
    const decision = await judge(action, [], SOON);
    expect(decision.verdict).toBe('deny');
    expect(decision.evaluations[0]).toMatchObject({ rule: 'authority.no_evaluators' });
  });

  const broken: readonly (readonly [string, Evaluator, string])[] = [
    [
      'throws',
      {
        name: 'bad',
        evaluate: () => {
          throw new Error('boom');
        },
      },
      'evaluator.failed',
    ],
    ['rejects', { name: 'bad', evaluate: async () => Promise.reject(new Error('boom')) }, 'evaluator.failed'],
    [
      'throws nothing at all',
      {
        name: 'bad',
        evaluate: () => {
          throw undefined;
        },
      },
      'evaluator.failed',
    ],
    [
      'never answers',
      { name: 'bad', evaluate: () => new Promise<Evaluation>(() => {}) },
      'evaluator.timeout',
    ],
    ['is not there', undefined as unknown as Evaluator, 'evaluator.failed'],
    ['answers undefined', answers(undefined), 'evaluator.invalid'],
    ['answers true', answers(true), 'evaluator.invalid'],
    [
      'answers an unknown verdict',
      answers({ evaluator: 'x', verdict: 'ALLOW', rule: 'r', reason: '' }),
      'evaluator.invalid',
    ],
    [
      'answers an inherited verdict',
      answers({ evaluator: 'x', verdict: 'toString', rule: 'r', reason: '' }),
      'evaluator.invalid',
    ],
    ['names no rule', answers({ evaluator: 'x', verdict: 'allow', reason: '' }), 'evaluator.invalid'],
    [
      'asks for a nameless role',
      answers({ evaluator: 'x', verdict: 'require_approval', rule: 'r', reason: '', requiredRole: '' }),
      'evaluator.invalid',
    ],
  ];
  it.each(broken)('[AUT-03] an evaluator that %s has denied, by every method', async (_, evaluator, rule) => {
    for (const method of AGGREGATION_METHODS) {
      const decision = await judge(
        action,
        [says('allow'), says('allow'), says('allow'), evaluator],
        SOON,
        method,
      );
      expect(decision.verdict).toBe('deny');
      expect(decision.evaluations.at(-1)).toMatchObject({ verdict: 'deny', rule });
    }
  });

  it('[AUT-03] an unknown aggregation method denies', async () => {
    const decision = await judge(action, [says('allow')], SOON, 'whatever' as AggregationMethod);
    expect(decision.verdict).toBe('deny');
  });

  it('uses the method it is given', async () => {
    const voices = [says('allow'), says('allow'), says('deny')];
    expect((await judge(action, voices, SOON)).verdict).toBe('deny');
    expect((await judge(action, voices, SOON, 'majority')).verdict).toBe('allow');
  });

  it('keeps the known fields of an answer and no others', async () => {
    const evaluator = answers({
      evaluator: 'x',
      verdict: 'warn',
      rule: 'r',
      reason: 's',
      file: 'f',
      line: 3,
      evidence: ['a', 1],
      extra: 'y',
    });
    expect((await judge(action, [evaluator], SOON)).evaluations[0]).toEqual({
      evaluator: 'x',
      verdict: 'warn',
      rule: 'r',
      reason: 's',
      file: 'f',
      line: 3,
      evidence: ['a'],
    });
  });
});
