import type { Evaluator } from '../../authority/index.ts';
import { type Evaluation, type Json, messageOf } from '../../core/index.ts';
import type { Call, Context } from './context.ts';
import { mapDeltas, toolsCalled } from './protocol.ts';
import { judgeByRules, rulesFor, type ScopedRule } from './rules.ts';
import { streamJudge } from './stream-judge.ts';
import { textOf } from './texts.ts';

const TIMEOUT_MS = 5000;

export function answerRules(ctx: Context, call: Call): readonly ScopedRule[] {
  return rulesFor(ctx.config.rules, 'response', {
    caller: call.caller.name,
    model: call.model,
    operation: call.operation.name,
  });
}

/** What rules and evaluators say about a whole answer. */
export async function judgeAnswer(ctx: Context, call: Call, value: Json): Promise<readonly Evaluation[]> {
  const rules = answerRules(ctx, call);
  const byRules = Array.isArray(value)
    ? judgePieces(rules, value as readonly Json[])
    : judgeByRules(rules, 'allow', {
        tools: () => toolsCalled(value).map(([, name]) => name),
        text: () => textOf(value),
      });
  if (ctx.responseEvaluators.length === 0) return [byRules];
  const text = Array.isArray(value) ? spoken(value as readonly Json[]) : textOf(value);
  return [byRules, ...(await askEvaluators(ctx, call, text))];
}

/** What the pieces of a stream add up to, channel by channel. */
function spoken(pieces: readonly Json[]): string {
  const channels = new Map<string, string>();
  for (const piece of pieces)
    mapDeltas(piece, (channel, text) => {
      channels.set(channel, (channels.get(channel) ?? '') + text);
      return text;
    });
  return [...channels.values()].join('\n');
}

/** A stream in the form of a list is read as a stream: words may be cut in two there as well. */
function judgePieces(rules: readonly ScopedRule[], pieces: readonly Json[]): Evaluation {
  const judge = streamJudge(rules);
  for (const piece of pieces) judge.see(piece);
  return judge.last();
}

/** An evaluator that fails or hangs has said no. */
export function askEvaluators(ctx: Context, call: Call, text: string): Promise<readonly Evaluation[]> {
  return Promise.all(ctx.responseEvaluators.map((evaluator) => ask(evaluator, call, text)));
}

async function ask(evaluator: Evaluator, call: Call, text: string): Promise<Evaluation> {
  const { caller, model, operation } = call;
  const detail = { caller: caller.name, model, operation: operation.name, text };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), TIMEOUT_MS);
  });
  try {
    const said = evaluator.evaluate({ kind: 'llm.call', subject: `answer of ${model}`, detail });
    return await Promise.race([said, late]);
  } catch (error) {
    return { evaluator: evaluator.name, verdict: 'deny', rule: 'evaluator.failed', reason: messageOf(error) };
  } finally {
    clearTimeout(timer);
  }
}
