import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isJsonObject, type Json, type JsonObject, messageOf } from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import { connectServer } from './connect.ts';
import type { McpCaller, McpContext } from './context.ts';
import { govern } from './govern.ts';
import { mergeInitialize } from './initialize.ts';
import {
  CAPABILITY,
  entryName,
  gather,
  isList,
  LISTS,
  type ListMethod,
  shown,
  unprefixed,
} from './listing.ts';
import {
  errorOf,
  failure,
  type Id,
  type Message,
  notificationOf,
  type Reply,
  RPC,
  readMessage,
  requestOf,
  resultOf,
} from './message.ts';
import { openPeer, type Peer } from './peer.ts';
import { pinOf, type ToolPin } from './pins.ts';
import { type History, judgeByRules, type McpFacts, sessionHistory } from './rules.ts';

/**
 * One client, its servers, and everything that passes between them.
 *
 * S1 Each session has lines to the servers of its own: nothing of one client can reach another.
 * S2 Every request of the client is judged and recorded; what servers ask of the client is, too.
 * S3 An answer goes to the request it belongs to, once; ids are translated on both sides.
 */
export interface Session {
  readonly caller: McpCaller;
  close(): Promise<void>;
}

interface Line {
  readonly peer: Peer;
  readonly pinning: boolean;
  capabilities: JsonObject;
  tools: Promise<ReadonlyMap<string, ToolPin>> | undefined;
}

interface InFlight {
  readonly stop: AbortController;
  readonly progressToken: Json | undefined;
}

export async function openSession(ctx: McpContext, caller: McpCaller, client: Transport): Promise<Session> {
  const { limits } = ctx.config;
  const history: History = sessionHistory(ctx.config.rules);
  const lines = new Map<string, Line>();
  const inFlight = new Map<Id, InFlight>();
  const asked = new Map<
    string,
    { readonly peer: Peer; readonly id: Id; readonly progressToken: Json | undefined }
  >();
  const owners = new Map<string, string>();
  let nextAsk = 0;
  let closed = false;

  const tell = async (message: Parameters<Transport['send']>[0], related?: Id) => {
    if (!closed) await client.send(message, related === undefined ? {} : { relatedRequestId: related });
  };

  /** What comes from a server: notifications pass, requests are judged and put to the client. */
  const fromServer = async (server: string, message: Message): Promise<void> => {
    const line = lines.get(server);
    if (line === undefined) return;
    if (message.kind === 'notification') return serverNotification(line, message.method, message.params);
    if (message.kind !== 'request') return;
    const facts = factsOf(server, message.method, '', message.params);
    const said = judgeByRules(ctx.config.rules, 'allow', facts, history);
    await ctx.deps.journal.append({
      type: 'mcp.server_request',
      caller: caller.name,
      server,
      method: message.method.slice(0, 200).toWellFormed(),
      verdict: said.verdict,
      rule: said.rule,
    });
    if (
      said.verdict === 'deny' ||
      said.verdict === 'require_approval' ||
      asked.size >= limits.calls_at_once
    ) {
      await line.peer.answer(errorOf(message.id, { code: RPC.denied, message: `denied: ${said.reason}` }));
      return;
    }
    const id = `writ-${++nextAsk}`;
    asked.set(id, { peer: line.peer, id: message.id, progressToken: metaOf(message.params).progressToken });
    await tell(requestOf(id, message.method, message.params), line.peer.current());
  };

  const serverNotification = async (line: Line, method: string, params: JsonObject): Promise<void> => {
    if (method === 'notifications/tools/list_changed') line.tools = undefined;
    if (method === 'notifications/cancelled') {
      const found = [...asked].find(([, a]) => a.peer === line.peer && a.id === params.requestId);
      if (found === undefined) return;
      asked.delete(found[0]);
      return tell(notificationOf(method, { ...params, requestId: found[0] }));
    }
    if (method === 'notifications/progress') {
      const owner = [...inFlight].find(([, call]) => call.progressToken === params.progressToken);
      // A token nobody gave, or whose call is over, goes nowhere.
      if (owner === undefined) return;
      line.peer.touch(owner[0]);
      return tell(notificationOf(method, params), owner[0]);
    }
    const unrelated = /list_changed$|resources\/updated$/.test(method);
    return tell(notificationOf(method, params), unrelated ? undefined : line.peer.current());
  };

  const factsOf = (server: string, method: string, name: string, params: JsonObject): McpFacts => ({
    caller: caller.name,
    server,
    method,
    name,
    arguments: isJsonObject(params.arguments) ? params.arguments : params,
    bytes: JSON.stringify(params).length,
  });

  /** The tools of a server as they are now, listed once and again after they changed. */
  const toolsOf = (line: Line): Promise<ReadonlyMap<string, ToolPin>> => {
    line.tools ??= gather(line.peer, 'tools/list', limits.call_timeout_seconds * 1000).then((entries) => {
      const pins = entries.map(pinOf).filter((pin) => pin !== undefined);
      ctx.pins.seen(line.peer.name, pins);
      return new Map(pins.map((pin) => [pin.name, pin]));
    });
    return line.tools;
  };

  const forward = async (
    line: Line,
    method: string,
    name: string,
    params: JsonObject,
    id: Id,
    call: InFlight,
  ): Promise<Reply> => {
    const pinned = line.pinning && method === 'tools/call';
    const tool = pinned ? (await toolsOf(line)).get(name) : undefined;
    let tick = 0;
    return govern(ctx, caller, history, {
      peer: line.peer,
      facts: factsOf(line.peer.name, method, name, params),
      params,
      tool,
      pinned,
      clientId: id,
      signal: call.stop.signal,
      waiting: (approvalId) => {
        if (call.progressToken === undefined) return;
        const message = `waiting for approval ${approvalId}`;
        const params = { progressToken: call.progressToken, progress: ++tick * 1e-6, message };
        void tell(notificationOf('notifications/progress', params), id).catch(() => undefined);
      },
    });
  };

  const initialize = async (params: JsonObject, id: Id, call: InFlight): Promise<Reply> => {
    if (lines.size > 0) return failure(RPC.invalidRequest, 'this session is initialized already');
    const results: { server: string; result: JsonObject }[] = [];
    let last: Reply = failure(RPC.serverGone, 'there is no server this caller may use');
    for (const entry of ctx.config.servers.filter((s) => anyMatches(caller.servers, s.name))) {
      try {
        const transport = await connectServer(entry, caller.name, {
          authority: ctx.deps.authority,
          env: ctx.deps.env,
          baseDir: ctx.deps.baseDir,
          maxBytes: limits.message_bytes,
        });
        const peer = await openPeer(entry.name, transport, {
          message: (message) => fromServer(entry.name, message),
          closed: () =>
            ctx.deps.log?.({ event: 'mcp.server_ended', server: entry.name, caller: caller.name }),
        });
        const line: Line = { peer, pinning: entry.pinning, capabilities: {}, tools: undefined };
        lines.set(entry.name, line);
        const reply = await forward(line, 'initialize', '', params, id, call);
        if (reply.ok) {
          line.capabilities = isJsonObject(reply.result.capabilities) ? reply.result.capabilities : {};
          if (typeof reply.result.protocolVersion === 'string')
            peer.setProtocolVersion(reply.result.protocolVersion);
          results.push({ server: entry.name, result: reply.result });
        } else {
          lines.delete(entry.name);
          await peer.close();
        }
        last = reply;
      } catch (error) {
        last = failure(
          RPC.serverGone,
          `the server ${entry.name} cannot be started: ${messageOf(error).slice(0, 200)}`,
        );
        ctx.deps.log?.({
          event: 'mcp.server_failed',
          server: entry.name,
          reason: messageOf(error).slice(0, 300),
        });
      }
      if (closed) await closeLines();
    }
    if (results.length === 0) return last;
    return ctx.prefixed ? { ok: true, result: mergeInitialize(results) } : last;
  };

  const list = async (method: ListMethod, params: JsonObject, id: Id, call: InFlight): Promise<Reply> => {
    const single = ctx.prefixed ? undefined : [...lines.values()][0];
    if (single !== undefined) {
      if (method === 'tools/list' && single.pinning) await toolsOf(single);
      const reply = await forward(single, method, '', params, id, call);
      if (!reply.ok) return reply;
      const entries = reply.result[LISTS[method]];
      if (!Array.isArray(entries)) return reply;
      return {
        ok: true,
        result: {
          ...reply.result,
          [LISTS[method]]: shown(method, single.peer.name, entries as Json[], caller, false),
        },
      };
    }
    const merged: Json[] = [];
    for (const line of lines.values()) {
      if (line.capabilities[CAPABILITY[method]] === undefined) continue;
      // Judged and recorded once a server; its further pages belong to the same request.
      const first = await forward(line, method, '', {}, id, call);
      if (!first.ok) continue;
      const rest = typeof first.result.nextCursor === 'string';
      const entries = rest
        ? await gather(line.peer, method, limits.call_timeout_seconds * 1000)
        : first.result[LISTS[method]];
      if (!Array.isArray(entries)) continue;
      for (const entry of entries as Json[])
        if (method.startsWith('resources/')) learn(entryName(method, entry), line.peer.name);
      merged.push(...shown(method, line.peer.name, entries as Json[], caller, true));
    }
    return { ok: true, result: { [LISTS[method]]: merged } };
  };

  /** The first server that lists a URI owns it; a template owns what starts like it. */
  const learn = (uri: string, server: string) => {
    if (owners.size < 10_000 && !owners.has(uri)) owners.set(uri, server);
  };
  const ownerOf = async (uri: string): Promise<Line | undefined> => {
    for (const known of [true, false]) {
      const server =
        owners.get(uri) ??
        [...owners].find(([t]) => t.includes('{') && uri.startsWith(t.slice(0, t.indexOf('{'))))?.[1];
      if (server !== undefined) return lines.get(server);
      if (known)
        for (const line of lines.values())
          for (const method of ['resources/list', 'resources/templates/list'] as const)
            if (line.capabilities.resources !== undefined)
              for (const entry of await gather(line.peer, method, limits.call_timeout_seconds * 1000))
                learn(entryName(method, entry), line.peer.name);
    }
    return undefined;
  };

  const handle = async (method: string, params: JsonObject, id: Id, call: InFlight): Promise<Reply> => {
    if (method === 'initialize') return initialize(params, id, call);
    if (lines.size === 0) return failure(RPC.invalidRequest, 'initialize first');
    if (isList(method)) return list(method, params, id, call);
    const ref = isJsonObject(params.ref) ? params.ref : {};
    const named = method === 'completion/complete' ? (ref.name ?? ref.uri) : (params.name ?? params.uri);
    const name = typeof named === 'string' ? named : '';
    const single = ctx.prefixed ? undefined : [...lines.values()][0];
    if (single !== undefined) return forward(single, method, name, params, id, call);
    switch (method) {
      case 'ping':
        return { ok: true, result: {} };
      case 'logging/setLevel': {
        const willing = [...lines.values()].filter((line) => line.capabilities.logging !== undefined);
        for (const line of willing) await forward(line, method, '', params, id, call);
        return { ok: true, result: {} };
      }
      case 'tools/call':
      case 'prompts/get': {
        const plain = unprefixed(name);
        const line = plain && lines.get(plain.server);
        if (!plain || !line) return failure(RPC.invalidParams, 'there is no tool or prompt of this name');
        return forward(line, method, plain.name, { ...params, name: plain.name }, id, call);
      }
      case 'completion/complete': {
        const plain = typeof ref.name === 'string' ? unprefixed(ref.name) : undefined;
        const line = plain ? lines.get(plain.server) : await ownerOf(name);
        if (!line) return failure(RPC.invalidParams, 'there is nothing of this name to complete');
        return forward(
          line,
          method,
          plain?.name ?? name,
          plain ? { ...params, ref: { ...ref, name: plain.name } } : params,
          id,
          call,
        );
      }
      case 'resources/read':
      case 'resources/subscribe':
      case 'resources/unsubscribe': {
        const line = await ownerOf(name);
        return line
          ? forward(line, method, name, params, id, call)
          : failure(RPC.resourceNotFound, 'no server has this resource');
      }
      default:
        return failure(RPC.methodNotFound, 'no such method');
    }
  };

  const clientRequest = async (id: Id, method: string, params: JsonObject): Promise<void> => {
    if (inFlight.has(id))
      return tell(errorOf(id, { code: RPC.invalidRequest, message: 'this id is in use' }), id);
    if (inFlight.size >= limits.calls_at_once)
      return tell(errorOf(id, { code: RPC.denied, message: 'too many calls at once' }), id);
    const call = { stop: new AbortController(), progressToken: metaOf(params).progressToken };
    inFlight.set(id, call);
    const reply = await handle(method, params, id, call).catch((error): Reply => {
      ctx.deps.log?.({ event: 'mcp.internal_error', reason: messageOf(error).slice(0, 300) });
      return failure(RPC.internal, 'the gateway could not judge or record this request');
    });
    inFlight.delete(id);
    await tell(reply.ok ? resultOf(id, reply.result) : errorOf(id, reply.error), id);
  };

  const clientNotification = async (method: string, params: JsonObject): Promise<void> => {
    if (method === 'notifications/cancelled') {
      const id = params.requestId;
      if (typeof id === 'string' || typeof id === 'number') inFlight.get(id)?.stop.abort();
      return;
    }
    const token = params.progressToken;
    const target =
      method === 'notifications/progress'
        ? [...asked.values()].find((a) => a.progressToken === token)?.peer
        : undefined;
    for (const { peer } of lines.values())
      if (target === undefined || target === peer) await peer.notify(method, params).catch(() => undefined);
  };

  const closeLines = async () => {
    await Promise.all([...lines.values()].map(({ peer }) => peer.close()));
  };
  const close = async () => {
    if (closed) return;
    closed = true;
    for (const { stop } of inFlight.values()) stop.abort();
    await closeLines();
  };

  client.onclose = () => void close();
  client.onerror = () => undefined;
  client.onmessage = (raw: unknown) => {
    const message = readMessage(raw);
    if (message === undefined) return;
    const work =
      message.kind === 'request'
        ? clientRequest(message.id, message.method, message.params)
        : message.kind === 'notification'
          ? clientNotification(message.method, message.params)
          : clientAnswer(message);
    work.catch((error) =>
      ctx.deps.log?.({ event: 'mcp.client_lost', reason: messageOf(error).slice(0, 300) }),
    );
  };
  const clientAnswer = async (message: Extract<Message, { kind: 'result' | 'error' }>): Promise<void> => {
    const question = asked.get(String(message.id));
    if (question === undefined) return;
    asked.delete(String(message.id));
    await question.peer.answer(
      message.kind === 'result' ? resultOf(question.id, message.result) : errorOf(question.id, message.error),
    );
  };
  await client.start();
  return { caller, close };
}

function metaOf(params: JsonObject): JsonObject {
  return isJsonObject(params._meta) ? params._meta : {};
}
