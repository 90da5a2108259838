import { isJsonObject, type JsonObject, messageOf } from '../../core/index.ts';
import type { ServerEntry } from './config.ts';
import { connectServer } from './connect.ts';
import type { McpCaller, McpContext } from './context.ts';
import { gather } from './listing.ts';
import { failure, type Id, type Params, type Reply, RPC } from './message.ts';
import { type FromServer, openPeer, type Peer } from './peer.ts';
import { pinOf, type SeenTool } from './pins.ts';

/**
 * One configured server in one session, over all the connections it takes.
 *
 * SL1 A server that ended is started again after a pause that grows, a limited number of times in a while,
 *     and greeted with what the client said when it began. Calls that were open have failed; nothing is
 *     sent twice.
 * SL2 What the client set up (log level, subscriptions) is set up again, and the client is told that the
 *     lists may have changed.
 * SL3 The tools are listed by us before the first call, so that every call can be held against its pin.
 */
export interface ServerLine {
  readonly name: string;
  readonly pinning: boolean;
  readonly capabilities: JsonObject;
  /** Connects and greets. */
  start(): Promise<Reply>;
  /** Keeps trying in the background, for a server that could not be started at first. */
  revive(): void;
  /** The connection, or the one that comes in a moment; undefined when there is none. */
  peer(): Promise<Peer | undefined>;
  /** The connection as it is, for what must not wait. */
  readonly now: Peer | undefined;
  /** The tool of this name as the server lists it now. */
  tool(name: string): Promise<SeenTool | undefined>;
  /** Takes a listing that passed by, and forgets the last one when the server says it changed. */
  learn(entries: readonly unknown[]): void;
  forget(): void;
  /** Remembers what a restarted server must hear again. */
  remember(method: string, params: Params): void;
  close(): Promise<void>;
}

export interface LineEvents {
  message(line: ServerLine, peer: Peer, message: FromServer, related: Id | undefined): Promise<void>;
  /** Sends `initialize` as the client did, judged and recorded like every request. */
  greet(line: ServerLine, peer: Peer): Promise<Reply>;
  restarted(line: ServerLine): void;
}

const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 30_000;
const RESTART_WINDOW_MS = 5 * 60_000;
/** How long a call waits for a server that is being started again. */
const PATIENCE_MS = 10_000;
const MAX_SUBSCRIPTIONS = 1000;

export function serverLine(
  ctx: McpContext,
  caller: McpCaller,
  entry: ServerEntry,
  on: LineEvents,
): ServerLine {
  const { limits } = ctx.config;
  const { clock, log } = ctx.deps;
  const { name } = entry;
  const over = new AbortController();
  let current: Peer | undefined;
  let capabilities: JsonObject = {};
  let tools: Promise<Map<string, SeenTool>> | undefined;
  let reviving: Promise<void> | undefined;
  let attempts: number[] = [];
  const setUp = new Map<string, { readonly method: string; readonly params: Params }>();

  const start = async (): Promise<Reply> => {
    let peer: Peer;
    try {
      const { authority, env, baseDir } = ctx.deps;
      const reach = { authority, env, baseDir, maxBytes: limits.message_bytes };
      const opened = await openPeer(name, await connectServer(entry, caller.name, reach), {
        message: (message, related) => on.message(line, opened, message, related),
        closed: () => lost(opened),
      });
      peer = opened;
    } catch (error) {
      const reason = messageOf(error).slice(0, 200);
      log?.({ event: 'mcp.server_failed', server: name, reason });
      return failure(RPC.serverGone, `the server ${name} cannot be started: ${reason}`);
    }
    const reply = over.signal.aborted
      ? failure(RPC.serverGone, 'the session has ended')
      : await on.greet(line, peer);
    if (!reply.ok || !peer.alive || over.signal.aborted) {
      await peer.close();
      return reply.ok ? failure(RPC.serverGone, `the server ${name} has ended`) : reply;
    }
    capabilities = isJsonObject(reply.result.capabilities) ? reply.result.capabilities : {};
    if (typeof reply.result.protocolVersion === 'string')
      peer.setProtocolVersion(reply.result.protocolVersion);
    current = peer;
    return reply;
  };

  const lost = (peer: Peer): void => {
    // One that never was greeted is told of by `start`.
    if (peer !== current) return;
    current = undefined;
    tools = undefined;
    if (over.signal.aborted) return;
    log?.({ event: 'mcp.server_ended', server: name, caller: caller.name });
    ctx.metrics.count('server_ends_total', { server: name });
    revive();
  };

  const revive = (): void => {
    reviving ??= tryAgain()
      .catch((error) =>
        log?.({ event: 'mcp.restart_failed', server: name, reason: messageOf(error).slice(0, 300) }),
      )
      .finally(() => {
        reviving = undefined;
      });
  };

  const tryAgain = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const since = clock.monotonic() - RESTART_WINDOW_MS;
      attempts = attempts.filter((at) => at > since);
      if (attempts.length >= limits.server_restarts) {
        log?.({ event: 'mcp.server_given_up', server: name, attempts: attempts.length });
        return;
      }
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** attempts.length, MAX_PAUSE_MS);
      attempts.push(clock.monotonic());
      await clock.sleep(pause, over.signal).catch(() => undefined);
      if (over.signal.aborted || !(await start()).ok) continue;
      log?.({ event: 'mcp.server_restarted', server: name, caller: caller.name });
      ctx.metrics.count('server_restarts_total', { server: name });
      for (const { method, params } of setUp.values()) await again(method, params);
      on.restarted(line);
      return;
    }
  };

  /** The client's own words, allowed when it said them; its pending requests are not among them. */
  const again = async (method: string, params: Params): Promise<void> => {
    if (method.startsWith('notifications/')) await current?.notify(method, params).catch(() => undefined);
    else await current?.request(method, params, { timeoutMs: limits.start_timeout_seconds * 1000 });
  };

  const list = async (): Promise<Map<string, SeenTool>> => {
    const options = { timeoutMs: limits.start_timeout_seconds * 1000 };
    const entries = current && (await gather(current, 'tools/list', options));
    // A list that could not be had pins nothing and is asked for again.
    if (entries === undefined) tools = undefined;
    return new Map(take(entries ?? []).map((tool) => [tool.name, tool]));
  };

  const take = (entries: readonly unknown[]): readonly SeenTool[] => {
    if (entries.length === 0) return [];
    const pins = entries.map(pinOf).filter((pin) => pin !== undefined);
    return ctx.pins.seen(name, pins, (tool) => {
      log?.({ event: 'mcp.tool_changed', server: name, standing: tool.standing });
      ctx.metrics.count('tool_changes_total', { server: name });
      ctx.outcomes.note(() =>
        ctx.deps.journal.append(
          {
            type: 'mcp.tool_changed',
            server: name,
            name: tool.name.slice(0, 500).toWellFormed(),
            standing: tool.standing,
            tool_digest: tool.digest,
          },
          'soon',
        ),
      );
    });
  };

  const line: ServerLine = {
    name,
    pinning: entry.pinning,
    get capabilities() {
      return capabilities;
    },
    get now() {
      return current;
    },
    start,
    revive,
    peer: async () => {
      if (current !== undefined || over.signal.aborted) return current;
      revive();
      await Promise.race([reviving, clock.sleep(PATIENCE_MS, over.signal).catch(() => undefined)]);
      return current;
    },
    tool: async (wanted) => {
      tools ??= list();
      return (await tools).get(wanted);
    },
    learn: (entries) => {
      void tools?.then((known) => {
        for (const tool of take(entries)) known.set(tool.name, tool);
      });
    },
    forget: () => {
      tools = undefined;
    },
    remember: (method, params) => {
      const uri = isJsonObject(params) ? params.uri : undefined;
      if (method === 'resources/unsubscribe') setUp.delete(`resources/subscribe ${uri}`);
      else if (setUp.size < MAX_SUBSCRIPTIONS)
        setUp.set(method === 'resources/subscribe' ? `${method} ${uri}` : method, { method, params });
    },
    close: async () => {
      over.abort();
      await current?.close();
    },
  };
  return line;
}
