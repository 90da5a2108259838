import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalJson, isJsonObject, type Json, type JsonObject, parseJson } from '../../core/index.ts';
import { callerOf } from '../callers.ts';
import { guardMistake, readBody, tokenOf } from '../http-guard.ts';
import { anyMatches } from '../names.ts';
import type { RateLimiter } from '../rate-limit.ts';
import { shown } from '../shown.ts';
import { handleCall } from './call.ts';
import type { Caller } from './config.ts';
import type { Context, Done } from './context.ts';
import { type Operation, operationOf, protocolOf } from './protocol.ts';
import { type Failure, replyError } from './reply.ts';
import { type Cleaned, redactTexts, rewriteTexts } from './texts.ts';
import { answerFacts, doneFacts, startSpan } from './trace.ts';

export type KnownCaller = Caller & { readonly tokenSha256: string };

export interface Edge {
  readonly callers: readonly KnownCaller[];
  readonly rates: RateLimiter;
}

/** What a log line may say about a request, as far as it got. */
export interface Served extends Done {
  readonly requestId?: string;
  readonly caller?: string;
  readonly operation?: string;
  readonly model?: string;
}

/** One HTTP request: who asks, what for, is it well-formed. Then it is judged. */
export async function serve(
  ctx: Context,
  edge: Edge,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<Served> {
  const target = targetOf(req.url ?? '/');
  const fail = (failure: Failure, known: Partial<Served> = {}): Served => {
    replyError(res, protocolOf(target.path), failure);
    return { ...known, status: failure.status, code: failure.code };
  };
  const { listen } = ctx.config;
  const foreign = guardMistake(req, {
    // The address it listens on is its name, unless that stands for all of them.
    allowedHosts: /^(0\.0\.0\.0|::)$/.test(listen.host)
      ? listen.allowed_hosts
      : [...listen.allowed_hosts, listen.host.toLowerCase()],
    allowedOrigins: listen.allowed_origins,
  });
  if (foreign !== undefined) return fail({ status: 403, code: 'forbidden_origin', message: foreign });
  const caller = callerOf(edge.callers, tokenOf(req));
  if (caller === undefined)
    return fail({
      status: 401,
      code: 'invalid_api_key',
      message: 'no valid token: ask whoever runs this gateway for one',
    });
  const known: Partial<Served> = { caller: caller.name };
  if (req.method === 'GET' && target.path === '/metrics') {
    res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(ctx.metrics.text());
    return { ...known, status: 200, operation: 'metrics' };
  }
  if (!edge.rates.take(caller.name, caller.requests_per_minute))
    return fail(
      {
        status: 429,
        code: 'rate_limited',
        message: `${caller.name} may make ${caller.requests_per_minute} requests a minute`,
        retryAfter: '60',
      },
      known,
    );
  const operation = operationOf(req.method ?? 'GET', target.path);
  if (operation === undefined)
    return fail(
      { status: 404, code: 'unknown_endpoint', message: 'this gateway does not serve this path' },
      known,
    );
  const read = operation.kind === 'models' ? NO_BODY : await readRequest(ctx, req);
  if (!read.ok) return fail(read.failure, { ...known, operation: operation.name });
  const { body } = read;
  const model = operation.model ?? (typeof body?.model === 'string' ? body.model : '');
  const requestId = ctx.deps.ids.next('llm');
  const named = { ...known, requestId, operation: operation.name, model: shown(model) };
  const mistake = mistakeIn(ctx, caller, operation, model, body);
  if (mistake !== undefined) return fail(mistake, named);
  const clean = body === undefined ? { value: null, redactions: 0 } : cleaned(body);
  if (clean === undefined)
    return fail({ status: 400, code: 'invalid_request', message: 'the request is nested too deeply' }, named);
  const rewritten = rewriteTexts(clean.value, operation.kind === 'embed' ? [] : ctx.config.rewrites);
  const life = lifeOf(res, ctx.config.limits.call_timeout_seconds);
  const { traceparent, tracestate } = req.headers;
  const span = await startSpan(
    ctx.telemetry,
    { traceparent, tracestate },
    {
      requestId,
      caller: caller.name,
      operation,
      model,
      body: body ?? null,
    },
  );
  const facts = ctx.config.telemetry === undefined ? undefined : answerFacts();
  const done = await handleCall(
    ctx,
    {
      requestId,
      caller,
      operation,
      model: model === '' ? firstModel(ctx, operation) : model,
      query: target.query,
      body: body === undefined ? undefined : (rewritten.value as JsonObject),
      bodyText: JSON.stringify(rewritten.value),
      original: clean.value,
      redactions: clean.redactions,
      rewrites: rewritten.applied,
      signal: life.signal,
      span,
      note: listener(ctx, operation, caller.name, facts?.note),
    },
    res,
  ).catch((error) => {
    span.end('internal');
    throw error;
  });
  life.end();
  span.set({ ...facts?.facts(), ...doneFacts(done) });
  span.end(done.code);
  return { ...named, ...done };
}

const NO_BODY = { ok: true, body: undefined } as const;

/** Who listens to answers: only what keeps state of its own, and spans when there are any. */
function listener(
  ctx: Context,
  operation: Operation,
  caller: string,
  traced: ((answer: Json) => void) | undefined,
): ((answer: Json) => void) | undefined {
  if (operation.name !== 'responses') return traced;
  return (answer) => {
    ctx.conversations.note(caller, answer);
    traced?.(answer);
  };
}

/** The path, and of the query what the protocols need: nothing else of it goes on. */
function targetOf(url: string): { readonly path: string; readonly query: string } {
  const at = url.indexOf('?');
  if (at === -1) return { path: url, query: '' };
  const given = new URLSearchParams(url.slice(at + 1));
  const kept = new URLSearchParams();
  if (given.get('alt') === 'sse') kept.set('alt', 'sse');
  for (const name of ['pageSize', 'pageToken']) {
    const value = given.get(name);
    if (value !== null && /^[\w.=-]{1,500}$/.test(value)) kept.set(name, value);
  }
  return { path: url.slice(0, at), query: kept.size === 0 ? '' : `?${kept}` };
}

/** Ends when the caller goes away or the time is up; `end` lets its timer go. */
function lifeOf(res: ServerResponse, seconds: number) {
  const life = new AbortController();
  const timer = setTimeout(() => life.abort(new Error('the call took too long')), seconds * 1000);
  const gone = () => {
    clearTimeout(timer);
    if (!res.writableFinished) life.abort(new Error('the caller went away'));
  };
  res.once('close', gone);
  return { signal: life.signal, end: () => clearTimeout(timer) };
}

function mistakeIn(
  ctx: Context,
  caller: Caller,
  operation: Operation,
  model: string,
  body: JsonObject | undefined,
): Failure | undefined {
  const listing = operation.kind === 'models' && operation.model === undefined;
  if (!listing && (model === '' || model.length > 200))
    return { status: 400, code: 'invalid_request', message: 'the request names no model' };
  if (!listing && !anyMatches(caller.models, model))
    return { status: 403, code: 'model_not_allowed', message: `${caller.name} may not use this model` };
  const foreign = body === undefined ? undefined : ctx.conversations.foreign(caller.name, body);
  if (foreign !== undefined)
    return {
      status: 404,
      code: 'previous_response_not_found',
      message: 'this gateway has given this caller no answer with that id',
    };
  return undefined;
}

/** Undefined when the body is too deep to be read as a whole: what cannot be redacted is not sent. */
function cleaned(body: JsonObject): Cleaned | undefined {
  try {
    return redactTexts(body);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** A listing is asked of the first route of its protocol. */
function firstModel(ctx: Context, operation: Operation): string {
  const of = (name: string) => ctx.config.providers.find((p) => p.name === name)?.protocol;
  const route = ctx.config.routes.find((r) => r.targets.some((t) => of(t.provider) === operation.protocol));
  return route?.models[0] ?? '';
}

type Read =
  | { readonly ok: true; readonly body: JsonObject | undefined }
  | { readonly ok: false; readonly failure: Failure };

async function readRequest(ctx: Context, req: IncomingMessage): Promise<Read> {
  const limit = ctx.config.limits.body_bytes;
  const body = await readBody(req, limit);
  const bad = (status: number, message: string, hangUp = false): Read => ({
    ok: false,
    failure: { status, code: 'invalid_request', message, hangUp },
  });
  if (!body.ok)
    return body.why === 'too_large'
      ? bad(413, `a request may have ${limit} bytes`, true)
      : bad(400, 'the request broke off', true);
  const text = body.bytes.toString('utf8');
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return bad(400, 'the body is not a JSON object');
  if (text.includes('\uFFFD') && !body.bytes.includes(Buffer.from('\uFFFD')))
    return bad(400, 'the body is not valid UTF-8');
  if (/\\u[dD][89a-fA-F]/.test(text) && !isCanonical(parsed.value))
    return bad(400, 'a text of the body holds half a character');
  return { ok: true, body: parsed.value };
}

/** Half a surrogate pair has no form that could be digested or recorded. */
function isCanonical(value: Json): boolean {
  try {
    canonicalJson(value);
    return true;
  } catch (error) {
    // Too deep is somebody else's complaint.
    return error instanceof RangeError;
  }
}
