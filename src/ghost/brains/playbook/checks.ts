import type { FailedCheck, Finding } from './finding.ts';
import { az, type Vm } from './inventory.ts';
import { type Flow, ipFlowCommand } from './nsg.ts';

/** What shows a fault now and would show that it is gone: by what is answered, not by how a command ends. */
type Direction = 'Inbound' | 'Outbound';

/** What shows that a conversation fails, and that it does not any more. */
export function conversationCheck(
  client: Vm,
  to: string,
  flow: Pick<Flow, 'port' | 'protocol'>,
): FailedCheck {
  const target =
    flow.port === null ? ['--protocol', 'Icmp'] : ['--protocol', 'Tcp', '--dest-port', String(flow.port)];
  return {
    command: az(
      ...['network', 'watcher', 'test-connectivity', '--resource-group', client.group],
      ...['--source-resource', client.name, '--dest-address', to, ...target],
      ...['--query', 'connectionStatus', '--output', 'tsv'],
    ),
    expected: 'Reachable',
  };
}

/** The rules alone, for what the platform cannot try out: UDP, and partners outside. */
export function rulesCheck(
  vm: Vm,
  direction: Direction,
  flow: Flow,
  expected: 'Allow' | 'Deny',
): readonly FailedCheck[] {
  if (flow.protocol === 'icmp' || flow.port === null) return [];
  return [{ command: ipFlowCommand(vm, direction, flow, 'access'), expected: JSON.stringify(expected) }];
}

/** How the failure of a conversation between two machines is shown again. */
export function checksBetween(client: Vm, server: Vm, flow: Flow): readonly FailedCheck[] {
  if (flow.protocol !== 'udp') return [conversationCheck(client, server.ip, flow)];
  return [...rulesCheck(client, 'Outbound', flow, 'Allow'), ...rulesCheck(server, 'Inbound', flow, 'Allow')];
}

/**
 * A storage account lets everybody connect and refuses in words, so its own words are asked for from inside a
 * client that can be asked; and both sides of the setting are read.
 */
export function storageChecks(account: string, client: Vm): readonly FailedCheck[] {
  const { name, vnet } = client.subnet;
  const allowed = `contains(to_string(networkRuleSet.virtualNetworkRules[].virtualNetworkResourceId),'/virtualNetworks/${vnet.name}/subnets/${name}')`;
  const refused = "contains(value[0].message,'AuthorizationFailure')";
  const settings = [
    az('storage', 'account', 'show', '--name', account, '--query', allowed, '--output', 'json'),
    az(
      ...['network', 'vnet', 'subnet', 'show', '--resource-group', vnet.group, '--vnet-name', vnet.name],
      ...['--name', name, '--query', "contains(to_string(serviceEndpoints[].service),'Microsoft.Storage')"],
      ...['--output', 'json'],
    ),
  ];
  const asked = az(
    ...['vm', 'run-command', 'invoke', '--resource-group', client.group, '--name', client.name],
    ...[
      '--command-id',
      'RunShellScript',
      '--scripts',
      `curl -s -m 20 https://${account}.blob.core.windows.net/`,
    ],
    ...['--query', `contains(value[0].message,'<Code>') && !${refused}`, '--output', 'json'],
  );
  const commands = client.linux && client.running ? [...settings, asked] : settings;
  return commands.map((command) => ({ command, expected: 'true' }));
}

export function withChecks(findings: readonly Finding[], checks: readonly FailedCheck[]): readonly Finding[] {
  return findings.map((f) => ({ ...f, checks: [...(f.checks ?? []), ...checks] }));
}
