/** ss, netstat, lsof: who listens and who talks. */

import { stableNumber } from '../network/service-tags.ts';
import { out, type ToolResult } from '../tools/context.ts';
import { type Conversation, conversations, nicCounters } from './conversations.ts';
import type { GuestCommand, GuestCommands, Machine } from './machine.ts';

interface Wanted {
  readonly listening: boolean;
  readonly talking: boolean;
  readonly tcp: boolean;
  readonly udp: boolean;
  readonly processes: boolean;
  readonly info: boolean;
  readonly memory: boolean;
  readonly filter: (localPort: number, peerPort: number, peer: string, state: string) => boolean;
}

function wanted(argv: readonly string[]): Wanted {
  const letters = argv.filter((w) => /^-[a-zA-Z]+$/.test(w)).join('');
  const long = new Set(argv.filter((w) => w.startsWith('--')));
  const tcp = letters.includes('t') || long.has('--tcp');
  const udp = letters.includes('u') || long.has('--udp');
  const listening = letters.includes('l') || long.has('--listening');
  const all = letters.includes('a') || long.has('--all');
  return {
    listening: listening || all,
    talking: !listening || all,
    tcp: tcp || !udp,
    udp: udp || !tcp,
    processes: letters.includes('p'),
    info: letters.includes('i'),
    memory: letters.includes('m'),
    filter: filterOf(argv),
  };
}

/** `sport = :8080`, `dport = :443`, `dst 10.0.0.5`, `state established`. */
function filterOf(argv: readonly string[]): Wanted['filter'] {
  const words = argv
    .filter((w) => !w.startsWith('-'))
    .join(' ')
    .replace(/[()']/g, ' ');
  const source = /\bsport\s*(?:=|==|eq)?\s*:?(\d+)/.exec(words)?.[1];
  const destination = /\bdport\s*(?:=|==|eq)?\s*:?(\d+)/.exec(words)?.[1];
  const peer = /\bdst\s+([\d.]+)/.exec(words)?.[1];
  const state = /\bstate\s+([\w-]+)/.exec(words)?.[1]?.toLowerCase();
  const either = source !== undefined && destination !== undefined && /\bor\b/.test(words);
  return (local, remote, address, actual) => {
    const bySource = source === undefined || local === Number(source);
    const byDestination = destination === undefined || remote === Number(destination);
    const ports = either
      ? (source !== undefined && bySource && local === Number(source)) || remote === Number(destination)
      : bySource && byDestination;
    const states: Record<string, string> = {
      established: 'ESTAB',
      'syn-sent': 'SYN-SENT',
      'syn-recv': 'SYN-RECV',
      listening: 'LISTEN',
    };
    return (
      ports &&
      (peer === undefined || address === peer) &&
      (state === undefined || (states[state] ?? 'ESTAB') === actual)
    );
  };
}

export function pidOf(machine: Machine, process: string): number {
  return 600 + (stableNumber(`${machine.name}:${process}`) % 4000);
}

const ss: GuestCommand = (argv, machine) => {
  if (argv.includes('-s')) return summary(machine);
  const want = wanted(argv);
  const rows: string[] = [];
  const both = want.tcp && want.udp;
  const net = (kind: string) => (both ? `${kind.padEnd(6)}` : '');
  const line = (
    kind: string,
    state: string,
    recv: number,
    send: number,
    local: string,
    peer: string,
    rest: string,
  ) =>
    rows.push(
      `${net(kind)}${state.padEnd(10)} ${String(recv).padEnd(7)} ${String(send).padEnd(7)} ${local.padStart(24)} ${peer.padStart(24)} ${rest}`.trimEnd(),
    );
  if (want.listening)
    for (const l of machine.vm.listens) {
      if (!(l.protocol === 'tcp' ? want.tcp : want.udp)) continue;
      if (!want.filter(l.port, 0, '', 'LISTEN')) continue;
      const users = want.processes ? ` users:(("${l.process}",pid=${pidOf(machine, l.process)},fd=3))` : '';
      line(
        l.protocol,
        l.protocol === 'tcp' ? 'LISTEN' : 'UNCONN',
        0,
        l.protocol === 'tcp' ? 511 : 0,
        `${l.bind}:${l.port}`,
        '0.0.0.0:*',
        users,
      );
    }
  if (want.talking && want.tcp)
    for (const c of conversations(machine)) {
      if (!want.filter(c.localPort, c.peerPort, c.peer, c.state)) continue;
      // Half-open connections are shown only by -a or when asked for by state.
      if (c.state !== 'ESTAB' && !argv.join(' ').match(/-\w*a|state/)) continue;
      const process =
        c.side === 'server'
          ? (machine.vm.listens.find((l) => l.port === c.localPort)?.process ?? 'app')
          : 'client';
      line(
        'tcp',
        c.state,
        c.recvQ,
        c.sendQ,
        `${c.local}:${c.localPort}`,
        `${c.peer}:${c.peerPort}`,
        want.processes ? ` users:(("${process}",pid=${pidOf(machine, process)},fd=12))` : '',
      );
      if (want.memory) rows.push(`\t skmem:(r${c.recvQ},rb212992,t0,tb87040,f0,w${c.sendQ},o0,bl0,d0)`);
      if (want.info) rows.push(infoLine(c));
    }
  const header = `${both ? 'Netid ' : ''}${'State'.padEnd(10)} ${'Recv-Q'.padEnd(7)} ${'Send-Q'.padEnd(7)} ${'Local Address:Port'.padStart(24)} ${'Peer Address:Port'.padStart(24)}${want.processes ? '  Process' : ''}`;
  return out(`${[header, ...rows].join('\n')}\n`);
};

/** What `-i` adds: round trip, congestion window, retransmissions. */
function infoLine(c: Conversation): string {
  const rtt = c.rttMs.toFixed(3);
  const variance = Math.max(c.rttMs / 4, c.jitterMs / 2).toFixed(3);
  const rto = Math.max(200, Math.round(c.rttMs * 2 + 200));
  const parts = [
    `\t cubic wscale:7,7 rto:${c.stuck ? rto * 16 : rto}${c.stuck ? ' backoff:4' : ''} rtt:${rtt}/${variance} mss:1448 pmtu:1500 rcvmss:1448 advmss:1448`,
    `cwnd:${c.stuck ? 1 : c.retransmits > 0 ? 4 : 10}${c.retransmits > 0 ? ' ssthresh:2' : ''} bytes_sent:${c.flow.bytes} segs_out:${8 + c.retransmits} segs_in:${c.stuck ? 3 : 8}`,
    c.stuck
      ? `unacked:${Math.ceil(c.sendQ / 1448)} retrans:1/${c.retransmits} lost:${Math.ceil(c.sendQ / 1448)}`
      : c.retransmits > 0
        ? `retrans:0/${c.retransmits}`
        : '',
    c.reordering ? 'reordering:7 reord_seen:23' : '',
    c.side === 'server' && c.recvQ > 0
      ? 'rcv_space:14600 rcv_wnd:0 rwnd_limited:98.7%'
      : c.sendQ > 1 && !c.stuck
        ? 'snd_wnd:0 rwnd_limited:98.7%'
        : 'rcv_space:14480 snd_wnd:64128',
  ];
  return parts.filter((p) => p !== '').join(' ');
}

function summary(machine: Machine): ToolResult {
  const open = conversations(machine);
  const listening = machine.vm.listens.filter((l) => l.protocol === 'tcp').length;
  return out(
    `Total: ${120 + open.length}\nTCP:   ${open.length + listening} (estab ${open.filter((c) => c.state === 'ESTAB').length}, closed 0, orphaned 0, timewait 0)\n`,
  );
}

const netstat: GuestCommand = (argv, machine) => {
  const letters = argv.filter((w) => w.startsWith('-') && !w.startsWith('--')).join('');
  if (letters.includes('s') || argv.includes('--statistics')) return out(protocolStatistics(machine));
  if (letters.includes('i')) return out(interfaceTable(machine));
  const want = wanted(argv);
  const rows: string[] = [];
  const line = (
    kind: string,
    recv: number,
    send: number,
    local: string,
    peer: string,
    state: string,
    users: string,
  ) =>
    rows.push(
      `${kind.padEnd(5)} ${String(recv).padStart(6)} ${String(send).padStart(6)} ${local.padEnd(23)} ${peer.padEnd(23)} ${state.padEnd(11)} ${users}`.trimEnd(),
    );
  const owner = (process: string) => (want.processes ? `${pidOf(machine, process)}/${process}` : '');
  if (want.listening)
    for (const l of machine.vm.listens)
      if (l.protocol === 'tcp' ? want.tcp : want.udp)
        line(
          l.protocol,
          0,
          0,
          `${l.bind}:${l.port}`,
          '0.0.0.0:*',
          l.protocol === 'tcp' ? 'LISTEN' : '',
          owner(l.process),
        );
  const names = { ESTAB: 'ESTABLISHED', 'SYN-SENT': 'SYN_SENT', 'SYN-RECV': 'SYN_RECV' };
  if (want.talking && want.tcp)
    for (const c of conversations(machine))
      line(
        'tcp',
        c.recvQ,
        c.sendQ,
        `${c.local}:${c.localPort}`,
        `${c.peer}:${c.peerPort}`,
        names[c.state],
        owner(
          c.side === 'server'
            ? (machine.vm.listens.find((l) => l.port === c.localPort)?.process ?? 'app')
            : 'client',
        ),
      );
  const what =
    want.listening && want.talking
      ? 'servers and established'
      : want.listening
        ? 'only servers'
        : 'w/o servers';
  const header = `Active Internet connections (${what})\nProto Recv-Q Send-Q Local Address           Foreign Address         State      ${want.processes ? ' PID/Program name' : ''}`;
  return out(`${header}\n${rows.map((r) => `${r}\n`).join('')}`);
};

/** Counters of the whole stack: retransmissions, bad checksums, reordering show here when there are any. */
export function protocolStatistics(machine: Machine): string {
  const nic = nicCounters(machine);
  const open = conversations(machine);
  const stuck = open.filter((c) => c.stuck).length;
  const retransmits = open.reduce((sum, c) => sum + c.retransmits * 120, 0);
  const timeouts = open.filter((c) => c.state === 'SYN-SENT').length * 340 + stuck * 210;
  const reordered = open.some((c) => c.reordering);
  const zeroWindows = open.some((c) => c.recvQ > 0 || (c.sendQ > 1 && !c.stuck));
  return [
    'Ip:',
    `    ${nic.rxPackets} total packets received`,
    `    ${machine.vm.ip_forwarding ? Math.round(nic.rxPackets / 2) : 0} forwarded`,
    `    ${nic.rxPackets} incoming packets delivered`,
    `    ${nic.txPackets} requests sent out`,
    'Icmp:',
    '    42 ICMP messages received',
    'Tcp:',
    `    ${1200 + open.length * 40} active connection openings`,
    `    ${open.filter((c) => c.state === 'SYN-SENT').length * 170} failed connection attempts`,
    `    ${Math.round(machine.vm.app.resets_pct * 31)} connection resets sent`,
    `    ${open.filter((c) => c.state === 'ESTAB').length} connections established`,
    `    ${nic.rxPackets} segments received`,
    `    ${nic.txPackets} segments sent out`,
    `    ${retransmits + timeouts} segments retransmitted`,
    `    ${nic.rxErrors} bad segments received`,
    'TcpExt:',
    ...(timeouts > 0 ? [`    TCPTimeouts: ${timeouts}`] : []),
    ...(retransmits > 0 ? [`    ${Math.round(retransmits * 0.7)} fast retransmits`] : []),
    ...(nic.rxErrors > 0 ? [`    InCsumErrors: ${nic.rxErrors}`] : []),
    ...(reordered ? ['    Detected reordering 1873 times using SACK'] : []),
    ...(zeroWindows ? ['    TCPWantZeroWindowAdv: 4120', '    TCPToZeroWindowAdv: 688'] : []),
    '',
  ].join('\n');
}

function interfaceTable(machine: Machine): string {
  const n = nicCounters(machine);
  return `Kernel Interface table\nIface      MTU    RX-OK RX-ERR RX-DRP RX-OVR    TX-OK TX-ERR TX-DRP TX-OVR Flg\neth0      1500 ${String(n.rxPackets).padStart(8)} ${String(n.rxErrors).padStart(6)} ${String(n.rxDropped).padStart(6)} 0      ${String(n.txPackets).padStart(8)}      0 ${String(n.txDropped).padStart(6)}      0 BMRU\nlo       65536     4210      0      0 0          4210      0      0      0 LRU\n`;
}

const lsof: GuestCommand = (argv, machine) => {
  const port = /:(\d+)/.exec(argv.join(' '))?.[1];
  const rows = machine.vm.listens
    .filter((l) => port === undefined || l.port === Number(port))
    .map(
      (l) =>
        `${l.process.padEnd(9)} ${String(pidOf(machine, l.process)).padStart(5)} root    3u  IPv4  ${20_000 + l.port}      0t0  ${l.protocol.toUpperCase()} ${l.bind === '0.0.0.0' ? '*' : l.bind}:${l.port}${l.protocol === 'tcp' ? ' (LISTEN)' : ''}`,
    );
  if (rows.length === 0) return out('', 1);
  return out(`COMMAND     PID USER   FD   TYPE DEVICE SIZE/OFF NODE NAME\n${rows.join('\n')}\n`);
};

export const socketCommands: GuestCommands = {
  ss,
  netstat,
  lsof,
  nstat: (_a, m) => out(protocolStatistics(m)),
};
