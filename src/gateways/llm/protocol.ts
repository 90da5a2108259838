import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';

/** What the two protocols call things: paths, models, texts, usage, errors. Pure. */
export type Protocol = 'openai' | 'gemini';

export interface Operation {
  readonly protocol: Protocol;
  /** generate, embed or models: the words rules use. */
  readonly kind: 'generate' | 'embed' | 'models' | 'count';
  /** The protocol's own name: chat.completions, responses, generateContent … */
  readonly name: string;
  /** Path at the provider, with `{model}` for the model's name where the protocol has it in the path. */
  readonly path: string;
  /** The model when the path names it. */
  readonly model?: string;
}

const OPENAI: Readonly<Record<string, readonly [Operation['kind'], string]>> = {
  'POST /v1/chat/completions': ['generate', 'chat.completions'],
  'POST /v1/responses': ['generate', 'responses'],
  'POST /v1/embeddings': ['embed', 'embeddings'],
  'GET /v1/models': ['models', 'models'],
};

const GEMINI_KINDS: Readonly<Record<string, Operation['kind']>> = {
  generateContent: 'generate',
  streamGenerateContent: 'generate',
  embedContent: 'embed',
  batchEmbedContents: 'embed',
  countTokens: 'count',
};

export function operationOf(method: string, pathname: string): Operation | undefined {
  const openai = OPENAI[`${method} ${pathname}`];
  if (openai)
    return { protocol: 'openai', kind: openai[0], name: openai[1], path: pathname.slice('/v1'.length) };
  const gemini = /^\/(v1|v1beta|v1alpha)\/models\/([A-Za-z0-9][\w.-]{0,199}):([A-Za-z]+)$/.exec(pathname);
  if (method === 'POST' && gemini) {
    const [, version, model, name] = gemini as unknown as [string, string, string, string];
    const kind = Object.hasOwn(GEMINI_KINDS, name) ? GEMINI_KINDS[name] : undefined;
    if (kind === undefined) return undefined;
    return { protocol: 'gemini', kind, name, model, path: `/${version}/models/{model}:${name}` };
  }
  const listed = /^\/(v1beta|v1alpha)\/models$/.exec(pathname);
  if (method === 'GET' && listed)
    return { protocol: 'gemini', kind: 'models', name: 'models', path: `/${listed[1]}/models` };
  return undefined;
}

/** A path of the other family still gets an error its client can read. */
export function protocolOf(pathname: string): Protocol {
  return /^\/(v1beta|v1alpha)\b|\/models\/[^/]+:/.test(pathname) ? 'gemini' : 'openai';
}

const GEMINI_STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  429: 'RESOURCE_EXHAUSTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

export function errorBody(
  protocol: Protocol,
  status: number,
  code: string,
  message: string,
  extra: JsonObject = {},
): Json {
  return protocol === 'gemini'
    ? {
        error: {
          code: status,
          message,
          status: GEMINI_STATUS[status] ?? 'INTERNAL',
          details: [{ reason: code, ...extra }],
        },
      }
    : { error: { message, type: 'writ_gateway', code, param: null, ...extra } };
}

/** Names of the tools a request offers. */
export function toolsOffered(body: JsonObject): readonly string[] {
  return list(body.tools).flatMap((tool) => {
    if (!isJsonObject(tool)) return [];
    const inner = isJsonObject(tool.function) ? tool.function.name : tool.name;
    const declared = list(tool.functionDeclarations ?? tool.function_declarations ?? null);
    const kinds = typeof tool.type === 'string' && tool.type !== 'function' ? [tool.type] : [];
    return [inner, ...declared.map((d) => (isJsonObject(d) ? d.name : undefined)), ...kinds].filter(
      (found): found is string => typeof found === 'string',
    );
  });
}

/** Tokens a provider says it used, whatever it calls them. */
export interface Usage {
  readonly input: number;
  readonly output: number;
}

export function usageOf(answer: Json): Usage | undefined {
  if (!isJsonObject(answer)) return undefined;
  const inner = isJsonObject(answer.response) ? answer.response : answer;
  const usage = inner.usage ?? inner.usageMetadata;
  if (!isJsonObject(usage)) return undefined;
  const input = number(usage.prompt_tokens ?? usage.input_tokens ?? usage.promptTokenCount);
  const total = number(usage.total_tokens ?? usage.totalTokenCount);
  const output = number(usage.completion_tokens ?? usage.output_tokens ?? usage.candidatesTokenCount);
  if (input === undefined && total === undefined && output === undefined) return undefined;
  const known = input ?? 0;
  // What is not said to be input counts as output, the dearer kind: thinking is in the total only.
  return { input: known, output: Math.max(output ?? 0, (total ?? 0) - known) };
}

/** The largest answer a request allows, in tokens. */
export function outputLimit(body: JsonObject): number | undefined {
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {};
  return number(
    body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens ?? config.maxOutputTokens,
  );
}

/**
 * The texts of a streamed piece by channel: what arrives on one channel in several pieces is one text.
 */
export function deltasOf(piece: Json): readonly (readonly [channel: string, text: string])[] {
  if (!isJsonObject(piece)) return [];
  const found: [string, string][] = [];
  const add = (channel: string, text: Json | undefined) => {
    if (typeof text === 'string' && text !== '') found.push([channel, text]);
  };
  for (const choice of list(piece.choices)) {
    if (!isJsonObject(choice)) continue;
    const delta = choice.delta ?? choice.message;
    if (!isJsonObject(delta)) continue;
    const at = `choice ${String(choice.index ?? 0)}`;
    add(at, delta.content);
    add(`${at} refusal`, delta.refusal);
    for (const call of list(delta.tool_calls)) {
      if (!isJsonObject(call) || !isJsonObject(call.function)) continue;
      add(`${at} call ${String(call.index ?? 0)}`, call.function.arguments);
    }
  }
  for (const [i, candidate] of list(piece.candidates).entries()) {
    if (!isJsonObject(candidate) || !isJsonObject(candidate.content)) continue;
    for (const part of list(candidate.content.parts)) {
      if (!isJsonObject(part)) continue;
      add(`candidate ${i}${part.thought === true ? ' thought' : ''}`, part.text);
    }
  }
  if (typeof piece.type === 'string' && piece.type.endsWith('.delta'))
    add(`item ${String(piece.output_index ?? 0)}.${String(piece.content_index ?? 0)}`, piece.delta);
  return found;
}

export function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function number(value: Json | undefined): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.ceil(value) : undefined;
}
