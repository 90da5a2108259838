import { isJsonObject } from '../../../core/index.ts';
import type { Finding } from './finding.ts';
import { az, type Inventory, type ResourceRef, type Vm } from './inventory.ts';
import { contains, isPrivate } from './ipv4.ts';
import { jsonOf, type Notebook } from './notebook.ts';
import { ruleBefore } from './remedies.ts';

/** One conversation that is asked about. */
export interface Flow {
  readonly source: string;
  readonly destination: string;
  readonly port: number | null;
  readonly protocol: 'tcp' | 'udp' | 'icmp';
}

export interface NsgRule {
  readonly name: string;
  readonly priority: number;
  readonly direction: string;
  readonly access: string;
  readonly protocol: string;
  readonly sources: readonly string[];
  readonly destinations: readonly string[];
  readonly ports: readonly string[];
}

type Direction = 'Inbound' | 'Outbound';

/**
 * Asks the platform whether the effective rules at a machine's NIC let a conversation pass, and, when they do
 * not, which NSG holds the rule: three filters stand before a machine, and two of them are NSGs.
 */
export function checkNsg(
  notebook: Notebook,
  inventory: Inventory,
  vm: Vm,
  direction: Direction,
  flow: Flow,
): readonly Finding[] {
  const nsgs = nsgsOf(vm, direction);
  if (nsgs.length === 0) return [];
  if (flow.protocol === 'icmp') return localCheck(notebook, inventory, nsgs, direction, flow, []);
  const answer = notebook.ask(
    ipFlowCommand(vm, direction, flow),
    `Ask the platform whether the NSGs at ${vm.name} let ${describe(flow)} pass ${direction.toLowerCase()}.`,
  );
  const verdict = jsonOf(answer);
  if (answer.kind !== 'ok' || !isJsonObject(verdict))
    return localCheck(notebook, inventory, nsgs, direction, flow, []);
  if (String(verdict.access) !== 'Deny') return [];
  const rule = ruleName(String(verdict.rule ?? ''));
  if (nsgs.length === 1) return [denial(notebook, nsgs[0]!, rule, vm, direction, flow, [answer.auditId])];
  return localCheck(notebook, inventory, nsgs, direction, flow, [answer.auditId], rule);
}

/** Both directions of the question in one turn, before either is looked at. */
export function ipFlowCommand(
  vm: Vm,
  direction: Direction,
  flow: Flow,
  query = '{access:access,rule:ruleName}',
): string {
  const [local, remote] =
    direction === 'Outbound'
      ? [`${flow.source}:50000`, `${flow.destination}:${flow.port}`]
      : [`${flow.destination}:${flow.port}`, `${flow.source}:50000`];
  return az(
    ...[
      'network',
      'watcher',
      'test-ip-flow',
      '--resource-group',
      vm.group,
      '--vm',
      vm.name,
      '--direction',
      direction,
    ],
    ...['--protocol', flow.protocol === 'udp' ? 'UDP' : 'TCP', '--local', local, '--remote', remote],
    ...['--query', query, '--output', 'json'],
  );
}

/** The NSGs a packet meets, in the order it meets them. */
export function nsgsOf(vm: Vm, direction: Direction): readonly ResourceRef[] {
  const both = [vm.subnet.nsg, vm.nicNsg].filter((n): n is ResourceRef => n !== null);
  return direction === 'Inbound' ? both : both.reverse();
}

/** Azure names rules by path or with a prefix; people know them by their own name. */
function ruleName(reported: string): string {
  return (reported.split('/').at(-1) ?? reported).replace(/^(UserRule|DefaultRule|SecurityRule)_/i, '');
}

export function readRules(
  notebook: Notebook,
  nsg: ResourceRef,
): { readonly rules: readonly NsgRule[]; readonly auditId: string } | undefined {
  const query =
    '[].{name:name,priority:priority,direction:direction,access:access,protocol:protocol,src:sourceAddressPrefix,srcs:sourceAddressPrefixes,dst:destinationAddressPrefix,dsts:destinationAddressPrefixes,port:destinationPortRange,ports:destinationPortRanges}';
  const answer = notebook.ask(
    az(
      'network',
      'nsg',
      'rule',
      'list',
      '--resource-group',
      nsg.group,
      '--nsg-name',
      nsg.name,
      '--query',
      query,
      '--output',
      'json',
    ),
    `Read the rules of ${nsg.name}.`,
  );
  const list = jsonOf(answer);
  if (answer.kind !== 'ok' || !Array.isArray(list)) return undefined;
  return { rules: list.filter(isJsonObject).map(ruleOf), auditId: answer.auditId };
}

function ruleOf(raw: { readonly [key: string]: unknown }): NsgRule {
  const many = (one: unknown, list: unknown) => [
    ...(Array.isArray(list) ? list.map(String) : []),
    ...(typeof one === 'string' && one !== '' ? [one] : []),
  ];
  return {
    name: String(raw.name),
    priority: Number(raw.priority),
    direction: String(raw.direction),
    access: String(raw.access),
    protocol: String(raw.protocol),
    sources: many(raw.src, raw.srcs),
    destinations: many(raw.dst, raw.dsts),
    ports: many(raw.port, raw.ports),
  };
}

/** Walks the configured rules as the platform would; used to say which of two NSGs it was. */
function localCheck(
  notebook: Notebook,
  inventory: Inventory,
  nsgs: readonly ResourceRef[],
  direction: Direction,
  flow: Flow,
  evidence: readonly string[],
  reported?: string,
): readonly Finding[] {
  const vm = inventory.vms.find((v) => v.ip === (direction === 'Inbound' ? flow.destination : flow.source));
  for (const nsg of nsgs) {
    const read = readRules(notebook, nsg);
    if (read === undefined) continue;
    const decided = decide(read.rules, direction, flow);
    const ids = [...evidence, read.auditId];
    if (decided.access === 'Deny') return [denial(notebook, nsg, decided.name, vm, direction, flow, ids)];
    if (
      reported !== undefined &&
      read.rules.some((r) => r.name === reported && r.access === 'Deny' && r.direction === direction)
    )
      return [denial(notebook, nsg, reported, vm, direction, flow, ids)];
  }
  return reported !== undefined && nsgs[0]
    ? [denial(notebook, nsgs.at(-1)!, reported, vm, direction, flow, evidence)]
    : [];
}

export function decide(
  rules: readonly NsgRule[],
  direction: Direction,
  flow: Flow,
): { readonly name: string; readonly access: string } {
  const own = rules
    .filter((r) => r.direction === direction && r.priority < 65_000)
    .sort((a, b) => a.priority - b.priority);
  const first = own.find((r) => matches(r, flow));
  if (first) return first;
  if (isPrivate(flow.source) && isPrivate(flow.destination))
    return { name: direction === 'Inbound' ? 'AllowVnetInBound' : 'AllowVnetOutBound', access: 'Allow' };
  return direction === 'Inbound'
    ? { name: 'DenyAllInBound', access: 'Deny' }
    : { name: 'AllowInternetOutBound', access: 'Allow' };
}

export function matches(rule: NsgRule, flow: Flow): boolean {
  const protocol = rule.protocol === '*' || rule.protocol.toLowerCase() === flow.protocol;
  const port =
    flow.protocol === 'icmp' ||
    flow.port === null ||
    rule.ports.length === 0 ||
    rule.ports.some((p) => portMatches(p, flow.port!));
  return (
    protocol &&
    port &&
    rule.sources.some((s) => addressMatches(s, flow.source)) &&
    rule.destinations.some((d) => addressMatches(d, flow.destination))
  );
}

export function portMatches(range: string, port: number): boolean {
  if (range === '*') return true;
  const [from, to] = range.split('-').map(Number);
  return port >= (from ?? 0) && port <= (to ?? from ?? 0);
}

function addressMatches(pattern: string, address: string): boolean {
  if (pattern === '*' || /^any$/i.test(pattern)) return true;
  if (/^VirtualNetwork$/i.test(pattern)) return isPrivate(address);
  if (/^Internet$/i.test(pattern)) return !isPrivate(address);
  if (/^(Storage|Sql)/i.test(pattern)) return !isPrivate(address);
  return contains(pattern, address);
}

function denial(
  notebook: Notebook,
  nsg: ResourceRef,
  rule: string,
  vm: Vm | undefined,
  direction: Direction,
  flow: Flow,
  evidence: readonly string[],
): Finding {
  const rules = readRules(notebook, nsg)?.rules ?? [];
  return {
    kind: 'nsg_deny',
    resource: nsg.name,
    detail: rule,
    explanation: `NSG ${nsg.name} denies ${describe(flow)} ${direction.toLowerCase()}${vm ? ` at ${vm.name}` : ''} by rule ${rule}.`,
    evidence,
    remedies: ruleBefore('Allow', nsg, rule, direction, flow, rules),
  };
}

export function describe(flow: Flow): string {
  return `${flow.protocol.toUpperCase()} ${flow.source} → ${flow.destination}${flow.port === null ? '' : `:${flow.port}`}`;
}
