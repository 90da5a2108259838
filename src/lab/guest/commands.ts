/** Every command the emulated guest knows. */
import { connect } from '../tools/connect.ts';
import { fail, out, target } from '../tools/context.ts';
import { curl } from '../tools/curl.ts';
import { dig, host, nslookup } from '../tools/dns-tools.ts';
import { nc } from '../tools/nc.ts';
import { bounded, toolOptions } from '../tools/options.ts';
import { ping, unresolved } from '../tools/ping.ts';
import { mtr, tracepath, traceroute } from '../tools/traceroute.ts';
import { firewallCommands } from './firewall.ts';
import { interfaceCommands } from './interfaces.ts';
import type { GuestCommand, GuestCommands } from './machine.ts';
import { socketCommands } from './sockets.ts';
import { systemCommands } from './system.ts';
import { textCommands } from './text.ts';

/** Without a limit of its own a probe into silence waits for minutes. */
const probe: GuestCommand = (argv, machine) => {
  const ctx = machine.tools();
  const waited = /failed: Connection timed out/.test(nc([...argv, '-v'], ctx).stderr);
  return { ...nc(argv, machine.tools()), waited };
};

const web: GuestCommand = (argv, machine) => {
  const result = curl(argv, machine.tools());
  const limited = argv.some((w) => /^(-[a-zA-Z]*m$|--max-time|--connect-timeout)/.test(w));
  return { ...result, waited: result.code === 28 && !limited };
};

/** wget speaks through curl's voice: same trip, other words. */
const wget: GuestCommand = (argv, machine) => {
  const { values, rest } = toolOptions(argv, ['T', 't', 'O', 'timeout', 'tries', 'o']);
  const url = rest[0];
  if (url === undefined) return fail('wget: missing URL\n', 1);
  const seconds = bounded(values.get('T') ?? values.get('timeout'), 60, 1, 900);
  const page = curl(['-sS', '-m', String(seconds), url], machine.tools());
  if (page.code === 0) return values.get('O') === '-' ? page : out('');
  if (page.code === 6) return fail(`wget: unable to resolve host address '${url}'\n`, 4);
  return fail(`${page.code === 7 ? 'failed: Connection refused.' : 'failed: Connection timed out.'}\n`, 4);
};

const telnet: GuestCommand = (argv, machine) => {
  const [name, port = '23'] = argv;
  if (name === undefined) return fail('telnet: missing host\n', 1);
  const ctx = machine.tools();
  const to = target(ctx, name);
  if (to.address === null) return fail(`telnet: could not resolve ${name}/${port}: ${unresolved(to)}\n`, 1);
  const c = connect(ctx, to.address, Number(port));
  const trying = `Trying ${to.address}...\n`;
  if (c.kind === 'connected')
    return out(
      `${trying}Connected to ${name}.\nEscape character is '^]'.\nConnection closed by foreign host.\n`,
    );
  const why = c.kind === 'refused' ? 'Connection refused' : 'Connection timed out';
  return {
    stdout: trying,
    stderr: `telnet: Unable to connect to remote host: ${why}\n`,
    code: 1,
    waited: c.kind === 'timeout',
  };
};

const openssl: GuestCommand = (argv, machine) => {
  const at = argv.indexOf('-connect');
  const [name, port = '443'] = (argv[at + 1] ?? '').split(':');
  if (argv[0] !== 's_client' || at < 0 || !name)
    return fail('openssl: only s_client -connect host:port is available here\n', 1);
  const page = curl(['-sS', '-m', '10', `https://${name}:${port}/`], machine.tools());
  if (page.code === 0)
    return out(
      'CONNECTED(00000003)\n---\nSSL handshake has read 3612 bytes and written 401 bytes\nVerification: OK\n---\n',
    );
  if (page.code === 6) return fail(`connect:errno=0: unable to resolve ${name}\n`, 1);
  if (page.code === 7) return fail('connect:errno=111\n', 1);
  // The connection stood, but the certificate never came: the classic face of a black hole.
  return /Operation timed out/.test(page.stderr)
    ? { stdout: 'CONNECTED(00000003)\n', stderr: '', code: 1, waited: true }
    : fail('connect:errno=110\n', 1);
};

const network: GuestCommands = {
  ping: (argv, machine) => ping(argv, machine.tools()),
  dig: (argv, machine) => dig(argv, machine.tools()),
  nslookup: (argv, machine) => nslookup(argv, machine.tools()),
  host: (argv, machine) => host(argv, machine.tools()),
  traceroute: (argv, machine) => traceroute(argv, machine.tools()),
  tracepath: (argv, machine) => tracepath(argv, machine.tools()),
  mtr: (argv, machine) => mtr(argv, machine.tools(), machine.name),
  nc: probe,
  netcat: probe,
  ncat: probe,
  curl: web,
  wget,
  telnet,
  openssl,
};

const COMMANDS: GuestCommands = {
  ...network,
  ...socketCommands,
  ...firewallCommands,
  ...interfaceCommands,
  ...systemCommands,
  ...textCommands,
};

const which: GuestCommand = (argv) => {
  const names = argv.filter((w) => !w.startsWith('-'));
  const found = names.filter((n) => Object.hasOwn(COMMANDS, n));
  return out(found.map((n) => `/usr/bin/${n}\n`).join(''), found.length === names.length ? 0 : 1);
};

export function guestCommand(name: string): GuestCommand | undefined {
  if (name === 'which' || name === 'type' || name === 'command') return which;
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}
