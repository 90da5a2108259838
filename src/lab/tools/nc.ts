import { connect } from './connect.ts';
import { attempt, fail, isOwnAddress, type ToolContext, type ToolResult, target } from './context.ts';
import { toolOptions } from './options.ts';
import { unresolved } from './ping.ts';

const SERVICES: Readonly<Record<number, string>> = {
  22: 'ssh',
  25: 'smtp',
  53: 'domain',
  80: 'http',
  111: 'sunrpc',
  389: 'ldap',
  443: 'https',
  1433: 'ms-sql-s',
  2049: 'nfs',
  3306: 'mysql',
  3389: 'ms-wbt-server',
  5432: 'postgresql',
  5672: 'amqp',
  6379: 'redis',
  8080: 'http-alt',
};

export function nc(argv: readonly string[], ctx: ToolContext): ToolResult {
  const { flags, values, rest } = toolOptions(argv, ['w', 'p', 's', 'i', 'q', 'X', 'x']);
  const [host, ports] = rest;
  if (host === undefined || ports === undefined)
    return fail('usage: nc [-46CDdFhklNnrStUuvZz] [-w timeout] [destination] [port]\n', 1);
  const udp = flags.has('u');
  const to = target(ctx, host);
  if (to.address === null)
    return fail(`nc: getaddrinfo for host "${host}" port ${ports}: ${unresolved(to)}\n`, 1);
  const lines: string[] = [];
  let anyOpen = false;
  for (const port of portsOf(ports)) {
    const result = udp ? udpProbe(ctx, to.address, port) : tcpProbe(ctx, to.address, port, values.get('w'));
    anyOpen ||= result === null;
    const kind = udp ? 'udp' : 'tcp';
    if (result === null) {
      if (flags.has('v'))
        lines.push(`Connection to ${host} ${port} port [${kind}/${SERVICES[port] ?? '*'}] succeeded!`);
    } else if (flags.has('v') || !flags.has('z'))
      lines.push(`nc: connect to ${host} port ${port} (${kind}) ${result}`);
  }
  return { stdout: '', stderr: lines.map((l) => `${l}\n`).join(''), code: anyOpen ? 0 : 1 };
}

/** A port or a range; at most this many are tried. */
const MOST_PORTS = 1024;

function portsOf(text: string): readonly number[] {
  const [low, high] = text.split('-').map(Number) as [number, number | undefined];
  if (!Number.isInteger(low)) return [];
  const last = Math.min(high ?? low, low + MOST_PORTS - 1);
  return Array.from({ length: Math.max(0, last - low + 1) }, (_, i) => low + i);
}

/** Null when open, otherwise what the tool prints. */
function tcpProbe(ctx: ToolContext, address: string, port: number, wait: string | undefined): string | null {
  const limit = Number(wait) > 0 ? Number(wait) * 1000 : undefined;
  const c = connect(ctx, address, port, limit);
  switch (c.kind) {
    case 'connected':
      return null;
    case 'refused':
      return 'failed: Connection refused';
    case 'timeout':
      return limit === undefined ? 'failed: Connection timed out' : 'timed out: Operation now in progress';
  }
}

/** UDP says nothing when it works and nothing when it is dropped: only a refusal shows. */
function udpProbe(ctx: ToolContext, address: string, port: number): string | null {
  if (isOwnAddress(ctx, address)) return null;
  return attempt(ctx, address, 'udp', port).trace.outcome.kind === 'refused'
    ? 'failed: Connection refused'
    : null;
}
