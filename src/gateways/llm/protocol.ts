import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';

/** What the two protocols call things: paths, models, texts, usage, errors. Pure. */
export type Protocol = 'openai' | 'gemini';

export interface Operation {
  readonly protocol: Protocol;
  /** What it costs and leaves behind. */
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
  'POST /v1/completions': ['generate', 'completions'],
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
  const one = method === 'GET' ? /^\/v1\/models\/([\w.:/-]{1,200})$/.exec(pathname) : null;
  if (one)
    return { protocol: 'openai', kind: 'models', name: 'models', model: one[1]!, path: '/models/{model}' };
  const gemini = /^\/(v1|v1beta|v1alpha)\/models(?:\/([A-Za-z0-9][\w.-]{0,199})(?::([A-Za-z]+))?)?$/.exec(
    pathname,
  );
  if (gemini === null) return undefined;
  const [, version, model, name] = gemini;
  if (method === 'GET' && name === undefined)
    return {
      protocol: 'gemini',
      kind: 'models',
      name: 'models',
      path: `/${version}/models${model === undefined ? '' : '/{model}'}`,
      ...(model === undefined ? {} : { model }),
    };
  const kind = name !== undefined && Object.hasOwn(GEMINI_KINDS, name) ? GEMINI_KINDS[name] : undefined;
  if (method !== 'POST' || kind === undefined || model === undefined || name === undefined) return undefined;
  return { protocol: 'gemini', kind, name, model, path: `/${version}/models/{model}:${name}` };
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
  // A stream in the form of a list says it in its last piece that says it.
  if (Array.isArray(answer))
    return answer.reduce<Usage | undefined>((said, piece: Json) => usageOf(piece) ?? said, undefined);
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

/** The most tokens all answers of a request together may have, where it names no limit `otherwise` each. */
export function outputLimit(body: JsonObject, otherwise: number): number {
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {};
  const each = number(
    body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens ?? config.maxOutputTokens,
  );
  const answers = Math.max(
    number(body.n) ?? 1,
    number(body.best_of) ?? 1,
    number(config.candidateCount) ?? 1,
  );
  return Math.min((each ?? otherwise) * answers, MOST);
}

/**
 * The texts of a streamed piece by channel, each replaced by what `change` makes of it: what arrives on one
 * channel in several pieces is one text. The same piece when nothing changed.
 */
export function mapDeltas(piece: Json, change: (channel: string, text: string) => string): Json {
  if (!isJsonObject(piece)) return piece;
  const choices = each(piece.choices, (choice, i) => {
    const at = `choice ${String(choice.index ?? i)}`;
    const legacy = member(choice, 'text', (text) => textBy(text, `${at} text`, change));
    return ['delta', 'message'].reduce<JsonObject>(
      (now, name) => member(now, name, (delta) => chatDelta(delta, at, change)),
      legacy,
    );
  });
  const candidates = each(piece.candidates, (candidate, i) =>
    member(candidate, 'content', (content) =>
      isJsonObject(content)
        ? member(content, 'parts', (parts) =>
            each(parts, (part) => {
              const at = `candidate ${String(candidate.index ?? i)}${part.thought === true ? ' thought' : ''}`;
              return member(part, 'text', (text) => textBy(text, at, change));
            }),
          )
        : content,
    ),
  );
  const withLists = put(put(piece, 'choices', choices), 'candidates', candidates);
  if (typeof piece.type !== 'string' || !piece.type.endsWith('.delta')) return withLists;
  const at = `item ${String(piece.output_index ?? 0)}.${String(piece.content_index ?? 0)}`;
  return member(withLists, 'delta', (text) => textBy(text, at, change));
}

/** Every text of a piece is a channel: content, refusal, and what providers add, such as their reasoning. */
function chatDelta(delta: Json, at: string, change: (channel: string, text: string) => string): Json {
  if (!isJsonObject(delta)) return delta;
  let now = delta;
  for (const name of Object.keys(delta))
    if (name !== 'role') now = member(now, name, (text) => textBy(text, `${at} ${name}`, change));
  return member(now, 'tool_calls', (calls) =>
    each(calls, (call, i) =>
      member(call, 'function', (tool) =>
        isJsonObject(tool)
          ? member(tool, 'arguments', (text) => textBy(text, `${at} call ${String(call.index ?? i)}`, change))
          : tool,
      ),
    ),
  );
}

const textBy = (value: Json, channel: string, change: (channel: string, text: string) => string): Json =>
  typeof value === 'string' && value !== '' ? change(channel, value) : value;

function member(object: JsonObject, name: string, change: (value: Json) => Json): JsonObject {
  const value = object[name];
  return value === undefined ? object : put(object, name, change(value));
}

function put(object: JsonObject, name: string, value: Json | undefined): JsonObject {
  return value === undefined || value === object[name] ? object : { ...object, [name]: value };
}

function each<T extends Json | undefined>(
  items: T,
  change: (item: JsonObject, index: number) => Json,
): T | readonly Json[] {
  if (!Array.isArray(items)) return items;
  const before = items as readonly Json[];
  const after = before.map((item, i) => (isJsonObject(item) ? change(item, i) : item));
  return after.every((item, i) => item === before[i]) ? items : after;
}

/** Has this piece the last word of the answer, so that what is held back must come before it? */
export function isLastPiece(piece: Json): boolean {
  if (!isJsonObject(piece)) return false;
  const ends = (value: Json | undefined) => value !== undefined && value !== null;
  return (
    list(piece.choices).some((c) => isJsonObject(c) && ends(c.finish_reason)) ||
    list(piece.candidates).some((c) => isJsonObject(c) && ends(c.finishReason)) ||
    (typeof piece.type === 'string' && /\.(done|completed|incomplete|failed)$/.test(piece.type))
  );
}

/** The tools an answer calls, in any of the protocols, whole or streamed; by channel, as names may come in pieces. */
export function toolsCalled(piece: Json): readonly (readonly [channel: string, name: string])[] {
  if (!isJsonObject(piece)) return [];
  const found: [string, string][] = [];
  const add = (channel: string, name: Json | undefined) => {
    if (typeof name === 'string' && name !== '') found.push([channel, name]);
  };
  for (const choice of list(piece.choices)) {
    const said = isJsonObject(choice) ? (choice.message ?? choice.delta) : null;
    if (!isJsonObject(choice) || !isJsonObject(said)) continue;
    for (const [i, call] of list(said.tool_calls).entries()) {
      if (!isJsonObject(call)) continue;
      const tool = isJsonObject(call.function) ? call.function : call.custom;
      if (isJsonObject(tool)) add(`${String(choice.index ?? 0)} ${String(call.index ?? i)}`, tool.name);
    }
    if (isJsonObject(said.function_call))
      add(`${String(choice.index ?? 0)} function`, said.function_call.name);
  }
  const response = isJsonObject(piece.response) ? piece.response : piece;
  for (const [i, item] of [...list(response.output), piece.item ?? null].entries())
    if (isJsonObject(item) && typeof item.type === 'string' && item.type.endsWith('_call'))
      add(`item ${String(piece.output_index ?? i)}`, item.name ?? item.type);
  for (const candidate of list(piece.candidates)) {
    if (!isJsonObject(candidate) || !isJsonObject(candidate.content)) continue;
    for (const part of list(candidate.content.parts))
      if (isJsonObject(part) && isJsonObject(part.functionCall)) add('', part.functionCall.name);
  }
  return found;
}

export function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** More than anybody uses or asks for; what is larger is counted as this. */
const MOST = 1e12;

function number(value: Json | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 ? Math.min(Math.ceil(value), MOST) : undefined;
}
