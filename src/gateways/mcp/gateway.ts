import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CODES,
  digestOf,
  isJsonObject,
  type Json,
  messageOf,
  parseJson,
  WritError,
} from '../../core/index.ts';
import { callerOf } from '../callers.ts';
import { createGate } from '../gate.ts';
import { guardMistake, readBody, tokenOf } from '../http-guard.ts';
import { type HttpServer, openHttpServer } from '../http-server.ts';
import { createMetrics } from '../metrics.ts';
import { loadPolicies } from '../policies.ts';
import { rateLimiter } from '../rate-limit.ts';
import { shown } from '../shown.ts';
import { openTelemetry } from '../telemetry.ts';
import { type McpConfigInput, mcpConfigMistake, mcpConfigSchema } from './config.ts';
import type { McpCaller, McpContext, McpGatewayDeps } from './context.ts';
import { type HttpTransport, httpUpstream, refuse as reply } from './http-upstream.ts';
import { RPC, readMessage } from './message.ts';
import { openOutcomes } from './outcomes.ts';
import { openSession, type Session } from './session.ts';
import { openStore } from './store.ts';

const SWEEP_MS = 30_000;

export interface McpGateway {
  /** One client on a transport of its own (stdio): everything is allowed to it that the rules allow. */
  attach(transport: Transport): Promise<Session>;
  /** Streamable HTTP on `/mcp`. Resolves to its address. */
  listen(): Promise<string>;
  close(): Promise<void>;
}

interface HttpSession {
  readonly transport: HttpTransport;
  readonly session: Session;
  lastUsed: number;
}

type HttpCaller = McpCaller & { readonly requests_per_minute?: number | undefined };

export function createMcpGateway(input: McpConfigInput, deps: McpGatewayDeps): McpGateway {
  const config = mcpConfigSchema.parse(input);
  const mistake = mcpConfigMistake(config);
  if (mistake !== undefined)
    throw new WritError(CODES.invalid_config, mistake, { suggestion: 'correct the gateway configuration' });
  const policies = loadPolicies(config.policies, deps.baseDir);
  const answerPolicies = loadPolicies(config.response_policies, deps.baseDir);
  const store = openStore(deps.database, deps.clock);
  const mark = randomUUID();
  let requests = 0;
  const { rules, default: otherwise, workspaces } = config;
  const ctx: McpContext = {
    config,
    deps,
    gate: createGate(deps),
    pins: store.pins,
    held: store.held,
    outcomes: openOutcomes((reason) => {
      ctx.recordFailed = true;
      deps.log?.({ event: 'mcp.record_failed', reason: reason.slice(0, 300) });
    }),
    metrics: createMetrics('writ_mcp'),
    telemetry: openTelemetry(config.telemetry, deps.log),
    policyDigest: digestOf({
      rules,
      default: otherwise,
      workspaces,
      policies: policies.digests,
      response_policies: answerPolicies.digests,
    } as unknown as Json),
    rules: rules.filter((rule) => rule.on === 'request'),
    rates: rateLimiter(() => deps.clock.monotonic()),
    policies: policies.evaluators,
    answerRules: rules.filter((rule) => rule.on === 'response'),
    answerPolicies: answerPolicies.evaluators,
    prefixed: config.prefix ?? config.servers.length > 1,
    nextRequestId: () => `mcp_${mark}_${++requests}`,
    recordFailed: false,
  };
  const callers = config.callers.map((c) => ({ ...c, tokenSha256: c.token_sha256 }));
  const nobody: McpCaller = { name: config.anonymous ?? 'local', servers: ['*'], names: ['*'] };
  const sessions = new Map<string, HttpSession>();
  const attached = new Set<Session>();

  const callerFor = (req: IncomingMessage): HttpCaller | undefined =>
    callerOf(callers, tokenOf(req)) ??
    (config.anonymous !== undefined && tokenOf(req) === undefined ? nobody : undefined);

  const serve = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const foreign = guardMistake(req, {
      allowedHosts: config.listen.allowed_hosts,
      allowedOrigins: config.listen.allowed_origins,
    });
    if (foreign !== undefined) return reply(res, 403, foreign);
    const caller = callerFor(req);
    if (caller === undefined) return reply(res, 401, 'no valid token');
    const { pathname } = new URL(req.url ?? '/', 'http://gateway.invalid');
    if (pathname === '/metrics' && req.method === 'GET') {
      res.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(ctx.metrics.text());
      return;
    }
    if (pathname !== '/mcp') return reply(res, 404, 'the gateway is at /mcp');
    if (!ctx.rates.take(caller.name, caller.requests_per_minute))
      return reply(res, 429, 'too many requests a minute');
    let body: Json | undefined;
    if (req.method === 'POST') {
      const read = await readBody(req, config.limits.message_bytes);
      if (!read.ok)
        return reply(res, read.why === 'too_large' ? 413 : 400, 'the message is too large or broke off');
      const parsed = parseJson(read.bytes.toString('utf8'));
      if (!parsed.ok) return reply(res, 400, 'Parse error: the message is not JSON', -32700);
      body = parsed.value;
    }
    const id = req.headers['mcp-session-id'];
    if (typeof id === 'string') {
      const known = sessions.get(id);
      // Another caller's session does not exist for this one.
      if (known === undefined || known.session.caller.name !== caller.name)
        return reply(res, 404, 'Session not found', -32001);
      known.lastUsed = deps.clock.monotonic();
      return known.transport.handle(req, res, body);
    }
    const starts = req.method === 'POST' && isJsonObject(body) && body.method === 'initialize';
    if (!starts) return refuseSessionless(res, body);
    if (sessions.size >= config.limits.sessions && !(await makeRoom(caller)))
      return reply(res, 503, 'too many sessions');
    const transport = httpUpstream(randomUUID(), () => void sessions.delete(transport.sessionId));
    const session = await openSession(ctx, caller, transport);
    sessions.set(transport.sessionId, { transport, session, lastUsed: deps.clock.monotonic() });
    // A greeting that came to nothing leaves nothing behind.
    res.once('close', () => {
      if (!session.ready) void end(transport.sessionId);
    });
    transport.handle(req, res, body);
  };

  const end = async (id: string): Promise<void> => {
    const known = sessions.get(id);
    sessions.delete(id);
    await known?.transport.close();
    await known?.session.close();
  };

  /** Ends the session this caller left alone for longest; never one that is in use, never another's. */
  const makeRoom = async (caller: McpCaller): Promise<boolean> => {
    const left = [...sessions]
      .filter(([, s]) => s.session.caller.name === caller.name && s.transport.idle)
      .sort(([, a], [, b]) => a.lastUsed - b.lastUsed)[0];
    if (left === undefined) return false;
    await end(left[0]);
    return true;
  };

  const listener = (req: IncomingMessage, res: ServerResponse) => {
    res.on('error', () => undefined);
    serve(req, res).catch((error) => {
      deps.log?.({ event: 'mcp.http_error', reason: shown(messageOf(error), 300) });
      reply(res, 500, 'the gateway failed');
    });
  };
  let server: HttpServer | undefined;
  ctx.metrics.gauge('sessions', () => sessions.size + attached.size);
  const sweep = setInterval(() => {
    const oldest = deps.clock.monotonic() - config.limits.session_idle_seconds * 1000;
    // A client that listens, or waits for an answer, is there.
    for (const [id, { lastUsed, transport }] of sessions)
      if (lastUsed <= oldest && transport.idle) void end(id);
  }, SWEEP_MS).unref();

  return {
    attach: async (transport) => {
      const session = await openSession(ctx, nobody, transport);
      attached.add(session);
      return session;
    },
    listen: async () => {
      if (callers.length === 0 && config.anonymous === undefined)
        throw new WritError(CODES.invalid_config, 'nobody could call: there are no callers', {
          suggestion:
            'add callers with token_sha256, or set anonymous: name to let everyone on this machine in',
        });
      server = await openHttpServer(config.listen, deps.baseDir, listener);
      return `${server.url}/mcp`;
    },
    close: async () => {
      clearInterval(sweep);
      await Promise.all([...[...sessions.keys()].map(end), ...[...attached].map((s) => s.close())]);
      await server?.close();
      await ctx.outcomes.settled();
      await ctx.telemetry.close();
      store.close();
    },
  };
}

/** Asked of a server of another generation before anything else, this says which one we are. */
function refuseSessionless(res: ServerResponse, body: Json | undefined): void {
  const message = readMessage(body);
  const id = message.kind === 'request' || message.kind === 'malformed' ? message.id : null;
  if (message.kind === 'request' && message.method === 'server/discover')
    reply(res, 400, 'no such method', RPC.methodNotFound, id);
  else reply(res, 400, 'Bad Request: no session; initialize first', -32000, id);
}
