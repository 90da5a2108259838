/** Windows guests: the handful of cmdlets a network diagnosis starts with. */
import { resolve } from '../network/dns.ts';
import { connect } from '../tools/connect.ts';
import { attempt, fail, out, type ToolResult, target } from '../tools/context.ts';
import type { Machine } from './machine.ts';
import { pidOf } from './sockets.ts';

const MAX_LINES = 200;

export function runPowerShell(script: string, machine: Machine): ToolResult {
  const lines = script
    .split(/[;\n]/)
    .map((l) => l.trim())
    .filter((l) => l !== '')
    .slice(0, MAX_LINES);
  const results = lines.map((line) => cmdlet(line, machine));
  return {
    stdout: results.map((r) => r.stdout).join(''),
    stderr: results.map((r) => r.stderr).join(''),
    code: results.at(-1)?.code ?? 0,
  };
}

function parameter(line: string, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = new RegExp(`-${name}\\s+["']?([^\\s"']+)`, 'i').exec(line)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

function cmdlet(line: string, machine: Machine): ToolResult {
  const name = line.split(/\s+/)[0]!.toLowerCase();
  const first = line.split(/\s+/)[1]?.replace(/["']/g, '');
  switch (name) {
    case 'test-netconnection':
    case 'tnc':
      return testConnection(
        machine,
        parameter(line, 'ComputerName', 'cn') ?? first ?? '',
        parameter(line, 'Port'),
      );
    case 'resolve-dnsname':
    case 'nslookup':
      return resolveName(machine, parameter(line, 'Name') ?? first ?? '');
    case 'get-nettcpconnection':
    case 'netstat':
      return listeners(machine);
    case 'hostname':
      return out(`${machine.name}\r\n`);
    case 'ipconfig':
      return out(
        `Windows IP Configuration\r\n\r\nEthernet adapter Ethernet:\r\n   IPv4 Address. . . . . . . . . . . : ${machine.vm.ip}\r\n`,
      );
    default:
      return fail(
        `${line.split(/\s+/)[0]} : The term '${line.split(/\s+/)[0]}' is not recognized as the name of a cmdlet, function, script file, or operable program.\r\n`,
        1,
      );
  }
}

function testConnection(machine: Machine, host: string, port: string | undefined): ToolResult {
  const ctx = machine.tools();
  const to = target(ctx, host);
  if (to.address === null)
    return out(
      `WARNING: Name resolution of ${host} failed\r\nComputerName     : ${host}\r\nPingSucceeded    : False\r\n`,
    );
  const head = `ComputerName     : ${host}\r\nRemoteAddress    : ${to.address}\r\n`;
  const pings = attempt(ctx, to.address, 'icmp', null).trace.outcome.kind === 'answered';
  if (port === undefined)
    return out(
      `${head}SourceAddress    : ${machine.vm.ip}\r\nPingSucceeded    : ${pings ? 'True' : 'False'}\r\n`,
    );
  const ok = connect(ctx, to.address, Number(port)).kind === 'connected';
  return out(
    `${ok ? '' : `WARNING: TCP connect to (${to.address} : ${port}) failed\r\n`}${head}RemotePort       : ${port}\r\nSourceAddress    : ${machine.vm.ip}\r\nTcpTestSucceeded : ${ok ? 'True' : 'False'}\r\n`,
  );
}

function resolveName(machine: Machine, name: string): ToolResult {
  const found = resolve(machine.world, { kind: 'vm', name: machine.name }, name);
  if (found.address === null) return fail(`Resolve-DnsName : ${name} : DNS name does not exist\r\n`, 1);
  return out(
    `Name                                           Type   TTL   Section    IPAddress\r\n----                                           ----   ---   -------    ---------\r\n${name.padEnd(46)} A      60    Answer     ${found.address}\r\n`,
  );
}

function listeners(machine: Machine): ToolResult {
  const rows = machine.vm.listens.map(
    (l) =>
      `${l.bind.padEnd(20)} ${String(l.port).padEnd(9)} 0.0.0.0              0          Listen      ${pidOf(machine, l.process)}`,
  );
  return out(
    `LocalAddress         LocalPort RemoteAddress        RemotePort State       OwningProcess\r\n------------         --------- -------------        ---------- -----       -------------\r\n${rows.join('\r\n')}\r\n`,
  );
}
