import { shown } from '../shown.ts';
import type { McpContext } from './context.ts';
import { metaOf } from './facts.ts';
import { type Params, type Reply, RPC } from './message.ts';
import { nameOf } from './router.ts';

/** Methods that may be a label; whatever else a client makes up is `other`. */
const METHODS = new Set([
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'completion/complete',
  'logging/setLevel',
]);

/**
 * A client's request with a span, a line in the log and its time around it. The span's place in the trace is
 * passed on to the server in `_meta`, as the client's own would be. The answer goes out first; what is told of
 * it follows.
 */
export async function observed(
  ctx: McpContext,
  caller: string,
  method: string,
  params: Params,
  work: (params: Params) => Promise<Reply>,
): Promise<Reply> {
  const { clock } = ctx.deps;
  const started = clock.monotonic();
  const known = METHODS.has(method) || method.startsWith('tasks/') ? method : 'other';
  const name = nameOf(method, params ?? {});
  const span = await ctx.telemetry.start(`${known} ${name}`.trim(), metaOf(params), {
    'mcp.method.name': known,
    'writ.caller': caller,
    ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name } : {}),
  });
  const carried = Object.keys(span.carry).length === 0;
  const reply = await work(carried ? params : { ...params, _meta: { ...metaOf(params), ...span.carry } });
  const ms = clock.monotonic() - started;
  setImmediate(() => {
    const outcome = outcomeOf(reply);
    span.set({ 'writ.outcome': outcome });
    span.end(outcome === 'done' ? undefined : outcome);
    ctx.metrics.observe('request_seconds', ms / 1000, { method: known, outcome });
    if (ctx.config.log === 'requests' || (ctx.config.log === 'failures' && outcome !== 'done'))
      ctx.deps.log?.({
        event: 'mcp.request',
        caller,
        method: known === 'other' ? shown(method, 100) : known,
        ...(name === '' ? {} : { name: shown(name) }),
        outcome,
        ...(reply.ok ? {} : { code: reply.error.code }),
        ms: Math.round(ms * 1000) / 1000,
      });
  });
  return reply;
}

function outcomeOf(reply: Reply): 'done' | 'tool_error' | 'waiting' | 'denied' | 'failed' {
  if (!reply.ok) return reply.error.code === RPC.denied ? 'denied' : 'failed';
  if (reply.result.isError !== true) return 'done';
  return metaOf(reply.result)['writ/approval_id'] === undefined ? 'tool_error' : 'waiting';
}
