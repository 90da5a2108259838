import { type Json, sha256 } from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import type { McpCaller, McpContext } from './context.ts';
import { factsOf, metaOf } from './facts.ts';
import { errorOf, type Id, type Message, notificationOf, RPC, requestOf, resultOf } from './message.ts';
import type { FromServer, Peer } from './peer.ts';
import { type History, judgeByRules } from './rules.ts';
import type { ServerLine } from './server-line.ts';

/**
 * What servers say to the client: notifications pass, requests are judged, recorded and put to it.
 *
 * B1 A question gets an id of ours, so that the answer goes back to the server that asked, once.
 * B2 A progress notification goes to the call whose token it carries, and nowhere if there is none.
 * B3 What a caller may not use it does not hear of.
 */
export interface ClientSide {
  fromServer(line: ServerLine, peer: Peer, message: FromServer, related: Id | undefined): Promise<void>;
  /** The client's answer to a server's question. */
  answered(message: Extract<Message, { kind: 'result' | 'error' }>): Promise<void>;
  /** The server whose question carries this progress token. */
  askedWith(progressToken: Json | undefined): Peer | undefined;
}

export interface ClientSideDeps {
  readonly ctx: McpContext;
  readonly caller: McpCaller;
  readonly history: History;
  tell(message: Parameters<Peer['answer']>[0], related?: Id): Promise<void>;
  /** The client's open request that carries this progress token. */
  callWith(progressToken: Json | undefined): Id | undefined;
}

interface Question {
  readonly peer: Peer;
  readonly server: string;
  readonly id: Id;
  readonly progressToken: Json | undefined;
}

export function clientSide(deps: ClientSideDeps): ClientSide {
  const { ctx, caller, history, tell } = deps;
  const asked = new Map<string, Question>();
  let next = 0;

  const question = async (
    line: ServerLine,
    peer: Peer,
    message: Extract<FromServer, { kind: 'request' }>,
    related: Id | undefined,
  ): Promise<void> => {
    const facts = factsOf(caller.name, line.name, message.method, '', message.params);
    const said = judgeByRules(ctx.rules, 'allow', facts, history);
    await ctx.deps.journal.append({
      type: 'mcp.server_request',
      caller: caller.name,
      server: line.name,
      method: message.method.slice(0, 200).toWellFormed(),
      verdict: said.verdict,
      rule: said.rule,
      params_sha256: sha256(JSON.stringify(message.params ?? {})),
    });
    ctx.metrics.count('server_requests_total', { server: line.name, verdict: said.verdict });
    const full = asked.size >= ctx.config.limits.calls_at_once;
    if (said.verdict === 'deny' || said.verdict === 'require_approval' || full) {
      const reason = full ? 'too many questions at once' : said.reason;
      return peer.answer(errorOf(message.id, { code: RPC.denied, message: `denied: ${reason}` }));
    }
    const id = `writ-${++next}`;
    const { progressToken } = metaOf(message.params);
    asked.set(id, { peer, server: line.name, id: message.id, progressToken });
    await tell(requestOf(id, message.method, message.params), related);
  };

  const notification = async (
    line: ServerLine,
    { method, params = {} }: FromServer,
    given: FromServer['params'],
    related: Id | undefined,
  ): Promise<void> => {
    switch (method) {
      case 'notifications/tools/list_changed':
        line.forget();
        return tell(notificationOf(method, given));
      case 'notifications/cancelled': {
        const found = [...asked].find(([, a]) => a.server === line.name && a.id === params.requestId);
        if (found === undefined) return;
        asked.delete(found[0]);
        return tell(notificationOf(method, { ...params, requestId: found[0] }), related);
      }
      case 'notifications/progress': {
        const owner = deps.callWith(params.progressToken);
        if (owner === undefined) return;
        line.now?.touch(owner);
        return tell(notificationOf(method, given), owner);
      }
      case 'notifications/resources/updated':
        if (typeof params.uri === 'string' && !anyMatches(caller.names, params.uri)) return;
        return tell(notificationOf(method, given));
      case 'notifications/prompts/list_changed':
      case 'notifications/resources/list_changed':
        return tell(notificationOf(method, given));
      default:
        return tell(notificationOf(method, given), related);
    }
  };

  return {
    fromServer: (line, peer, message, related) =>
      message.kind === 'request'
        ? question(line, peer, message, related)
        : notification(line, message, message.params, related),
    answered: async (message) => {
      const open = asked.get(String(message.id));
      if (open === undefined) return;
      asked.delete(String(message.id));
      const given = message.kind === 'result' ? message.result : message.error;
      const record = {
        type: 'mcp.client_answer',
        caller: caller.name,
        server: open.server,
        outcome: message.kind === 'result' ? 'done' : 'failed',
        response_sha256: sha256(JSON.stringify(given)),
      };
      ctx.outcomes.note(() => ctx.deps.journal.append(record, 'soon'));
      await open.peer.answer(
        message.kind === 'result' ? resultOf(open.id, message.result) : errorOf(open.id, message.error),
      );
    },
    askedWith: (progressToken) =>
      progressToken === undefined
        ? undefined
        : [...asked.values()].find((a) => a.progressToken === progressToken)?.peer,
  };
}
