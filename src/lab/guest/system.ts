/** Services, processes, files and settings of the guest. */
import { resolve } from '../network/dns.ts';
import { PLATFORM_IP } from '../network/service-tags.ts';
import { fail, out, type ToolResult } from '../tools/context.ts';
import { toolOptions } from '../tools/options.ts';
import { programFor } from '../world/complete.ts';
import { nicCounters, uptimeMs } from './conversations.ts';
import { type GuestCommand, type GuestCommands, type Machine, type Service, services } from './machine.ts';

const all = (machine: Machine) => services(machine, programFor);

function findService(machine: Machine, name: string): Service | undefined {
  const wanted = name.replace(/\.service$/, '');
  return all(machine).find((s) => s.unit === wanted || s.process === wanted);
}

const isUp = (s: Service) => s.listeners.length > 0;

const systemctl: GuestCommand = (argv, machine) => {
  const { flags, rest } = toolOptions(argv, ['type', 'state', 't', 'n', 'lines', 'p', 'property']);
  const [verb = 'list-units', ...names] = rest;
  if (flags.has('failed') || (verb === 'list-units' && argv.includes('--state=failed')))
    return out('  UNIT LOAD ACTIVE SUB DESCRIPTION\n0 loaded units listed.\n');
  if (verb === 'list-units' || verb === 'list-unit-files') return out(unitList(machine));
  const service = findService(machine, names[0] ?? '');
  if (!service) {
    const unit = `${(names[0] ?? '').replace(/\.service$/, '')}.service`;
    if (verb === 'is-active') return out('inactive\n', 3);
    if (verb === 'is-enabled')
      return fail(`Failed to get unit file state for ${unit}: No such file or directory\n`, 1);
    return fail(
      verb === 'status'
        ? `Unit ${unit} could not be found.\n`
        : `Failed to ${verb} ${unit}: Unit ${unit} not found.\n`,
      verb === 'status' ? 4 : 5,
    );
  }
  switch (verb) {
    case 'status':
      return out(statusText(machine, service), isUp(service) ? 0 : 3);
    case 'is-active':
      return isUp(service) ? out('active\n') : out('inactive\n', 3);
    case 'is-enabled':
      return out('enabled\n');
    case 'start':
    case 'restart':
    case 'reload-or-restart':
      return startService(machine, service);
    case 'stop':
      return stopService(machine, service);
    case 'enable':
    case 'disable':
    case 'daemon-reload':
    case 'reload':
      return out('');
    default:
      return fail(`Unknown command verb '${verb}'.\n`, 1);
  }
};

function startService(machine: Machine, service: Service): ToolResult {
  if (service.missing.length === 0) return out('');
  machine.change(
    service.missing.map((m) => ({
      op: 'add' as const,
      path: `${machine.path}/listens/-`,
      value: { port: m.port, protocol: m.protocol, process: service.process },
    })),
  );
  return out('');
}

function stopService(machine: Machine, service: Service): ToolResult {
  const left = machine.vm.listens.filter((l) => l.process !== service.process);
  machine.change([{ op: 'replace', path: `${machine.path}/listens`, value: left }]);
  return out('');
}

function statusText(machine: Machine, s: Service): string {
  const head = `${isUp(s) ? '●' : '○'} ${s.unit}.service - ${s.unit}\n     Loaded: loaded (/lib/systemd/system/${s.unit}.service; enabled; vendor preset: enabled)\n`;
  const since = new Date(machine.start - 3 * 86_400_000).toUTCString();
  if (!isUp(s)) return `${head}     Active: inactive (dead)\n`;
  return `${head}     Active: active (running) since ${since}\n   Main PID: ${s.pid} (${s.process})\n      Tasks: 8 (limit: 9458)\n     Memory: 38.1M\n     CGroup: /system.slice/${s.unit}.service\n             └─${s.pid} ${s.process}\n`;
}

function unitList(machine: Machine): string {
  const rows = [
    ...all(machine).map((s) => ({ unit: s.unit, up: isUp(s) })),
    { unit: 'systemd-resolved', up: true },
    { unit: 'walinuxagent', up: true },
  ];
  const lines = rows.map(
    (r) =>
      `  ${`${r.unit}.service`.padEnd(30)} loaded ${r.up ? 'active  ' : 'inactive'} ${r.up ? 'running' : 'dead   '} ${r.unit}`,
  );
  return `  UNIT                           LOAD   ACTIVE   SUB     DESCRIPTION\n${lines.join('\n')}\n\n${rows.length} loaded units listed.\n`;
}

const ps: GuestCommand = (_argv, machine) => {
  const rows: readonly (readonly [string, number, string])[] = [
    ['root', 1, '/sbin/init'],
    ['systemd+', 512, '/lib/systemd/systemd-resolved'],
    ['root', 701, '/usr/bin/python3 -u /usr/sbin/waagent -daemon'],
    ...all(machine)
      .filter(isUp)
      .map((s) => ['root', s.pid, s.process] as const),
  ];
  return out(
    `USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n${rows.map(([user, pid, command]) => `${user.padEnd(9)} ${String(pid).padStart(6)}  0.1  0.6 168420 12840 ?        Ss   Jan01   0:11 ${command}`).join('\n')}\n`,
  );
};

function settings(machine: Machine): Readonly<Record<string, string>> {
  const forward = machine.vm.os_ip_forward ?? machine.vm.ip_forwarding;
  return {
    'net.ipv4.ip_forward': forward ? '1' : '0',
    'net.ipv4.conf.all.forwarding': forward ? '1' : '0',
    'net.ipv4.conf.all.rp_filter': '2',
    'net.ipv4.tcp_mtu_probing': '0',
    'net.ipv4.ip_no_pmtu_disc': '0',
    'net.ipv4.tcp_retries2': '15',
    'net.ipv4.tcp_syn_retries': '6',
    'net.ipv4.tcp_rmem': '4096\t131072\t6291456',
    'net.ipv4.tcp_wmem': '4096\t16384\t4194304',
    'net.core.rmem_max': '212992',
    'net.core.somaxconn': '4096',
    'net.ipv4.icmp_echo_ignore_all': '0',
    'net.netfilter.nf_conntrack_count': '214',
    'net.netfilter.nf_conntrack_max': '65536',
  };
}

const sysctl: GuestCommand = (argv, machine) => {
  const known = settings(machine);
  const assignment =
    argv.find((w) => /^[\w.]+=/.test(w)) ??
    (argv.includes('-w') ? argv.filter((w) => !w.startsWith('-')).join('=') : undefined);
  if (assignment !== undefined) {
    const [key, value] = assignment.replaceAll(' ', '').split('=') as [string, string];
    if (!(key in known))
      return fail(
        `sysctl: cannot stat /proc/sys/${key.replaceAll('.', '/')}: No such file or directory\n`,
        255,
      );
    if (key === 'net.ipv4.ip_forward' || key === 'net.ipv4.conf.all.forwarding')
      machine.change([{ op: 'replace', path: `${machine.path}/os_ip_forward`, value: value === '1' }]);
    return out(`${key} = ${value}\n`);
  }
  const bareValue = argv.includes('-n');
  const names = argv.includes('-a') ? Object.keys(known) : argv.filter((w) => !w.startsWith('-'));
  const lines: string[] = [];
  for (const name of names) {
    const value = known[name];
    if (value === undefined)
      return fail(
        `sysctl: cannot stat /proc/sys/${name.replaceAll('.', '/')}: No such file or directory\n`,
        255,
      );
    lines.push(bareValue ? value : `${name} = ${value}`);
  }
  return out(`${lines.join('\n')}\n`);
};

function file(machine: Machine, path: string): string | undefined {
  const n = nicCounters(machine);
  const setting = path.startsWith('/proc/sys/')
    ? settings(machine)[path.slice('/proc/sys/'.length).replaceAll('/', '.')]
    : undefined;
  if (setting !== undefined) return `${setting}\n`;
  const fixed: Readonly<Record<string, string>> = {
    '/etc/resolv.conf': `# Generated by cloud-init\nnameserver ${PLATFORM_IP}\nsearch internal.cloudapp.net\n`,
    '/etc/hosts': `127.0.0.1 localhost\n${machine.vm.ip} ${machine.name}\n`,
    '/etc/hostname': `${machine.name}\n`,
    '/etc/os-release': 'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nNAME="Ubuntu"\nVERSION_ID="22.04"\nID=ubuntu\n',
    '/sys/class/net/eth0/mtu': '1500\n',
    '/sys/class/net/eth0/statistics/rx_errors': `${n.rxErrors}\n`,
    '/sys/class/net/eth0/statistics/rx_dropped': `${n.rxDropped}\n`,
    '/sys/class/net/eth0/statistics/tx_dropped': `${n.txDropped}\n`,
    '/proc/net/dev': `Inter-|   Receive                                                |  Transmit\n face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed\n  eth0: ${n.rxBytes} ${n.rxPackets} ${n.rxErrors} ${n.rxDropped} 0 0 0 0 ${n.txBytes} ${n.txPackets} 0 ${n.txDropped} 0 0 0 0\n`,
    '/proc/loadavg': '0.08 0.05 0.01 1/212 4120\n',
  };
  return fixed[path];
}

const cat: GuestCommand = (argv, machine, stdin) => {
  const paths = argv.filter((w) => !w.startsWith('-'));
  if (paths.length === 0) return out(stdin);
  let stdout = '';
  let stderr = '';
  for (const path of paths) {
    const content = file(machine, path);
    if (content === undefined) stderr += `cat: ${path}: No such file or directory\n`;
    else stdout += content;
  }
  return { stdout, stderr, code: stderr === '' ? 0 : 1 };
};

const getent: GuestCommand = (argv, machine) => {
  const [database, name] = argv.filter((w) => !w.startsWith('-'));
  if (!/^a?hosts(v4)?$/.test(database ?? '') || name === undefined) return out('', 2);
  const found =
    name === machine.name
      ? machine.vm.ip
      : resolve(machine.world, { kind: 'vm', name: machine.name }, name).address;
  if (found === null) return out('', 2);
  return out(
    database === 'hosts'
      ? `${found.padEnd(15)} ${name}\n`
      : `${found.padEnd(15)} STREAM ${name}\n${found.padEnd(15)} DGRAM\n`,
  );
};

const resolvectl: GuestCommand = (argv, machine) => {
  if (argv[0] !== 'query')
    return out(
      `Global\n       Protocols: -LLMNR -mDNS -DNSOverTLS DNSSEC=no/unsupported\nLink 2 (eth0)\n    Current Scopes: DNS\nCurrent DNS Server: ${PLATFORM_IP}\n       DNS Servers: ${PLATFORM_IP}\n`,
    );
  const name = argv[1] ?? '';
  const found = resolve(machine.world, { kind: 'vm', name: machine.name }, name);
  if (found.address === null) return fail(`${name}: resolve call failed: '${name}' not found\n`, 1);
  return out(`${name}: ${found.address}                    -- link: eth0\n`);
};

const uptime: GuestCommand = (_argv, machine) => {
  const minutes = Math.floor(uptimeMs(machine) / 60_000);
  const days = Math.floor(minutes / 1440);
  return out(
    ` ${new Date(machine.now).toISOString().slice(11, 19)} up ${days} days, ${Math.floor((minutes % 1440) / 60)}:${String(minutes % 60).padStart(2, '0')},  0 users,  load average: 0.08, 0.05, 0.01\n`,
  );
};

export const systemCommands: GuestCommands = {
  systemctl,
  service: (argv, machine) => systemctl([argv[1] ?? 'status', argv[0] ?? ''], machine, ''),
  ps,
  pgrep: (argv, machine) => {
    const found = all(machine).filter((s) => isUp(s) && s.process.includes(argv.at(-1) ?? ''));
    return out(
      found.map((s) => `${s.pid}${argv.some((w) => /^-\w*[la]/.test(w)) ? ` ${s.process}` : ''}\n`).join(''),
      found.length > 0 ? 0 : 1,
    );
  },
  top: (argv, machine) => ps(argv, machine, ''),
  sysctl,
  cat,
  getent,
  resolvectl,
  'systemd-resolve': (argv, machine) =>
    resolvectl(argv.includes('--status') ? [] : ['query', argv.at(-1) ?? ''], machine, ''),
  hostname: (argv, machine) =>
    out(`${argv.includes('-I') || argv.includes('-i') ? machine.vm.ip : machine.name}\n`),
  uname: (argv, machine) =>
    out(
      argv.includes('-a')
        ? `Linux ${machine.name} 6.5.0-1022-azure #23~22.04.1-Ubuntu SMP x86_64 GNU/Linux\n`
        : argv.includes('-r')
          ? '6.5.0-1022-azure\n'
          : 'Linux\n',
    ),
  uptime,
  date: (argv, machine) =>
    out(
      argv.some((w) => w.startsWith('+%s'))
        ? `${Math.floor(machine.now / 1000)}\n`
        : `${new Date(machine.now).toUTCString()}\n`,
    ),
  whoami: () => out('root\n'),
  id: () => out('uid=0(root) gid=0(root) groups=0(root)\n'),
  nproc: () => out('2\n'),
  free: () =>
    out(
      '               total        used        free      shared  buff/cache   available\nMem:         8137496      912344     5321000        1096     1904152     6957288\nSwap:              0           0           0\n',
    ),
  df: () =>
    out(
      'Filesystem     1K-blocks    Used Available Use% Mounted on\n/dev/root       30298176 3120448  27161344  11% /\n',
    ),
  journalctl: () => out('-- No entries --\n'),
  dmesg: () => out(''),
  pwd: () => out('/root\n'),
  ls: (argv) =>
    argv.some((w) => !w.startsWith('-'))
      ? fail(`ls: cannot access '${argv.at(-1)}': No such file or directory\n`, 2)
      : out(''),
};
