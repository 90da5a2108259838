import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { CODES, digestOf, type JsonObject, messageOf, sha256, WritError } from '../../core/index.ts';
import { createGate } from '../gate.ts';
import { openHttpServer } from '../http-server.ts';
import { createMetrics } from '../metrics.ts';
import { loadPolicies } from '../policies.ts';
import { rateLimiter } from '../rate-limit.ts';
import { shown } from '../shown.ts';
import { openTelemetry } from '../telemetry.ts';
import { openBudgets } from './budget.ts';
import { configMistake, type LlmConfigInput, llmConfigSchema } from './config.ts';
import type { Context, LlmGatewayDeps } from './context.ts';
import { conversations } from './conversations.ts';
import { type LlmEndpoint, makeEndpoint } from './endpoint.ts';
import { createUpstream } from './forward.ts';
import { heldAnswers } from './held-answers.ts';
import { protocolOf } from './protocol.ts';
import { replyError } from './reply.ts';
import { createRouter } from './route.ts';
import { type KnownCaller, type Served, serve } from './serve.ts';

export interface LlmGateway {
  /** `http(s)://host:port`, where it listens. */
  readonly url: string;
  /** A way in for code of this process: a fresh token that lives as long as the gateway. */
  endpoint(caller: { readonly name: string; readonly models: readonly string[] }): LlmEndpoint;
  close(): Promise<void>;
}

/** Starts the gateway: the same pipeline for clients over the network and for brains in this process. */
export async function startLlmGateway(input: LlmConfigInput, deps: LlmGatewayDeps): Promise<LlmGateway> {
  const ctx = contextOf(input, deps);
  const { config } = ctx;
  const callers: KnownCaller[] = config.callers.map((c) => ({ ...c, tokenSha256: c.token_sha256 }));
  const edge = { callers, rates: rateLimiter(() => deps.clock.monotonic()) };
  let running = 0;
  ctx.metrics.gauge('open_requests', () => running);
  const listener: RequestListener = (req, res) => {
    const start = deps.clock.monotonic();
    res.on('error', () => undefined);
    running++;
    res.once('close', () => running--);
    const fail = (status: number, code: string, message: string): Served => {
      if (res.headersSent) res.destroy();
      else replyError(res, protocolOf(req.url ?? '/'), { status, code, message, retryAfter: '1' });
      return { status, code };
    };
    const work =
      running > config.limits.concurrency
        ? Promise.resolve(fail(503, 'busy', 'too many requests at once'))
        : serve(ctx, edge, req, res).catch((error) => {
            // Our own failure is a refusal: nothing was sent, or what was sent is on record as unknown.
            deps.log?.({ event: 'llm.internal_error', reason: shown(messageOf(error), 300) });
            return fail(503, 'gateway_failed', 'the gateway could not judge or record this request');
          });
    void work.then((served) => account(ctx, served, deps.clock.monotonic() - start));
  };
  const server = await openHttpServer(config.listen, deps.baseDir ?? '.', listener).catch(async (error) => {
    await release(ctx);
    throw error;
  });
  return {
    url: server.url,
    endpoint: ({ name, models }) => {
      const token = `writ-${randomBytes(32).toString('base64url')}`;
      callers.push({ name, models: [...models], token_sha256: sha256(token), tokenSha256: sha256(token) });
      return makeEndpoint(server.url, token);
    },
    close: async () => {
      await server.close();
      await release(ctx);
    },
  };
}

function contextOf(input: LlmConfigInput, deps: LlmGatewayDeps): Context {
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
  const { rules, default: otherwise, rewrites } = config;
  return {
    evaluators: policies.evaluators,
    responseEvaluators: onAnswers.evaluators,
    config,
    deps,
    gate: createGate(deps),
    router: createRouter(config, deps.clock),
    upstream: createUpstream(config.providers, deps.keys, config.limits.upstream_timeout_seconds * 1000),
    budgets: budgeted && deps.database !== undefined ? openBudgets(deps.database, deps.clock) : undefined,
    held: heldAnswers(deps.queue),
    conversations: conversations(),
    metrics: createMetrics('writ_llm'),
    telemetry: openTelemetry(config.telemetry, deps.log),
    policyDigest: digestOf({
      rules,
      default: otherwise,
      rewrites,
      policies: [policies.digests, onAnswers.digests],
    }),
  };
}

async function release(ctx: Context): Promise<void> {
  await ctx.upstream.close();
  await ctx.telemetry.close();
  ctx.budgets?.close();
}

/** One line and a few numbers for every request, however it ended. */
function account({ metrics, config, deps }: Context, served: Served, ms: number): void {
  const outcome = served.code ?? 'done';
  const caller = served.caller ?? '';
  metrics.count('requests_total', { caller, outcome });
  metrics.observe('request_duration_seconds', ms / 1000, { caller });
  if (served.code === 'gateway_failed') metrics.count('internal_errors_total');
  if (served.usage !== undefined) {
    metrics.count('tokens_total', { caller, kind: 'input' }, served.usage.input);
    metrics.count('tokens_total', { caller, kind: 'output' }, served.usage.output);
  }
  if (config.log === 'none' || (config.log === 'failures' && served.code === undefined)) return;
  const line: JsonObject = {
    event: 'llm.request',
    request_id: served.requestId ?? null,
    caller: served.caller ?? null,
    operation: served.operation ?? null,
    model: served.model ?? null,
    verdict: served.verdict ?? null,
    status: served.status,
    code: served.code ?? null,
    target: served.target ?? null,
    input_tokens: served.usage?.input ?? null,
    output_tokens: served.usage?.output ?? null,
    ms: Math.round(ms * 10) / 10,
  };
  deps.log?.(line);
}
