import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type Json, messageOf } from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import { clientSide } from './client-side.ts';
import type { McpCaller, McpContext } from './context.ts';
import { factsOf, metaOf } from './facts.ts';
import { govern } from './govern.ts';
import {
  errorOf,
  failure,
  type Id,
  notificationOf,
  type Params,
  type Reply,
  RPC,
  readMessage,
  resultOf,
} from './message.ts';
import { observed } from './observe.ts';
import type { Peer } from './peer.ts';
import { createRouter } from './router.ts';
import { type History, sessionHistory } from './rules.ts';
import { type ServerLine, serverLine } from './server-line.ts';

/**
 * One client, its servers, and everything that passes between them.
 *
 * S1 Each session has connections to the servers of its own: nothing of one client can reach another.
 * S2 Every request of the client is judged and recorded; what servers ask of the client is, too.
 * S3 An answer goes to the request it belongs to, once; one that was taken back gets none.
 */
export interface Session {
  readonly caller: McpCaller;
  /** The client has been greeted. */
  readonly ready: boolean;
  /** The session is over, whoever ended it. */
  readonly ended: Promise<void>;
  close(): Promise<void>;
}

/** A client's end of the session. HTTP knows more than a pipe: who hung up, and streams that can be let go. */
export interface ClientTransport extends Transport {
  /** Ends the exchange of a request that gets no answer. */
  release?(id: Id): void;
  /** The client hung up on these requests; they go on, but nobody waits for them. */
  onleft?: (ids: readonly Id[]) => void;
}

interface InFlight {
  readonly stop: AbortController;
  readonly away: AbortController;
  readonly progressToken: Json | undefined;
}

/** What a restarted server must hear again. */
const SET_UP = new Set(['logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);
const LIST_CHANGES = ['tools', 'prompts', 'resources'] as const;

export async function openSession(
  ctx: McpContext,
  caller: McpCaller,
  client: ClientTransport,
): Promise<Session> {
  const { limits } = ctx.config;
  const history: History = sessionHistory(ctx.rules, ctx.rates);
  const inFlight = new Map<Id, InFlight>();
  let greeting: { readonly params: Params; readonly id: Id; readonly call: InFlight } | undefined;
  let ready = false;
  let closed = false;
  const ended = Promise.withResolvers<void>();

  const tell = async (message: Parameters<Transport['send']>[0], related?: Id) => {
    if (!closed) await client.send(message, related === undefined ? {} : { relatedRequestId: related });
  };

  const side = clientSide({
    ctx,
    caller,
    history,
    tell,
    callWith: (token) =>
      token === undefined ? undefined : [...inFlight].find(([, call]) => call.progressToken === token)?.[0],
  });

  const forwardTo = async (
    line: ServerLine,
    peer: Peer,
    method: string,
    name: string,
    params: Params,
    id: Id,
    call: InFlight,
  ): Promise<Reply> => {
    const pinned = line.pinning && method === 'tools/call';
    const tool = pinned ? await line.tool(name) : undefined;
    const seconds = method === 'initialize' ? limits.start_timeout_seconds : limits.call_timeout_seconds;
    let tick = 0;
    return govern(ctx, caller, history, {
      peer,
      facts: factsOf(caller.name, line.name, method, name, params),
      params,
      tool,
      pinned,
      timeoutMs: seconds * 1000,
      clientId: id,
      signal: call.stop.signal,
      away: call.away.signal,
      waiting: (approvalId) => {
        if (call.progressToken === undefined) return;
        const message = `waiting for approval ${approvalId}`;
        const params = { progressToken: call.progressToken, progress: ++tick * 1e-6, message };
        void tell(notificationOf('notifications/progress', params), id).catch(() => undefined);
      },
    });
  };

  const lines = ctx.config.servers
    .filter((entry) => anyMatches(caller.servers, entry.name))
    .map((entry) =>
      serverLine(ctx, caller, entry, {
        message: side.fromServer,
        greet: (line, peer) => {
          if (greeting === undefined) return Promise.resolve(failure(RPC.invalidRequest, 'initialize first'));
          const { params, id, call } = greeting;
          // A restarted server is greeted long after the client's own request has ended.
          const live = inFlight.has(id) ? call : openCall(params);
          return forwardTo(line, peer, 'initialize', '', params, id, live);
        },
        restarted: (line) => {
          for (const what of LIST_CHANGES)
            if (line.capabilities[what] !== undefined)
              void tell(notificationOf(`notifications/${what}/list_changed`, undefined)).catch(
                () => undefined,
              );
        },
      }),
    );
  const { prefixed } = ctx;
  const router = createRouter({ lines, caller, prefixed, timeoutMs: limits.call_timeout_seconds * 1000 });

  const handle = async (method: string, params: Params, id: Id, call: InFlight): Promise<Reply> => {
    if (method === 'initialize') {
      if (greeting !== undefined) return failure(RPC.invalidRequest, 'this session is initialized already');
      greeting = { params, id, call };
      const reply = await router.initialize();
      ready = reply.ok;
      // A client may try again when nothing came of it.
      if (!reply.ok) greeting = undefined;
      return reply;
    }
    if (!ready) {
      // Asked of a server of another generation, this says which one we are.
      return method === 'server/discover'
        ? failure(RPC.methodNotFound, 'no such method')
        : failure(RPC.invalidRequest, 'initialize first');
    }
    return router.route(method, params, async (line, method, name, params) => {
      const peer = await line.peer();
      if (peer === undefined) return failure(RPC.serverGone, `the server ${line.name} has ended`);
      const reply = await forwardTo(line, peer, method, name, params, id, call);
      if (reply.ok && SET_UP.has(method)) line.remember(method, params);
      return reply;
    });
  };

  const clientRequest = async (id: Id, method: string, params: Params): Promise<void> => {
    if (inFlight.has(id))
      return tell(errorOf(id, { code: RPC.invalidRequest, message: 'this id is in use' }), id);
    if (inFlight.size >= limits.calls_at_once)
      return tell(errorOf(id, { code: RPC.denied, message: 'too many calls at once' }), id);
    const call = openCall(params);
    inFlight.set(id, call);
    try {
      const reply = await observed(ctx, caller.name, method, params, (sent) =>
        handle(method, sent, id, call).catch((error) => {
          ctx.deps.log?.({ event: 'mcp.internal_error', reason: messageOf(error).slice(0, 300) });
          return failure(RPC.internal, 'the gateway could not judge or record this request');
        }),
      );
      if (call.stop.signal.aborted) client.release?.(id);
      else await tell(reply.ok ? resultOf(id, reply.result) : errorOf(id, reply.error), id);
    } finally {
      inFlight.delete(id);
    }
  };

  const clientNotification = async (method: string, params: Params): Promise<void> => {
    if (method === 'notifications/cancelled') {
      const id = params?.requestId;
      const call = typeof id === 'string' || typeof id === 'number' ? inFlight.get(id) : undefined;
      // The greeting cannot be taken back.
      if (call === undefined || call === greeting?.call) return;
      const reason = typeof params?.reason === 'string' ? params.reason : 'cancelled by the client';
      call.stop.abort(reason);
      call.away.abort();
      return;
    }
    if (method === 'notifications/initialized') for (const line of lines) line.remember(method, params);
    const target = method === 'notifications/progress' ? side.askedWith(params?.progressToken) : undefined;
    for (const { now } of lines)
      if (now !== undefined && (target === undefined || target === now))
        await now.notify(method, params).catch(() => undefined);
  };

  const close = async () => {
    if (closed) return;
    closed = true;
    for (const { stop, away } of inFlight.values()) {
      stop.abort('the session has ended');
      away.abort();
    }
    await Promise.all(lines.map((line) => line.close()));
    ended.resolve();
  };

  client.onclose = () => void close();
  client.onerror = () => undefined;
  client.onleft = (ids) => {
    for (const id of ids) inFlight.get(id)?.away.abort();
  };
  client.onmessage = (raw: unknown) => {
    take(raw).catch((error) =>
      ctx.deps.log?.({ event: 'mcp.client_lost', reason: messageOf(error).slice(0, 300) }),
    );
  };
  const take = async (raw: unknown): Promise<void> => {
    const message = readMessage(raw);
    switch (message.kind) {
      case 'request':
        return clientRequest(message.id, message.method, message.params);
      case 'notification':
        return clientNotification(message.method, message.params);
      case 'result':
      case 'error':
        return side.answered(message);
      case 'malformed':
        return tell(
          errorOf(message.id ?? null, { code: RPC.invalidRequest, message: 'not a JSON-RPC message' }),
        );
    }
  };
  await client.start();
  return {
    caller,
    get ready() {
      return ready;
    },
    ended: ended.promise,
    close,
  };
}

function openCall(params: Params): InFlight {
  return {
    stop: new AbortController(),
    away: new AbortController(),
    progressToken: metaOf(params).progressToken,
  };
}
