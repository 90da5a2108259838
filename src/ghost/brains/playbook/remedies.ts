import { az, type ResourceRef, type Vm } from './inventory.ts';
import type { Flow, NsgRule } from './nsg.ts';

/**
 * What to recommend: the smallest change that lets through what was complained about, and one that can be taken
 * back. Adding beside what is there is preferred to changing it, and changing to deleting.
 */
type Direction = 'Inbound' | 'Outbound';

const LOWEST = 100;
/** Before every default rule, behind what people usually write. */
const BEFORE_DEFAULTS = 4000;

/** A rule of its own for exactly this conversation, before the rule that decides now. */
export function ruleBefore(
  access: 'Allow' | 'Deny',
  nsg: ResourceRef,
  decided: string,
  direction: Direction,
  flow: Flow,
  rules: readonly NsgRule[],
): readonly string[] {
  const scope = ['--resource-group', nsg.group, '--nsg-name', nsg.name];
  const rule = rules.find((r) => r.name === decided && r.direction === direction);
  const taken = new Set(rules.filter((r) => r.direction === direction).map((r) => r.priority));
  let priority = rule === undefined ? BEFORE_DEFAULTS : rule.priority - 1;
  while (taken.has(priority)) priority--;
  // With no place left before it, the rule itself has to go.
  if (priority < LOWEST) return [az('network', 'nsg', 'rule', 'delete', ...scope, '--name', decided)];
  const protocol = flow.protocol === 'udp' ? 'Udp' : flow.protocol === 'icmp' ? 'Icmp' : 'Tcp';
  const port = flow.port === null ? '*' : String(flow.port);
  const what = flow.port === null ? flow.protocol : `${flow.protocol}-${flow.port}`;
  const name = `${access.toLowerCase()}-${what}-${flow.source}-${flow.destination}`;
  return [
    az(
      ...['network', 'nsg', 'rule', 'create', ...scope, '--name', name],
      ...['--priority', String(priority), '--direction', direction, '--access', access],
      ...['--protocol', protocol, '--source-address-prefixes', flow.source],
      ...['--destination-address-prefixes', flow.destination, '--destination-port-ranges', port],
    ),
  ];
}

/** An acceptance of exactly this conversation, before what stops it inside the machine. */
export function acceptInside(vm: Vm, chain: 'INPUT' | 'OUTPUT' | 'FORWARD', flow: Flow): readonly string[] {
  if (!vm.linux) return [];
  const port = flow.port === null ? '' : ` --dport ${flow.port}`;
  const rule = `-s ${flow.source}/32 -d ${flow.destination}/32 --protocol ${flow.protocol}${port} -j ACCEPT`;
  return [inside(vm, `iptables -I ${chain} 1 ${rule}`)];
}

export function forwardInside(vm: Vm): readonly string[] {
  return vm.linux ? [inside(vm, 'sysctl -w net.ipv4.ip_forward=1')] : [];
}

function inside(vm: Vm, script: string): string {
  return az(
    ...['vm', 'run-command', 'invoke', '--resource-group', vm.group, '--name', vm.name],
    ...['--command-id', 'RunShellScript', '--scripts', script],
  );
}

/** The right address beside the wrong one, then the wrong one away: a name is never without an answer. */
export function moveRecord(
  zone: ResourceRef,
  name: string,
  from: string | null,
  to: string,
): readonly string[] {
  const words = (verb: string, address: string) =>
    az(
      ...['network', 'private-dns', 'record-set', 'a', verb, '--resource-group', zone.group],
      ...['--zone-name', zone.name, '--record-set-name', name, '--ipv4-address', address],
    );
  return [words('add-record', to), ...(from === null ? [] : [words('remove-record', from)])];
}
