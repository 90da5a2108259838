import { isJsonObject, type Json } from '../../core/index.ts';
import type { CallSpan, SpanFacts, Telemetry, TraceParent } from '../telemetry.ts';
import type { Done } from './context.ts';
import { list, type Operation } from './protocol.ts';

/** Spans of model calls, in the words of the GenAI conventions. Names and numbers only. */
const OPERATIONS: Readonly<Record<string, string>> = {
  'chat.completions': 'chat',
  responses: 'chat',
  completions: 'text_completion',
  generateContent: 'generate_content',
  streamGenerateContent: 'generate_content',
  embeddings: 'embeddings',
  embedContent: 'embeddings',
  batchEmbedContents: 'embeddings',
};

const PROVIDERS = { openai: 'openai', gemini: 'gcp.gemini' } as const;

export function startSpan(
  telemetry: Telemetry,
  parent: TraceParent,
  asked: {
    readonly requestId: string;
    readonly caller: string;
    readonly operation: Operation;
    readonly model: string;
    readonly body: Json;
  },
): Promise<CallSpan> {
  const { operation, model } = asked;
  const name = OPERATIONS[operation.name] ?? operation.name;
  return telemetry.start(`${name} ${model}`.trim(), parent, {
    'gen_ai.operation.name': name,
    'gen_ai.provider.name': PROVIDERS[operation.protocol],
    'gen_ai.request.model': model === '' ? undefined : model,
    'writ.request_id': asked.requestId,
    'writ.caller': asked.caller,
    ...settings(asked.body),
  });
}

function settings(body: Json): SpanFacts {
  if (!isJsonObject(body)) return {};
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : body;
  const number = (...names: readonly string[]) =>
    names.map((name) => config[name]).find((value) => typeof value === 'number') as number | undefined;
  return {
    'gen_ai.request.max_tokens': number(
      'max_completion_tokens',
      'max_tokens',
      'max_output_tokens',
      'maxOutputTokens',
    ),
    'gen_ai.request.temperature': number('temperature'),
    'gen_ai.request.top_p': number('top_p', 'topP'),
    'gen_ai.request.top_k': number('top_k', 'topK'),
    'gen_ai.request.frequency_penalty': number('frequency_penalty', 'frequencyPenalty'),
    'gen_ai.request.presence_penalty': number('presence_penalty', 'presencePenalty'),
    'gen_ai.request.seed': number('seed'),
    'gen_ai.request.choice.count': number('n', 'candidateCount'),
  };
}

/** Collects what answers say about themselves. */
export function answerFacts() {
  let id: string | undefined;
  let model: string | undefined;
  const reasons = new Set<string>();
  const text = (value: Json | undefined) => (typeof value === 'string' ? value : undefined);
  return {
    note: (answer: Json) => {
      if (!isJsonObject(answer)) return;
      const said = isJsonObject(answer.response) ? answer.response : answer;
      id ??= text(said.id) ?? text(said.responseId);
      model ??= text(said.model) ?? text(said.modelVersion);
      for (const part of [...list(said.choices), ...list(said.candidates)]) {
        const reason = isJsonObject(part) ? text(part.finish_reason ?? part.finishReason) : undefined;
        if (reason !== undefined && reasons.size < 20) reasons.add(reason.toLowerCase());
      }
    },
    facts: (): SpanFacts => ({
      'gen_ai.response.id': id,
      'gen_ai.response.model': model,
      'gen_ai.response.finish_reasons': reasons.size === 0 ? undefined : [...reasons],
    }),
  };
}

export function doneFacts(done: Done): SpanFacts {
  return {
    'gen_ai.usage.input_tokens': done.usage?.input,
    'gen_ai.usage.output_tokens': done.usage?.output,
    'http.response.status_code': done.status,
    'writ.verdict': done.verdict,
    'writ.target': done.target,
  };
}
