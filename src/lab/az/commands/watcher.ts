import type { Json, JsonObject } from '../../../core/index.ts';
import { parseIp } from '../../network/ipv4.ts';
import { nsgVerdicts, type Packet } from '../../network/nsg.ts';
import { regionOfGroup, subnetOf, vnetOf } from '../../network/places.ts';
import { effectiveRoutes, selectRoute } from '../../network/routes.ts';
import { regionName } from '../../world/complete.ts';
import type { Direction, Vm, World } from '../../world/types.ts';
import { type Call, type Commands, needGroup } from '../call.ts';
import { AzError, armError } from '../errors.ts';
import { resourceId } from '../ids.ts';
import { child, guidFor, object, TYPES, WATCHER_GROUP, watcherName } from '../shapes/common.ts';
import { nicId, subnetId, vmId, vnetId } from '../shapes/network.ts';
import { vmByNameOrId } from './compute.ts';

export function needWatcher(world: World, region: string): string {
  const name = regionName(region);
  if (world.watchers.includes(name)) return name;
  throw new AzError(`network watcher is not enabled for region '${name}'.`);
}

export function vmNotRunning(): AzError {
  return armError('OperationNotAllowed', 'The operation requires the VM to be running (or set to run).');
}

/** The VM of `--vm`, in a region that is watched, running. */
export function watchedVm(call: Call, nameOrId: string): Vm {
  const vm = vmByNameOrId(call, nameOrId);
  needWatcher(call.world, regionOfGroup(call.world, vm.group));
  if (vm.power !== 'running') throw vmNotRunning();
  return vm;
}

function needOwnAddress(vm: Vm, ip: string, argument: string): void {
  if (parseIp(ip) === undefined)
    throw armError('InvalidIPAddress', `${argument}: '${ip}' is not a valid IPv4 address.`);
  if (ip !== vm.ip)
    throw armError(
      'IpAddressNotFoundOnNic',
      `The IP address ${ip} is not one of the network interface ${vm.nic} of VM ${vm.name}.`,
    );
}

function nextHop(call: Call): JsonObject {
  const vm = watchedVm(call, call.args.need('--vm'));
  needOwnAddress(vm, call.args.need('--source-ip'), '--source-ip');
  const destination = call.args.need('--dest-ip');
  if (parseIp(destination) === undefined)
    throw armError('InvalidIPAddress', `--dest-ip: '${destination}' is not a valid IPv4 address.`);
  const route = selectRoute(effectiveRoutes(call.world, vm), destination);
  const table = call.world.route_tables.find((t) => t.name === route.table);
  return object({
    nextHopIpAddress: route.nextHopIp ?? undefined,
    nextHopType: route.nextHopType,
    routeTableId: table ? resourceId(table.group, TYPES.table, table.name) : 'System Route',
  });
}

/** `10.0.0.4:443`; a star stands for some port. */
function addressAndPort(text: string, argument: string): { ip: string; port: number } {
  const match = /^(\d+\.\d+\.\d+\.\d+):(\d{1,5}|\*)$/.exec(text);
  if (!match || parseIp(match[1]!) === undefined)
    throw new AzError(`usage error: the format of the '${argument}' option is '<IP>:<PORT>'`, 2);
  return { ip: match[1]!, port: match[2] === '*' ? 60_000 : Number(match[2]) };
}

function ipFlow(call: Call): JsonObject {
  const vm = watchedVm(call, call.args.need('--vm'));
  const local = addressAndPort(call.args.need('--local'), '--local');
  const remote = addressAndPort(call.args.need('--remote'), '--remote');
  needOwnAddress(vm, local.ip, '--local');
  const direction: Direction = /^in/i.test(call.args.need('--direction')) ? 'Inbound' : 'Outbound';
  const [source, destination] = direction === 'Inbound' ? [remote, local] : [local, remote];
  const packet: Packet = {
    protocol: call.args.need('--protocol').toLowerCase() === 'udp' ? 'udp' : 'tcp',
    source: source.ip,
    sourcePort: source.port,
    destination: destination.ip,
    destinationPort: destination.port,
  };
  const verdict = nsgVerdicts(call.world, vm, direction, packet).at(-1);
  if (!verdict) return { access: 'Allow', ruleName: '' };
  return {
    access: verdict.access,
    ruleName: `${verdict.isDefault ? 'defaultSecurityRules' : 'securityRules'}/${verdict.rule}`,
  };
}

function topology(call: Call): JsonObject {
  const { world, args } = call;
  const group = needGroup(world, args.need('--resource-group'));
  needWatcher(world, args.text('--location') ?? regionOfGroup(world, group));
  const time = new Date(call.lab.now).toISOString();
  const item = (id: string, region: string | undefined, associations: readonly JsonObject[]) =>
    object({ associations, id, location: region, name: id.split('/').at(-1)! });
  const link = (id: string, associationType: 'Contains' | 'Associated') => ({
    associationType,
    name: id.split('/').at(-1)!,
    resourceId: id,
  });
  const region = regionOfGroup(world, group);
  const vnets = world.vnets.filter((v) => v.group === group);
  const vms = world.vms.filter((v) => v.group === group);
  const named = (type: string, owner: { group: string; name: string } | undefined) =>
    owner ? [link(resourceId(owner.group, type, owner.name), 'Associated')] : [];
  return {
    createdDateTime: time,
    id: guidFor(`topology:${group}`),
    lastModified: time,
    resources: [
      ...vnets.map((v) =>
        item(
          vnetId(v),
          region,
          v.subnets.map((s) => link(subnetId(v, s), 'Contains')),
        ),
      ),
      ...vnets.flatMap((v) =>
        v.subnets.map((s) =>
          item(subnetId(v, s), region, [
            ...named(
              TYPES.nsg,
              world.nsgs.find((n) => n.name === s.nsg),
            ),
            ...named(
              TYPES.table,
              world.route_tables.find((t) => t.name === s.route_table),
            ),
          ]),
        ),
      ),
      ...vms.map((v) => item(vmId(v), region, [link(nicId(v), 'Contains')])),
      ...vms.map((v) =>
        item(nicId(v), region, [
          link(vmId(v), 'Associated'),
          link(subnetId(vnetOf(world, v), subnetOf(world, v)), 'Associated'),
          ...named(
            TYPES.nsg,
            world.nsgs.find((n) => n.name === v.nic_nsg),
          ),
        ]),
      ),
    ],
  };
}

async function securityGroupView(call: Call): Promise<Json> {
  const vm = watchedVm(call, call.args.need('--vm'));
  const { nsgShape } = await import('../shapes/network.ts');
  const find = (name: string | null) => call.world.nsgs.find((n) => n.name === name);
  const view = (name: string | null) => {
    const nsg = find(name);
    return nsg ? (nsgShape(call.world, nsg).securityRules ?? []) : [];
  };
  return {
    networkInterfaces: [
      {
        id: nicId(vm),
        securityRuleAssociations: {
          networkInterfaceAssociation: { id: nicId(vm), securityRules: view(vm.nic_nsg) },
          subnetAssociation: {
            id: subnetId(vnetOf(call.world, vm), subnetOf(call.world, vm)),
            securityRules: view(subnetOf(call.world, vm).nsg),
          },
        },
      },
    ],
  };
}

export const watcherCommands: Commands = {
  'network watcher list': {
    run: (call) =>
      call.world.watchers.map((region) => ({
        ...child(WATCHER_GROUP, TYPES.watcher, watcherName(region)),
        location: region,
      })),
  },
  'network watcher show-next-hop': { run: nextHop },
  'network watcher test-ip-flow': { run: ipFlow },
  'network watcher test-connectivity': {
    run: async (call) => (await import('./connectivity.ts')).testConnectivity(call),
  },
  'network watcher show-topology': { run: topology },
  'network watcher show-security-group-view': { run: securityGroupView },
};
