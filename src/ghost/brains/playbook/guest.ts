import type { Finding } from './finding.ts';
import { az, type Vm } from './inventory.ts';
import { contains } from './ipv4.ts';
import type { Notebook } from './notebook.ts';
import { describe, type Flow } from './nsg.ts';
import { acceptInside } from './remedies.ts';

/**
 * What only the machine itself knows: listeners, its own firewall, forwarding. One script a machine, because
 * each run-command asks the engineer.
 */
export interface Guest {
  readonly auditId: string;
  readonly listeners: readonly Listener[];
  readonly rules: readonly FirewallRule[];
  readonly policies: Readonly<Record<string, string>>;
  readonly forwards: boolean | null;
  readonly probes: ReadonlyMap<string, 'open' | 'refused' | 'timeout' | 'unreachable' | 'unknown'>;
  readonly pings: ReadonlyMap<string, Ping>;
  readonly names: ReadonlyMap<string, string | null>;
  /** What the kernel counted since it started. */
  readonly counters: Counters;
  /** Established conversations by peer address. */
  readonly peers: readonly Peer[];
  readonly text: string;
}

export interface Counters {
  readonly rxPackets: number;
  readonly rxErrors: number;
  readonly rxDropped: number;
  readonly txPackets: number;
  readonly txDropped: number;
  readonly badSegments: number;
  readonly resetsSent: number;
}

export interface Peer {
  readonly address: string;
  readonly localPort: number;
  readonly peerPort: number;
  readonly unread: number;
  readonly retransmitted: number;
  readonly reordered: boolean;
  readonly closedWindow: boolean;
}

export interface Listener {
  readonly protocol: string;
  readonly address: string;
  readonly port: number;
}

export interface FirewallRule {
  readonly chain: string;
  readonly protocol: string | null;
  readonly ports: string | null;
  readonly source: string | null;
  readonly destination: string | null;
  readonly target: string;
  /** Speaks only of conversations that have begun, or are broken. */
  readonly established: boolean;
  readonly loopback: boolean;
  readonly line: string;
}

export interface Ping {
  readonly loss: number;
  readonly average: number | null;
  readonly deviation: number | null;
}

const MARK = '#--';

export interface GuestWish {
  readonly listeners?: boolean;
  readonly firewall?: boolean;
  /** Counters of the interface and of TCP, and what each conversation went through. */
  readonly health?: boolean;
  /** `address port` pairs to open a TCP connection to. */
  readonly connect?: readonly { readonly address: string; readonly port: number; readonly udp?: boolean }[];
  readonly ping?: readonly string[];
  readonly largePing?: readonly string[];
  readonly resolve?: readonly string[];
  readonly why: string;
}

export function askGuest(notebook: Notebook, vm: Vm, wish: GuestWish): Guest | 'denied' | 'unreachable' {
  const script = [
    ...(wish.listeners ? [`echo '${MARK}listen'`, 'ss -lntu'] : []),
    ...(wish.firewall
      ? [
          `echo '${MARK}firewall'`,
          'iptables -S',
          `echo '${MARK}forward'`,
          'cat /proc/sys/net/ipv4/ip_forward',
        ]
      : []),
    ...(wish.health
      ? [
          `echo '${MARK}connections'`,
          'ss -tni',
          `echo '${MARK}statistics'`,
          'netstat -s',
          `echo '${MARK}link'`,
          'ip -s link show eth0',
        ]
      : []),
    ...(wish.resolve ?? []).flatMap((name) => [`echo '${MARK}resolve ${name}'`, `getent hosts ${name}`]),
    ...(wish.connect ?? []).flatMap(({ address, port, udp }) => [
      `echo '${MARK}connect ${address} ${port}'`,
      `nc ${udp ? '-u ' : ''}-zv -w 4 ${address} ${port}`,
    ]),
    ...(wish.ping ?? []).flatMap((address) => [
      `echo '${MARK}ping ${address}'`,
      `ping -n -q -c 30 -i 0.2 -W 2 ${address}`,
    ]),
    ...(wish.largePing ?? []).flatMap((address) => [
      `echo '${MARK}large ${address}'`,
      `ping -n -q -c 4 -W 2 -M do -s 1472 ${address}`,
    ]),
  ].join('; ');
  const command = az(
    'vm',
    'run-command',
    'invoke',
    '--resource-group',
    vm.group,
    '--name',
    vm.name,
    '--command-id',
    'RunShellScript',
    '--scripts',
    script,
    '--query',
    'value[0].message',
    '--output',
    'tsv',
  );
  const answer = notebook.ask(command, `Look inside ${vm.name}: ${wish.why}`);
  if (answer.kind === 'denied') return 'denied';
  if (answer.kind === 'failed') return 'unreachable';
  return readGuest(answer.output, answer.auditId);
}

/** Sections by marker; a section that is missing simply knows nothing. */
function readGuest(output: string, auditId: string): Guest {
  const text = output.replaceAll('\\n', '\n');
  const sections = new Map<string, string>();
  let current = '';
  for (const line of text.split('\n')) {
    if (line.startsWith(MARK)) {
      current = line.slice(MARK.length).trim();
      sections.set(current, '');
    } else if (current !== '') sections.set(current, `${sections.get(current)}${line}\n`);
  }
  // Probes report on stderr, which run-command prints apart: the whole text is searched for them.
  const stderr = /\[stderr\]([\s\S]*)$/.exec(text)?.[1] ?? '';
  const firewall = sections.get('firewall') ?? '';
  const forward = sections.get('forward')?.trim();
  return {
    auditId,
    listeners: (sections.get('listen') ?? '').split('\n').flatMap(listenerOf),
    rules: firewall.split('\n').flatMap(ruleOf),
    policies: Object.fromEntries([...firewall.matchAll(/^-P (\w+) (\w+)/gm)].map((m) => [m[1]!, m[2]!])),
    forwards: forward?.startsWith('1') ? true : forward?.startsWith('0') ? false : null,
    peers: peersOf(sections.get('connections') ?? ''),
    counters: countersOf(sections.get('link') ?? '', sections.get('statistics') ?? ''),
    probes: new Map(
      [...sections]
        .filter(([k]) => k.startsWith('connect '))
        .map(([k, v]) => [k.slice('connect '.length), probeResult(v, stderr, k)]),
    ),
    pings: new Map(
      [...sections].filter(([k]) => /^(ping|large) /.test(k)).map(([k, v]) => [k, pingResult(v)]),
    ),
    names: new Map(
      [...sections]
        .filter(([k]) => k.startsWith('resolve '))
        .map(([k, v]) => [k.slice('resolve '.length), /^(\d+\.\d+\.\d+\.\d+)\s/m.exec(v)?.[1] ?? null]),
    ),
    text,
  };
}

function listenerOf(line: string): Listener[] {
  const match = /^(tcp|udp)\s+\S+\s+\d+\s+\d+\s+(\S+):(\d+)\s/.exec(line);
  return match
    ? [
        {
          protocol: match[1]!,
          address: match[2]!.replace(/^\[|\]$/g, '').replace(/%\w+$/, ''),
          port: Number(match[3]),
        },
      ]
    : [];
}

function ruleOf(line: string): FirewallRule[] {
  const match = /^-A (\w+) (.*)-j (\w+)/.exec(line);
  if (!match) return [];
  const options = match[2]!;
  const value = (pattern: RegExp) => pattern.exec(options)?.[1] ?? null;
  const protocol = value(/-p (\w+)/);
  return [
    {
      chain: match[1]!,
      protocol: protocol === 'all' ? null : protocol,
      ports: value(/--dports? ([\d:,-]+)/),
      source: value(/-s (\S+)/),
      destination: value(/-d (\S+)/),
      target: match[3]!,
      established: /(--ctstate|--state)/.test(options) && !/\bNEW\b/.test(options),
      loopback: /-[io] lo\b/.test(options),
      line,
    },
  ];
}

function peersOf(text: string): readonly Peer[] {
  const lines = text.split('\n');
  return lines.flatMap((line, i) => {
    const match = /^ESTAB\s+(\d+)\s+\d+\s+\S+:(\d+)\s+(\S+):(\d+)/.exec(line.trim());
    if (!match) return [];
    const info = /^\s/.test(lines[i + 1] ?? '') ? lines[i + 1]! : '';
    return [
      {
        address: match[3]!,
        localPort: Number(match[2]),
        peerPort: Number(match[4]),
        unread: Number(match[1]),
        retransmitted: Number(/retrans:\d+\/(\d+)/.exec(info)?.[1] ?? 0),
        reordered: /reord_seen:[1-9]/.test(info),
        closedWindow: /rcv_wnd:0\b/.test(info),
      },
    ];
  });
}

function countersOf(link: string, statistics: string): Counters {
  const own = /\beth0\b[\s\S]*$/.exec(link)?.[0] ?? link;
  const numbers = (after: RegExp) => (after.exec(own)?.[1] ?? '').trim().split(/\s+/).map(Number);
  const [, rxPackets = 0, rxErrors = 0, rxDropped = 0] = numbers(/RX:[^\n]*\n\s*([\d ]+)/);
  const [, txPackets = 0, , txDropped = 0] = numbers(/TX:[^\n]*\n\s*([\d ]+)/);
  const count = (pattern: RegExp) => Number(pattern.exec(statistics)?.[1] ?? 0);
  return {
    rxPackets,
    rxErrors,
    rxDropped,
    txPackets,
    txDropped,
    badSegments: Math.max(count(/(\d+) bad segments received/), count(/InCsumErrors: (\d+)/)),
    resetsSent: count(/(\d+) (?:connection )?resets sent/),
  };
}

function probeResult(
  section: string,
  stderr: string,
  key: string,
): 'open' | 'refused' | 'timeout' | 'unreachable' | 'unknown' {
  const [, address = '', port = ''] = key.split(' ');
  const own = `${section}\n${stderr
    .split('\n')
    .filter((l) => l.includes(address) && l.includes(port))
    .join('\n')}`;
  if (/succeeded|\bopen\b|connected/i.test(own)) return 'open';
  if (/refused/i.test(own)) return 'refused';
  if (/timed out|timeout/i.test(own)) return 'timeout';
  if (/unreachable|no route|prohibited/i.test(own)) return 'unreachable';
  return 'unknown';
}

function pingResult(section: string): Ping {
  const loss = /([\d.]+)% packet loss/.exec(section)?.[1];
  const times = /= [\d.]+\/([\d.]+)\/[\d.]+\/([\d.]+) ms/.exec(section);
  return {
    loss: loss === undefined ? 100 : Number(loss),
    average: times ? Number(times[1]) : null,
    deviation: times ? Number(times[2]) : null,
  };
}

/** The rule of a chain that decides for a new conversation, as iptables reads it. */
export function firewallVerdict(
  guest: Guest,
  chain: 'INPUT' | 'OUTPUT' | 'FORWARD',
  flow: Flow,
): { readonly target: string; readonly rule: FirewallRule | null } {
  const rule = guest.rules.find(
    (r) => r.chain === chain && !r.established && !r.loopback && ruleMatches(r, flow),
  );
  return rule ? { target: rule.target, rule } : { target: guest.policies[chain] ?? 'ACCEPT', rule: null };
}

function ruleMatches(rule: FirewallRule, flow: Flow): boolean {
  if (rule.protocol !== null && rule.protocol !== flow.protocol) return false;
  if (
    rule.ports !== null &&
    (flow.port === null || !rule.ports.split(',').some((p) => inPorts(p, flow.port!)))
  )
    return false;
  if (rule.source !== null && !contains(rule.source, flow.source)) return false;
  return rule.destination === null || contains(rule.destination, flow.destination);
}

function inPorts(range: string, port: number): boolean {
  const [from, to] = range.split(/[:-]/).map(Number);
  return port >= (from ?? 0) && port <= (to ?? from ?? 0);
}

export function firewallFinding(
  vm: Vm,
  guest: Guest,
  chain: 'INPUT' | 'OUTPUT' | 'FORWARD',
  flow: Flow,
): Finding | undefined {
  const { target, rule } = firewallVerdict(guest, chain, flow);
  if (target !== 'DROP' && target !== 'REJECT') return undefined;
  // A default policy stops this very port for want of a rule; a rule without ports stops them all.
  const detail =
    rule === null
      ? String(flow.port ?? 'icmp')
      : rule.protocol === 'icmp'
        ? 'icmp'
        : rule.ports === null
          ? '*'
          : String(flow.port);
  const where = rule === null ? `its default policy ${chain} ${target}` : `rule "${rule.line.trim()}"`;
  return {
    kind: target === 'DROP' ? 'os_firewall_drop' : 'os_firewall_reject',
    resource: vm.name,
    detail,
    explanation: `The firewall inside ${vm.name} ${target === 'DROP' ? 'drops' : 'rejects'} ${describe(flow)} by ${where}; no cloud API shows it.`,
    evidence: [guest.auditId],
    remedies: acceptInside(vm, chain, flow),
  };
}

/** A port nobody listens on, or only on an address others cannot reach. */
export function listenerFinding(vm: Vm, guest: Guest, flow: Flow): Finding | undefined {
  if (flow.port === null || guest.listeners.length === 0) return undefined;
  const onPort = guest.listeners.filter((l) => l.port === flow.port && l.protocol.startsWith(flow.protocol));
  const reachable = onPort.some((l) => ['0.0.0.0', '*', '::', vm.ip].includes(l.address));
  if (reachable) return undefined;
  const what =
    onPort.length === 0
      ? `nothing listens on ${flow.protocol} port ${flow.port}`
      : `port ${flow.port} is bound to ${onPort.map((l) => l.address).join(', ')} only`;
  return {
    kind: 'service_not_listening',
    resource: vm.name,
    detail: String(flow.port),
    explanation: `On ${vm.name} ${what}.`,
    evidence: [guest.auditId],
    remedies: [],
  };
}
