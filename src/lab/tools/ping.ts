import { findVm } from '../network/places.ts';
import {
  type Attempt,
  attempt,
  fail,
  isLost,
  isOwnAddress,
  out,
  sampleRtt,
  type Target,
  type ToolContext,
  type ToolResult,
  target,
} from './context.ts';
import { bounded, toolOptions } from './options.ts';

const OS_MTU = 1500;
/** Without -c a real ping runs until it is stopped; here it stops after this many. */
const DEFAULT_COUNT = 10;

export function ping(argv: readonly string[], ctx: ToolContext): ToolResult {
  const options = toolOptions(argv, ['c', 'i', 'W', 'w', 's', 'M', 'I', 't', 'l', 'p', 'Q', 'S', 'm']);
  const host = options.rest[0];
  if (host === undefined) return fail('ping: usage error: Destination address required\n', 1);
  const to = target(ctx, host);
  if (to.address === null) return fail(`ping: ${host}: ${unresolved(to)}\n`, 2);
  const count = bounded(
    options.values.get('c'),
    bounded(options.values.get('w'), DEFAULT_COUNT, 1, 60),
    1,
    1000,
  );
  const size = bounded(options.values.get('s'), 56, 0, 65_507);
  const interval = bounded(options.values.get('i'), 1, 0.002, 60);
  const dontFragment = options.values.get('M') === 'do';
  const header = `PING ${to.shown} (${to.address}) ${size}(${size + 28}) bytes of data.\n`;
  const lines: string[] = [];
  const times: number[] = [];
  let errors = 0;
  const local = isOwnAddress(ctx, to.address);
  const a = local ? undefined : attempt(ctx, to.address, 'icmp', null);
  for (let seq = 1; seq <= count; seq++) {
    const reply = a
      ? echo(ctx, a, to, size, dontFragment)
      : { kind: 'answer' as const, ms: 0.03 + ctx.random() * 0.03 };
    if (reply.kind === 'answer') {
      times.push(reply.ms);
      lines.push(
        `${size + 8} bytes from ${to.address}: icmp_seq=${seq} ttl=${ttl(a)} time=${milliseconds(reply.ms)} ms`,
      );
    } else if (reply.kind === 'error') {
      errors++;
      lines.push(reply.text(seq));
    }
  }
  const body = options.flags.has('q') ? '' : lines.map((line) => `${line}\n`).join('');
  return out(
    `${header}${body}\n${summary(to.shown, count, times, errors, interval)}`,
    times.length > 0 ? 0 : 1,
  );
}

type Echo =
  | { readonly kind: 'answer'; readonly ms: number }
  | { readonly kind: 'silence' }
  | { readonly kind: 'error'; readonly text: (seq: number) => string };

function echo(ctx: ToolContext, a: Attempt, to: Target, size: number, dontFragment: boolean): Echo {
  if (dontFragment && size + 28 > OS_MTU)
    return { kind: 'error', text: () => `ping: local error: message too long, mtu=${OS_MTU}` };
  const { outcome, request } = a.trace;
  if (outcome.kind === 'refused') {
    const end = request?.end;
    const by = end?.kind === 'rejected' ? end.by.ip : to.address;
    if (by === request?.source.ip)
      return { kind: 'error', text: () => 'ping: sendmsg: Operation not permitted' };
    return { kind: 'error', text: (seq) => `From ${by} icmp_seq=${seq} Destination Port Unreachable` };
  }
  const denied =
    request?.end.kind === 'dropped' && request.end.reason === 'os_firewall' && request.stations.length === 1;
  if (denied) return { kind: 'error', text: () => 'ping: sendmsg: Operation not permitted' };
  if (outcome.kind !== 'answered' || isLost(ctx, a)) return { kind: 'silence' };
  if (Math.min(size + 28, OS_MTU) > a.mtu) {
    if (!a.fragNeededTold) return { kind: 'silence' };
    const by = a.mtuAt === null ? to.address : (findVm(ctx.world, a.mtuAt)?.ip ?? to.address);
    if (dontFragment)
      return {
        kind: 'error',
        text: (seq) => `From ${by} icmp_seq=${seq} Frag needed and DF set (mtu = ${a.mtu})`,
      };
  }
  return { kind: 'answer', ms: sampleRtt(ctx, a) };
}

function ttl(a: Attempt | undefined): number {
  const hops = a?.trace.reply?.stations.filter((s) => s.kind === 'forward').length ?? 0;
  const far = a?.trace.request?.destination.kind === 'internet' ? 11 : 0;
  return 64 - hops - far;
}

function summary(
  shown: string,
  sent: number,
  times: readonly number[],
  errors: number,
  interval: number,
): string {
  const lost = Math.round((1 - times.length / sent) * 1e6) / 1e4;
  const percent = Number.isInteger(lost) ? String(lost) : lost.toFixed(4).replace(/0+$/, '');
  const took = Math.round((sent - 1) * interval * 1000 + (times.at(-1) ?? 3));
  const head = `--- ${shown} ping statistics ---\n${sent} packets transmitted, ${times.length} received,${errors > 0 ? ` +${errors} errors,` : ''} ${percent}% packet loss, time ${took}ms\n`;
  if (times.length === 0) return `${head}\n`;
  const mean = times.reduce((a, b) => a + b, 0) / times.length;
  const mdev = Math.sqrt(times.reduce((sum, t) => sum + (t - mean) ** 2, 0) / times.length);
  const numbers = [Math.min(...times), mean, Math.max(...times), mdev].map((n) => n.toFixed(3)).join('/');
  return `${head}rtt min/avg/max/mdev = ${numbers} ms\n`;
}

function milliseconds(ms: number): string {
  return ms >= 100 ? ms.toFixed(0) : ms >= 10 ? ms.toFixed(1) : ms >= 1 ? ms.toFixed(2) : ms.toFixed(3);
}

/** What the C library says about a name it could not turn into an address. */
export function unresolved(to: Target): string {
  switch (to.resolution?.status) {
    case 'TIMEOUT':
    case 'SERVFAIL':
      return 'Temporary failure in name resolution';
    case 'NOERROR':
      return 'No address associated with hostname';
    default:
      return 'Name or service not known';
  }
}
