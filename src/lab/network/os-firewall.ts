/** The VM's own firewall: ordered rules, first match wins, then the chain's policy. */
import type { Chain, OsRule, Vm } from '../world/types.ts';
import { inPrefix } from './ipv4.ts';
import { inPortRange, type Packet } from './nsg.ts';

export interface OsVerdict {
  readonly rule: OsRule | null;
  readonly action: 'ACCEPT' | 'DROP' | 'REJECT';
}

/** For the first packet of a conversation: what belongs to an accepted one passes without being asked. */
export function osVerdict(vm: Vm, chain: Chain, packet: Packet): OsVerdict {
  const rule = vm.os_firewall.find((r) => r.chain === chain && matches(r, packet));
  return rule ? { rule, action: rule.action } : { rule: null, action: vm.os_policy[chain] };
}

function matches(rule: OsRule, packet: Packet): boolean {
  if (rule.protocol !== 'all' && rule.protocol !== packet.protocol) return false;
  if (rule.source !== null && !inPrefix(rule.source, packet.source)) return false;
  if (rule.destination !== null && !inPrefix(rule.destination, packet.destination)) return false;
  if (rule.port === null) return true;
  const port = packet.destinationPort;
  return port !== null && rule.port.some((text) => inPortRange(text, port));
}
