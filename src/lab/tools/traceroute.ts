/** traceroute, tracepath and mtr: who on the path answers, and how fast. */
import { findVm } from '../network/places.ts';
import type { FlowProtocol } from '../world/types.ts';
import {
  type Attempt,
  attempt,
  fail,
  isLost,
  isOwnAddress,
  out,
  type ToolContext,
  type ToolResult,
  target,
} from './context.ts';
import { bounded, toolOptions } from './options.ts';
import { unresolved } from './ping.ts';

interface Hop {
  readonly address: string;
  readonly ms: number;
  readonly lossPct: number;
}

interface Route {
  readonly hops: readonly Hop[];
  readonly reached: boolean;
}

/** Home router and provider: what stands between the engineer's desk and the rest. */
const DOORSTEP: readonly Hop[] = [
  { address: '192.168.1.1', ms: 1.2, lossPct: 0 },
  { address: '203.0.113.1', ms: 6.8, lossPct: 0 },
];

function route(ctx: ToolContext, a: Attempt, address: string): Route {
  const request = a.trace.request;
  const outside =
    ctx.origin.kind !== 'vm' && !(ctx.world.local.vpn && request?.source.ip === ctx.world.local.address);
  const hops: Hop[] = outside ? [...DOORSTEP] : [];
  // Azure's own fabric does not decrement the TTL: only appliances show.
  const passed =
    request?.stations
      .filter((s) => s.kind === 'forward' && s.forwards)
      .map((s) => (s as { vm: string }).vm) ?? [];
  passed.forEach((vm, i) => {
    hops.push({
      address: findVm(ctx.world, vm)!.ip,
      ms: ((i + 1) * a.rttMs) / (passed.length + 1),
      lossPct: a.lossPct / 2,
    });
  });
  const { kind } = a.trace.outcome;
  const reached = kind === 'answered' || kind === 'refused';
  if (reached) hops.push({ address, ms: a.rttMs, lossPct: a.lossPct });
  return { hops, reached };
}

function probeKind(
  flags: ReadonlySet<string>,
  port: string | undefined,
): { protocol: FlowProtocol; port: number | null } {
  if (flags.has('I') || flags.has('icmp')) return { protocol: 'icmp', port: null };
  if (flags.has('T') || flags.has('tcp')) return { protocol: 'tcp', port: bounded(port, 80, 1, 65_535) };
  return { protocol: 'udp', port: bounded(port, 33_434, 1, 65_535) };
}

export function traceroute(argv: readonly string[], ctx: ToolContext): ToolResult {
  const options = toolOptions(argv, ['m', 'q', 'w', 'p', 'f', 'i', 's', 'max-hops', 'port']);
  const host = options.rest[0];
  if (host === undefined)
    return fail('Usage: traceroute [-nIT] [-m max_ttl] [-q nqueries] [-p port] host\n', 2);
  const to = target(ctx, host);
  if (to.address === null)
    return fail(
      `${host}: ${unresolved(to)}\nCannot handle "host" cmdline arg \`${host}' on position 1 (argc ${argv.length})\n`,
      2,
    );
  const kind = probeKind(options.flags, options.values.get('p') ?? options.values.get('port'));
  const most = bounded(options.values.get('m') ?? options.values.get('max-hops'), 30, 1, 64);
  const queries = bounded(options.values.get('q'), 3, 1, 10);
  const a = attempt(ctx, to.address, kind.protocol, kind.port);
  const found: Route = isOwnAddress(ctx, to.address)
    ? { hops: [{ address: to.address, ms: 0.05, lossPct: 0 }], reached: true }
    : route(ctx, a, to.address);
  const numeric = options.flags.has('n');
  const lines = [`traceroute to ${host} (${to.address}), ${most} hops max, 60 byte packets`];
  for (let ttl = 1; ttl <= most; ttl++) {
    const hop = found.hops[ttl - 1];
    if (!hop && found.reached) break;
    const probes = Array.from({ length: queries }, () =>
      hop && ctx.random() * 100 >= hop.lossPct ? `${(hop.ms + ctx.random() * 0.2).toFixed(3)} ms` : '*',
    );
    const shown =
      hop && probes.some((p) => p !== '*')
        ? `${numeric ? hop.address : `${hop.address} (${hop.address})`}  `
        : '';
    lines.push(`${String(ttl).padStart(2)}  ${shown}${probes.join(shown === '' ? ' ' : '  ')}`);
  }
  return out(`${lines.join('\n')}\n`);
}

export function tracepath(argv: readonly string[], ctx: ToolContext): ToolResult {
  const options = toolOptions(argv, ['m', 'l', 'p']);
  const host = options.rest[0];
  if (host === undefined) return fail('Usage: tracepath [options] <destination>\n', 1);
  const to = target(ctx, host);
  if (to.address === null) return fail(`tracepath: ${host}: ${unresolved(to)}\n`, 1);
  const a = attempt(ctx, to.address, 'udp', 44_444);
  const found = route(ctx, a, to.address);
  const told = a.mtu < 1500 && a.fragNeededTold;
  const lines = [' 1?: [LOCALHOST]                      pmtu 1500'];
  found.hops.forEach((hop, i) => {
    const last = found.reached && i === found.hops.length - 1;
    // A full-sized probe that nobody reports on is simply gone.
    if (a.mtu < 1500 && !told) lines.push(`${String(i + 1).padStart(2)}:  no reply`);
    else {
      if (told && last)
        lines.push(
          `${String(i + 1).padStart(2)}:  ${hop.address.padEnd(48)} ${hop.ms.toFixed(3)}ms pmtu ${a.mtu}`,
        );
      lines.push(
        `${String(i + 1).padStart(2)}:  ${hop.address.padEnd(48)} ${hop.ms.toFixed(3)}ms${last ? ' reached' : ''}`,
      );
    }
  });
  const silent = !found.reached || (a.mtu < 1500 && !told);
  if (silent)
    for (let ttl = found.hops.length + 1; ttl <= 30; ttl++)
      lines.push(`${String(ttl).padStart(2)}:  no reply`);
  const end = silent
    ? '     Too many hops: pmtu 1500\n     Resume: pmtu 1500 '
    : `     Resume: pmtu ${told ? a.mtu : 1500} hops ${found.hops.length} back ${found.hops.length} `;
  return out(`${lines.join('\n')}\n${end}\n`);
}

export function mtr(argv: readonly string[], ctx: ToolContext, hostname: string): ToolResult {
  const options = toolOptions(argv, [
    'c',
    'i',
    'm',
    'P',
    's',
    'f',
    'a',
    'G',
    'report-cycles',
    'port',
    'max-ttl',
    'interval',
    'psize',
  ]);
  const host = options.rest[0];
  if (host === undefined) return fail('mtr: no host given\n', 1);
  const to = target(ctx, host);
  if (to.address === null) return fail(`mtr: Failed to resolve host: ${host}: ${unresolved(to)}\n`, 1);
  const count = bounded(options.values.get('c') ?? options.values.get('report-cycles'), 10, 1, 1000);
  const tcp = options.flags.has('T') || options.flags.has('tcp');
  const udp = options.flags.has('u') || options.flags.has('udp');
  const port = bounded(options.values.get('P') ?? options.values.get('port'), tcp ? 80 : 33_434, 1, 65_535);
  const a = attempt(ctx, to.address, tcp ? 'tcp' : udp ? 'udp' : 'icmp', tcp || udp ? port : null);
  const found = route(ctx, a, to.address);
  const rows = found.hops.map((hop) => statistics(ctx, a, hop, count));
  if (!found.reached) rows.push({ address: '???', loss: 100, sent: count, times: [] });
  const lines = rows.map((row, i) => {
    const [last, mean, best, worst, deviation] = numbers(row.times);
    const cells = [last, mean, best, worst, deviation].map((n) => n!.toFixed(1).padStart(6)).join('');
    return `${String(i + 1).padStart(3)}.|-- ${row.address.padEnd(26)} ${row.loss.toFixed(1).padStart(5)}% ${String(row.sent).padStart(5)} ${cells}`;
  });
  const head = `Start: ${new Date(ctx.now).toISOString().slice(0, 19)}+0000\nHOST: ${hostname.padEnd(27)} Loss%   Snt   Last   Avg  Best  Wrst StDev\n`;
  return out(`${head}${lines.join('\n')}\n`);
}

function statistics(ctx: ToolContext, a: Attempt, hop: Hop, count: number) {
  const times: number[] = [];
  for (let i = 0; i < count; i++)
    if (!isLost(ctx, { ...a, lossPct: hop.lossPct }))
      times.push(Math.max(0.1, hop.ms + (ctx.random() * 2 - 1) * a.jitterMs + ctx.random() * 0.3));
  return { address: hop.address, loss: (1 - times.length / count) * 100, sent: count, times };
}

function numbers(times: readonly number[]): readonly number[] {
  if (times.length === 0) return [0, 0, 0, 0, 0];
  const mean = times.reduce((a, b) => a + b, 0) / times.length;
  const deviation = Math.sqrt(times.reduce((sum, t) => sum + (t - mean) ** 2, 0) / times.length);
  return [times.at(-1)!, mean, Math.min(...times), Math.max(...times), deviation];
}
