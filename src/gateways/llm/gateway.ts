import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import {
  CODES,
  digestOf,
  isJsonObject,
  type JsonObject,
  messageOf,
  parseJson,
  sha256,
  WritError,
} from '../../core/index.ts';
import { callerOf } from '../callers.ts';
import { createGate } from '../gate.ts';
import { guardMistake, readBody, tokenOf } from '../http-guard.ts';
import { createMetrics } from '../metrics.ts';
import { anyMatches } from '../names.ts';
import { loadPolicies } from '../policies.ts';
import { type RateLimiter, rateLimiter } from '../rate-limit.ts';
import { openBudgets } from './budget.ts';
import { handleCall } from './call.ts';
import { type Caller, configMistake, type LlmConfigInput, llmConfigSchema } from './config.ts';
import type { Context, LlmGatewayDeps } from './context.ts';
import { type LlmEndpoint, makeEndpoint } from './endpoint.ts';
import { createUpstream } from './forward.ts';
import { type Operation, operationOf, protocolOf } from './protocol.ts';
import { type Failure, replyError } from './reply.ts';
import { createRouter } from './route.ts';
import { type Cleaned, redactTexts, rewriteTexts } from './texts.ts';

export interface LlmGateway {
  /** `http(s)://host:port`, where it listens. */
  readonly url: string;
  /** A way in for code of this process: a fresh token that lives as long as the gateway. */
  endpoint(caller: { readonly name: string; readonly models: readonly string[] }): LlmEndpoint;
  close(): Promise<void>;
}

/** Starts the gateway: the same pipeline for clients over the network and for brains in this process. */
export async function startLlmGateway(input: LlmConfigInput, deps: LlmGatewayDeps): Promise<LlmGateway> {
  const config = llmConfigSchema.parse(input);
  const mistake = configMistake(config);
  if (mistake !== undefined)
    throw new WritError(CODES.invalid_config, mistake, { suggestion: 'correct the gateway configuration' });
  const budgeted = config.callers.some((c) => c.budget !== undefined);
  if (budgeted && deps.database === undefined)
    throw new WritError(
      CODES.invalid_config,
      'a caller has a budget, but there is no database to keep it in',
    );
  const policies = loadPolicies(config.policies, deps.baseDir ?? '.');
  const onAnswers = loadPolicies(config.response_policies, deps.baseDir ?? '.');
  const ctx: Context = {
    evaluators: policies.evaluators,
    responseEvaluators: onAnswers.evaluators,
    config,
    deps,
    gate: createGate(deps),
    router: createRouter(config, deps.clock),
    upstream: createUpstream(deps.keys, config.limits.upstream_timeout_seconds * 1000),
    budgets: budgeted && deps.database !== undefined ? openBudgets(deps.database, deps.clock) : undefined,
    metrics: createMetrics('writ_llm'),
    policyDigest: digestOf({
      rules: config.rules,
      default: config.default,
      rewrites: config.rewrites,
      policies: [policies.digests, onAnswers.digests],
    }),
  };
  const callers: (Caller & { readonly tokenSha256: string })[] = config.callers.map((c) => ({
    ...c,
    tokenSha256: c.token_sha256,
  }));
  const rates = rateLimiter(() => deps.clock.monotonic());
  let running = 0;
  const listener: RequestListener = (req, res) => {
    res.on('error', () => undefined);
    running++;
    res.once('close', () => running--);
    const work =
      running > config.limits.concurrency
        ? Promise.resolve(busy(req, res))
        : serve(ctx, callers, rates, req, res);
    work.catch((error) => {
      // Our own failure is a refusal: nothing was sent, or what was sent is on record as unknown.
      deps.log?.({ event: 'llm.internal_error', reason: messageOf(error).slice(0, 300).toWellFormed() });
      ctx.metrics.count('internal_errors_total');
      const failure = {
        status: 503,
        code: 'gateway_failed',
        message: 'the gateway could not judge or record this request',
      };
      if (res.headersSent) res.destroy();
      else replyError(res, protocolOf(req.url ?? '/'), failure);
    });
  };
  const { tls } = config.listen;
  const server: Server = tls
    ? createTlsServer(
        { cert: readFileSync(tls.cert), key: readFileSync(tls.key), minVersion: 'TLSv1.2' },
        listener,
      )
    : createServer(listener);
  server.requestTimeout = 120_000;
  server.headersTimeout = 20_000;
  await listen(server, config.listen.host, config.listen.port);
  const { port } = server.address() as AddressInfo;
  const host = config.listen.host.includes(':') ? `[${config.listen.host}]` : config.listen.host;
  const url = `${tls ? 'https' : 'http'}://${host}:${port}`;
  return {
    url,
    endpoint: ({ name, models }) => {
      const token = `writ-${randomBytes(32).toString('base64url')}`;
      callers.push({ name, models: [...models], token_sha256: sha256(token), tokenSha256: sha256(token) });
      return makeEndpoint(url, token);
    },
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      await ctx.upstream.close();
      ctx.budgets?.close();
    },
  };
}

async function serve(
  ctx: Context,
  callers: readonly (Caller & { readonly tokenSha256: string })[],
  rates: RateLimiter,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const url = new URL(req.url ?? '/', 'http://gateway.invalid');
  const protocol = protocolOf(url.pathname);
  const fail = (failure: Failure) => replyError(res, protocol, failure);
  const { listen: guard } = ctx.config;
  const foreign = guardMistake(req, {
    allowedHosts: guard.allowed_hosts,
    allowedOrigins: guard.allowed_origins,
  });
  if (foreign !== undefined) return fail({ status: 403, code: 'forbidden_origin', message: foreign });
  const caller = callerOf(callers, tokenOf(req));
  if (caller === undefined)
    return fail({
      status: 401,
      code: 'invalid_api_key',
      message: 'no valid token: ask whoever runs this gateway for one',
    });
  if (req.method === 'GET' && url.pathname === '/metrics') {
    res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(ctx.metrics.text());
    return;
  }
  if (!rates.take(caller.name, caller.requests_per_minute))
    return fail({
      status: 429,
      code: 'rate_limited',
      message: `${caller.name} may make ${caller.requests_per_minute} requests a minute`,
      retryAfter: '60',
    });
  const operation = operationOf(req.method ?? 'GET', url.pathname);
  if (operation === undefined)
    return fail({ status: 404, code: 'unknown_endpoint', message: 'this gateway does not serve this path' });
  const read = await readRequest(ctx, operation, req);
  if (!read.ok) return fail(read.failure);
  const { body } = read;
  const model = operation.model ?? (typeof body?.model === 'string' ? body.model : '');
  if (operation.kind !== 'models' && (model === '' || model.length > 200))
    return fail({ status: 400, code: 'invalid_request', message: 'the request names no model' });
  if (operation.kind !== 'models' && !anyMatches(caller.models, model))
    return fail({ status: 403, code: 'model_not_allowed', message: `${caller.name} may not use this model` });
  const clean = body === undefined ? { value: null, redactions: 0 } : cleaned(body);
  if (clean === undefined)
    return fail({ status: 400, code: 'invalid_request', message: 'the request is nested too deeply' });
  const rewritten =
    operation.kind === 'embed'
      ? { value: clean.value, applied: [] }
      : rewriteTexts(clean.value, ctx.config.rewrites);
  const gone = new AbortController();
  res.once('close', () => {
    if (!res.writableFinished) gone.abort(new Error('the caller went away'));
  });
  const timeout = AbortSignal.timeout(
    (ctx.config.limits.upstream_timeout_seconds + ctx.config.limits.approval_wait_seconds) * 1000,
  );
  await handleCall(
    ctx,
    {
      requestId: ctx.deps.ids.next('llm'),
      caller,
      operation,
      model: operation.kind === 'models' ? firstModel(ctx, operation) : model,
      query: url.searchParams.get('alt') === 'sse' ? '?alt=sse' : '',
      body: body === undefined ? undefined : (rewritten.value as JsonObject),
      original: clean.value,
      redactions: clean.redactions,
      rewrites: rewritten.applied,
      signal: AbortSignal.any([gone.signal, timeout]),
    },
    res,
  );
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

async function readRequest(
  ctx: Context,
  operation: Operation,
  req: IncomingMessage,
): Promise<{ ok: true; body: JsonObject | undefined } | { ok: false; failure: Failure }> {
  if (operation.kind === 'models') return { ok: true, body: undefined };
  const body = await readBody(req, ctx.config.limits.body_bytes);
  const bad = (status: number, message: string) =>
    ({ ok: false, failure: { status, code: 'invalid_request', message } }) as const;
  if (!body.ok)
    return body.why === 'too_large'
      ? bad(413, `a request may have ${ctx.config.limits.body_bytes} bytes`)
      : bad(400, 'the request broke off');
  const text = body.bytes.toString('utf8');
  const parsed = parseJson(text);
  if (!parsed.ok || !isJsonObject(parsed.value)) return bad(400, 'the body is not a JSON object');
  if (!text.isWellFormed() || (text.includes('\uFFFD') && !body.bytes.includes(Buffer.from('\uFFFD'))))
    return bad(400, 'the body is not valid UTF-8');
  return { ok: true, body: parsed.value };
}

function busy(req: IncomingMessage, res: ServerResponse): void {
  const failure = { status: 503, code: 'busy', message: 'too many requests at once', retryAfter: '1' };
  replyError(res, protocolOf(req.url ?? '/'), failure);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(
        new WritError(CODES.invalid_config, `cannot listen on ${host}:${port}: ${messageOf(error)}`, {
          suggestion: 'choose another port',
        }),
      ),
    );
    server.listen(port, host, resolve);
  });
}
