/** The chains of a VM as lines: what `iptables`, `nft` and `iptables -D n` all count by. */
import { trace } from '../network/trace.ts';
import { CHAINS, type Chain, type OsRule } from '../world/types.ts';
import type { Machine } from './machine.ts';

/** A line of a chain: one of the world's rules, or one that stands for what every such firewall has. */
export interface Line {
  readonly rule: OsRule | null;
  /** Place in the world's list; null for what is implied. */
  readonly index: number | null;
  readonly protocol: OsRule['protocol'];
  readonly spec: string;
  readonly target: string;
  readonly detail: string;
}

/** Replies pass and loopback is free wherever there is a firewall at all; an appliance drops what it never saw begin. */
function implied(machine: Machine, chain: Chain): readonly Line[] {
  const { vm } = machine;
  const active = vm.os_policy[chain] === 'DROP' || vm.os_firewall.some((r) => r.chain === chain);
  const stateful = chain === 'FORWARD' && vm.ip_forwarding;
  const line = (spec: string, target: string, detail: string): Line => ({
    rule: null,
    index: null,
    protocol: 'all',
    spec,
    target,
    detail,
  });
  return [
    ...(active && chain !== 'FORWARD' ? [line(chain === 'INPUT' ? '-i lo' : '-o lo', 'ACCEPT', '')] : []),
    ...(active || stateful
      ? [line('-m conntrack --ctstate RELATED,ESTABLISHED', 'ACCEPT', 'ctstate RELATED,ESTABLISHED')]
      : []),
    ...(stateful ? [line('-m conntrack --ctstate INVALID', 'DROP', 'ctstate INVALID')] : []),
  ];
}

export function linesOf(machine: Machine, chain: Chain): readonly Line[] {
  const own = machine.vm.os_firewall.flatMap((rule, index) =>
    rule.chain === chain ? protocolsOf(rule).map((protocol) => ({ rule, index, protocol })) : [],
  );
  return [
    ...implied(machine, chain),
    ...own.map(
      ({ rule, index, protocol }): Line => ({
        rule,
        index,
        protocol,
        spec: specOf(rule, protocol),
        target: rule.action,
        detail: detailOf(rule, protocol),
      }),
    ),
  ];
}

/** Ports belong to a protocol: a rule for a port of any protocol is two lines. */
function protocolsOf(rule: OsRule): readonly OsRule['protocol'][] {
  return rule.protocol === 'all' && rule.port !== null ? ['tcp', 'udp'] : [rule.protocol];
}

/** iptables writes ranges with a colon. */
function ports(rule: OsRule): { readonly option: string; readonly text: string } | null {
  if (rule.port === null) return null;
  const text = rule.port.map((p) => p.replace('-', ':')).join(',');
  return rule.port.length > 1 ? { option: '-m multiport --dports', text } : { option: '--dport', text };
}

function specOf(rule: OsRule, protocol: OsRule['protocol']): string {
  const p = ports(rule);
  return [
    rule.source === null ? '' : `-s ${slash32(rule.source)}`,
    rule.destination === null ? '' : `-d ${slash32(rule.destination)}`,
    protocol === 'all' ? '' : `-p ${protocol}`,
    p ? (p.option === '--dport' ? `-m ${protocol} --dport ${p.text}` : `${p.option} ${p.text}`) : '',
  ]
    .filter((part) => part !== '')
    .join(' ');
}

function slash32(text: string): string {
  return text.includes('/') ? text : `${text}/32`;
}

function detailOf(rule: OsRule, protocol: OsRule['protocol']): string {
  const p = ports(rule);
  if (!p) return '';
  if (p.option !== '--dport') return `multiport dports ${p.text}`;
  return `${protocol} ${p.text.includes(':') ? 'dpts' : 'dpt'}:${p.text}`;
}

const ORDER: Record<Chain, number> = { INPUT: 0, FORWARD: 1, OUTPUT: 2 };

/** In the order every tool prints them. */
export const CHAINS_IN_ORDER: readonly Chain[] = CHAINS.toSorted((a, b) => ORDER[a] - ORDER[b]);

/** How often a rule (or, for null, the policy) has met the world's traffic. */
export function hits(
  machine: Machine,
  chain: Chain,
  rule: OsRule | null,
  protocol: OsRule['protocol'] = 'all',
): number {
  const hour = 3_600_000 + (machine.now - machine.start);
  return machine.world.flows.reduce((sum, flow) => {
    if (protocol !== 'all' && flow.protocol !== protocol) return sum;
    const found = trace(machine.world, {
      from: { kind: 'vm', name: flow.from },
      to: flow.to,
      protocol: flow.protocol,
      port: flow.port,
    });
    const met = found.request?.stations.some(
      (s) =>
        s.kind === 'os_firewall' &&
        s.vm === machine.name &&
        s.chain === chain &&
        s.rule === rule &&
        s.action !== (rule === null ? 'ACCEPT' : ''),
    );
    return met ? sum + Math.ceil(hour / flow.every_ms) : sum;
  }, 0);
}
