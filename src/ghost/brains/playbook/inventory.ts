import { quoteArgv } from '../../../core/index.ts';
import type { Answer, Notebook } from './notebook.ts';

/** What there is, read once: machines, their NICs, subnets. Everything later refers to it by name. */
export interface Vm {
  readonly name: string;
  readonly group: string;
  readonly location: string;
  readonly running: boolean;
  readonly power: string;
  readonly ip: string;
  readonly publicIp: string | null;
  readonly nic: string;
  readonly nicGroup: string;
  readonly nicNsg: ResourceRef | null;
  readonly forwarding: boolean;
  /** Guests that answer shell scripts. */
  readonly linux: boolean;
  readonly subnet: Subnet;
}

export interface ResourceRef {
  readonly name: string;
  readonly group: string;
}

export interface Subnet {
  readonly name: string;
  readonly vnet: ResourceRef;
  readonly prefix: string;
  readonly nsg: ResourceRef | null;
  readonly routeTable: ResourceRef | null;
  readonly endpoints: readonly string[];
}

export interface Inventory {
  readonly vms: readonly Vm[];
  readonly subnets: readonly Subnet[];
  /** Audit ids of the reads behind it. */
  readonly evidence: { readonly vms: string; readonly nics: string; readonly subnets: string };
}

export const az = (...words: readonly string[]) => quoteArgv(['az', ...words]);

const VMS = az(
  'vm',
  'list',
  '--show-details',
  '--query',
  '[].[name,resourceGroup,location,powerState,privateIps,publicIps,storageProfile.osDisk.osType]',
  '--output',
  'tsv',
);
const NICS = az(
  ...['network', 'nic', 'list', '--query'],
  '[].[name,resourceGroup,virtualMachine.id,ipConfigurations[0].privateIPAddress,ipConfigurations[0].subnet.id,networkSecurityGroup.id,enableIPForwarding]',
  ...['--output', 'tsv'],
);
const SUBNETS = az(
  ...['network', 'vnet', 'list', '--query'],
  '[].subnets[].[id,addressPrefix||addressPrefixes[0],networkSecurityGroup.id,routeTable.id,to_string(serviceEndpoints[].service)]',
  ...['--output', 'tsv'],
);

export function readInventory(notebook: Notebook): Inventory | string {
  const [vms, nics, subnets] = notebook.askAll([
    { command: VMS, reasoning: 'List the machines with their power state and addresses.' },
    {
      command: NICS,
      reasoning: 'List the network interfaces: which subnet, NSG and forwarding each machine has.',
    },
    { command: SUBNETS, reasoning: 'List the subnets with their NSG, route table and service endpoints.' },
  ]) as readonly [Answer, Answer, Answer];
  for (const answer of [vms, nics, subnets])
    if (answer.kind !== 'ok')
      return answer.kind === 'denied'
        ? `reading the inventory was denied: ${answer.reason}`
        : `the inventory could not be read: ${answer.output.slice(0, 200)}`;
  const nets = rows(subnets).flatMap((cells) => subnetOf(cells));
  const cards = rows(nics);
  const machines = rows(vms).flatMap(
    ([name = '', group = '', location = '', power = '', ips = '', publicIps = '', os = '']): Vm[] => {
      const card = cards.find((c) => (lastSegment(c[2]) ?? '').toLowerCase() === name.toLowerCase());
      const subnet = nets.find((s) => sameSubnet(s, card?.[4] ?? ''));
      if (card === undefined || subnet === undefined) return [];
      return [
        {
          name,
          group: group.toLowerCase() === (card[1] ?? '').toLowerCase() ? (card[1] ?? group) : group,
          location,
          power: power.replace(/^VM /, ''),
          running: /running/i.test(power),
          ip: card[3] || ips.split(',')[0] || '',
          publicIp: blank(publicIps) ? null : (publicIps.split(',')[0] ?? null),
          nic: card[0] ?? '',
          nicGroup: card[1] ?? '',
          nicNsg: refOf(card[5]),
          linux: !/windows/i.test(os),
          forwarding: /^true$/i.test(card[6] ?? ''),
          subnet,
        },
      ];
    },
  );
  const id = (answer: Answer) => (answer.kind === 'ok' ? answer.auditId : '');
  return { vms: machines, subnets: nets, evidence: { vms: id(vms), nics: id(nics), subnets: id(subnets) } };
}

/** Tab-separated output as cells; Azure prints nothing, None or null for what is not there. */
export function rows(answer: Answer): readonly (readonly string[])[] {
  if (answer.kind !== 'ok') return [];
  return answer.output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split('\t').map((cell) => cell.trim()));
}

export const blank = (cell: string | undefined) =>
  cell === undefined || cell === '' || cell === 'None' || cell === 'null';

/** Resource ids come with the subscription redacted, so only group and name are taken from them. */
export function refOf(id: string | undefined): ResourceRef | null {
  if (blank(id)) return null;
  const match = /\/resourceGroups\/([^/]+)\/.*\/([^/]+)$/i.exec(id!);
  return match ? { group: match[1]!, name: match[2]! } : null;
}

function lastSegment(id: string | undefined): string | undefined {
  return blank(id) ? undefined : id!.split('/').at(-1);
}

function subnetOf([id = '', prefix = '', nsg, table, endpoints]: readonly string[]): readonly Subnet[] {
  const match = /\/resourceGroups\/([^/]+)\/.*\/virtualNetworks\/([^/]+)\/subnets\/([^/]+)$/i.exec(id);
  if (!match) return [];
  return [
    {
      name: match[3]!,
      vnet: { group: match[1]!, name: match[2]! },
      prefix,
      nsg: refOf(nsg),
      routeTable: refOf(table),
      endpoints: endpoints?.match(/Microsoft\.[A-Za-z.]+/g) ?? [],
    },
  ];
}

function sameSubnet(subnet: Subnet, id: string): boolean {
  return id
    .toLowerCase()
    .endsWith(`/virtualnetworks/${subnet.vnet.name}/subnets/${subnet.name}`.toLowerCase());
}

export function vmAt(inventory: Inventory, ip: string): Vm | undefined {
  return inventory.vms.find((vm) => vm.ip === ip || vm.publicIp === ip);
}
