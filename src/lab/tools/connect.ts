/** A TCP connection as an application sees it: how it ends and how long that takes. */
import { findVm } from '../network/places.ts';
import type { Vm } from '../world/types.ts';
import { type Attempt, attempt, isOwnAddress, sampleRtt, type ToolContext } from './context.ts';

export type Connection =
  | {
      readonly kind: 'connected';
      readonly ms: number;
      readonly attempt: Attempt | null;
      readonly vm: Vm | undefined;
    }
  | { readonly kind: 'refused'; readonly ms: number }
  /** Nothing came back in `ms`. */
  | { readonly kind: 'timeout'; readonly ms: number };

/** Linux gives up after six SYNs. */
const PATIENCE_MS = 130_000;

export function connect(ctx: ToolContext, address: string, port: number, limitMs = PATIENCE_MS): Connection {
  if (isOwnAddress(ctx, address)) return toOneself(ctx, address, port);
  const a = attempt(ctx, address, 'tcp', port);
  const { outcome } = a.trace;
  if (outcome.kind === 'refused') return { kind: 'refused', ms: sampleRtt(ctx, a) };
  if (outcome.kind !== 'answered') return { kind: 'timeout', ms: limitMs };
  // Every lost SYN or SYN-ACK costs another, doubled, wait.
  let waited = 0;
  for (let backoff = 1000; ctx.random() * 100 < a.lossPct; backoff *= 2) {
    waited += backoff;
    if (waited >= Math.min(limitMs, PATIENCE_MS)) return { kind: 'timeout', ms: limitMs };
  }
  const ms = waited + sampleRtt(ctx, a);
  return ms > limitMs ? { kind: 'timeout', ms: limitMs } : { kind: 'connected', ms, attempt: a, vm: a.vm };
}

function toOneself(ctx: ToolContext, address: string, port: number): Connection {
  const vm = ctx.origin.kind === 'vm' ? findVm(ctx.world, ctx.origin.name) : undefined;
  const open = vm?.listens.some(
    (l) => l.protocol === 'tcp' && l.port === port && (l.bind === '0.0.0.0' || l.bind === address),
  );
  return open ? { kind: 'connected', ms: 0.1, attempt: null, vm } : { kind: 'refused', ms: 0.1 };
}

/** Bytes a server usually answers with: what the flows to it say, or a short page. */
export function usualReply(ctx: ToolContext, vm: Vm | undefined, port: number): number {
  const sizes = ctx.world.flows.filter((f) => f.to === vm?.name && f.port === port).map((f) => f.reply_bytes);
  return sizes.length === 0 ? 300 : Math.max(...sizes);
}

/** Milliseconds to move this many bytes; null when it never ends. */
export function transferMs(ctx: ToolContext, a: Attempt | null, bytes: number): number | null {
  if (a === null) return 0.2;
  // Full segments that do not fit and whose loss nobody reports are sent again for ever.
  if (bytes + 52 > a.mtu && a.mtu < 1500 && !a.fragNeededTold) return null;
  const segments = Math.max(1, Math.ceil(bytes / 1448));
  const rounds = Math.max(1, Math.ceil(Math.log2(segments / 10 + 1)));
  let ms = rounds * sampleRtt(ctx, a);
  if (a.rateMbit !== null) ms += (bytes * 8) / (a.rateMbit * 1000);
  for (let i = 0; i < Math.min(segments, 500); i++)
    if (ctx.random() * 100 < a.lossPct) ms += Math.max(200, a.rttMs * 1.5);
  return ms;
}
