import { isJsonObject } from '../../../core/index.ts';
import type { Finding } from './finding.ts';
import { az, type Inventory, rows, type Subnet, type Vm } from './inventory.ts';
import { jsonOf, type Notebook } from './notebook.ts';
import { checkNsg } from './nsg.ts';
import { followRoute } from './routes.ts';

const ACCOUNTS = az('storage', 'account', 'list', '--query', '[].[name,resourceGroup]', '--output', 'tsv');

export function storageAccounts(
  notebook: Notebook,
): readonly { readonly name: string; readonly group: string }[] {
  const answer = notebook.ask(
    ACCOUNTS,
    'List the storage accounts: one of them may be meant, and captures need one.',
  );
  return rows(answer).map(([name = '', group = '']) => ({ name, group }));
}

/**
 * A storage account and a subnet that uses it: the firewall allows a subnet, the subnet needs the endpoint.
 * The failure may live between two healthy parts, so both sides are looked at together.
 */
export function checkStorage(
  notebook: Notebook,
  inventory: Inventory,
  account: string,
  clients: readonly Vm[],
): { readonly findings: readonly Finding[]; readonly cleared: readonly string[] } {
  const query =
    '{group:resourceGroup,default:networkRuleSet.defaultAction,subnets:networkRuleSet.virtualNetworkRules[].virtualNetworkResourceId}';
  const answer = notebook.ask(
    az('storage', 'account', 'show', '--name', account, '--query', query, '--output', 'json'),
    `Read the firewall of ${account}, beside the endpoints of the subnets that use it.`,
  );
  const shown = jsonOf(answer);
  if (answer.kind !== 'ok' || !isJsonObject(shown)) return { findings: [], cleared: [] };
  const allowed = (Array.isArray(shown.subnets) ? shown.subnets : []).map((id) => String(id).toLowerCase());
  const findings = clients.flatMap((vm): readonly Finding[] => {
    const { subnet } = vm;
    const listed = allowed.some((id) =>
      id.endsWith(`/virtualnetworks/${subnet.vnet.name}/subnets/${subnet.name}`.toLowerCase()),
    );
    const endpoint = subnet.endpoints.some((e) => /^Microsoft\.Storage/i.test(e));
    const place = `${subnet.vnet.name}/${subnet.name}`;
    const reachable = String(shown.default) === 'Allow' || (listed && endpoint);
    if (reachable) return [];
    if (listed) {
      return [
        {
          kind: 'service_endpoint_missing',
          resource: account,
          detail: place,
          explanation: `${account} allows subnet ${place}, but the subnet has no Microsoft.Storage service endpoint${subnet.endpoints.length > 0 ? ` (it has ${subnet.endpoints.join(', ')})` : ''}, so its traffic arrives from outside and is refused.`,
          evidence: [answer.auditId, inventory.evidence.subnets],
          remedies: [endpointCommand(subnet)],
        },
      ];
    }
    return [
      {
        kind: 'storage_firewall',
        resource: account,
        detail: place,
        explanation: `The firewall of ${account} denies by default and does not list subnet ${place}.`,
        evidence: [answer.auditId, inventory.evidence.subnets],
        remedies: [
          ...(endpoint ? [] : [endpointCommand(subnet)]),
          az(
            ...['storage', 'account', 'network-rule', 'add', '--resource-group', String(shown.group)],
            ...['--account-name', account, '--vnet-name', subnet.vnet.name, '--subnet', subnet.name],
          ),
        ],
      },
    ];
  });
  return { findings, cleared: [answer.auditId] };
}

/** The endpoints there are, and the one for storage. */
function endpointCommand(subnet: Subnet): string {
  return az(
    ...['network', 'vnet', 'subnet', 'update', '--resource-group', subnet.vnet.group],
    ...['--vnet-name', subnet.vnet.name, '--name', subnet.name],
    ...['--service-endpoints', ...subnet.endpoints, 'Microsoft.Storage'],
  );
}

/** The way out of the network to the account's public address. */
export function checkWayToStorage(
  notebook: Notebook,
  inventory: Inventory,
  account: string,
  client: Vm,
  port: number,
): readonly Finding[] {
  const looked = notebook.ask(
    `dig +short ${account}.blob.core.windows.net`,
    `Find the public address of ${account}, to ask the platform about the way to it.`,
  );
  const address = looked.kind === 'ok' ? /^\d+\.\d+\.\d+\.\d+$/m.exec(looked.output)?.[0] : undefined;
  if (address === undefined) return [];
  const leg = followRoute(notebook, inventory, client, address);
  return [
    ...checkNsg(notebook, inventory, client, 'Outbound', {
      source: client.ip,
      destination: address,
      port,
      protocol: 'tcp',
    }),
    ...(leg.kind === 'broken' ? [leg.finding] : []),
  ];
}
