import type { Evaluator } from '../../authority/index.ts';
import { type Evaluation, isJsonObject, type Json, messageOf } from '../../core/index.ts';
import type { Call, Context } from './context.ts';
import { list } from './protocol.ts';
import { judgeByRules } from './rules.ts';
import { textOf } from './texts.ts';

const TIMEOUT_MS = 5000;

/** What rules and evaluators say about an answer. An evaluator that fails or hangs has said no. */
export async function judgeAnswer(ctx: Context, call: Call, value: Json): Promise<readonly Evaluation[]> {
  const evaluators = ctx.responseEvaluators;
  const wanted = evaluators.length > 0 || ctx.config.rules.some((r) => r.on === 'response');
  const text = wanted ? textOf(value) : '';
  const byRules = judgeByRules(ctx.config.rules, 'response', 'allow', {
    caller: call.caller.name,
    model: call.model,
    operation: call.operation.name,
    tools: toolsCalled(value),
    text,
  });
  const others = await Promise.all(evaluators.map((evaluator) => ask(evaluator, call, text)));
  return [byRules, ...others];
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

/** Names of the tools an answer calls, in any of the protocols, whole or streamed. */
export function toolsCalled(value: Json): readonly string[] {
  if (!isJsonObject(value)) return [];
  const chat = list(value.choices).flatMap((choice) => {
    const said = isJsonObject(choice) ? (choice.message ?? choice.delta) : null;
    return list(isJsonObject(said) ? said.tool_calls : null).map((c) =>
      isJsonObject(c) && isJsonObject(c.function) ? c.function.name : undefined,
    );
  });
  const response = isJsonObject(value.response) ? value.response : value;
  const items = [...list(response.output), value.item ?? null].map((item) =>
    isJsonObject(item) && item.type === 'function_call' ? item.name : undefined,
  );
  const gemini = list(value.candidates).flatMap((candidate) =>
    list(isJsonObject(candidate) && isJsonObject(candidate.content) ? candidate.content.parts : null).map(
      (p) => (isJsonObject(p) && isJsonObject(p.functionCall) ? p.functionCall.name : undefined),
    ),
  );
  return [...chat, ...items, ...gemini].filter((name): name is string => typeof name === 'string');
}
