import type { Json, JsonObject } from '../../../core/index.ts';
import type { PowerState, Vm } from '../../world/types.ts';
import { type Call, type Commands, commit, findIn, needGroup, optionalGroup } from '../call.ts';
import { armError, childNotFound, resourceNotFound } from '../errors.ts';
import { parseResourceId, resourceId } from '../ids.ts';
import { TYPES } from '../shapes/common.ts';
import { AGENT, extensionShape, instanceView, vmDetails, vmShape } from '../shapes/compute.ts';
import { nicId, publicIpName, vmId } from '../shapes/network.ts';

/** The VM of `-g` and the given name argument. */
export function needVm(call: Call, argument = '--name'): Vm {
  return vmNamed(call, call.args.need('--resource-group'), call.args.need(argument));
}

export function vmNamed(call: Call, groupName: string, name: string): Vm {
  const group = needGroup(call.world, groupName);
  const vm = findIn(call.world.vms, group, name, (v) => v.name);
  if (!vm) throw resourceNotFound(TYPES.vm, name, group);
  return vm;
}

/** `--vm`: a name in `-g`, or a full id. */
export function vmByNameOrId(call: Call, nameOrId: string): Vm {
  const parts = parseResourceId(nameOrId);
  if (parts) return vmNamed(call, parts.group, parts.names[0]!);
  const group = call.args.text('--resource-group');
  if (group === undefined)
    throw armError('MissingParameter', 'usage error: --vm NAME --resource-group NAME | --vm ID');
  return vmNamed(call, group, nameOrId);
}

function vmRow(vm: JsonObject): Json {
  const { name, resourceGroup, powerState = null, publicIps = null, fqdns = null, location } = vm;
  return { name, resourceGroup, powerState, publicIps, fqdns, location, zones: '' } as Json;
}

const asRows = (result: Json) =>
  (Array.isArray(result) ? result : [result]).map((vm) => vmRow(vm as JsonObject));

function ipAddresses(call: Call): Json {
  const group = optionalGroup(call);
  const name = call.args.text('--name')?.toLowerCase();
  return call.world.vms
    .filter(
      (v) =>
        (group === undefined || v.group === group) && (name === undefined || v.name.toLowerCase() === name),
    )
    .map((v) => ({
      virtualMachine: {
        name: v.name,
        network: {
          privateIpAddresses: [v.ip],
          publicIpAddresses:
            v.public_ip === null
              ? []
              : [
                  {
                    id: resourceId(v.group, TYPES.publicIp, publicIpName(v)),
                    ipAddress: v.public_ip,
                    ipAllocationMethod: 'Static',
                    name: publicIpName(v),
                    resourceGroup: v.group,
                    zone: null,
                  },
                ],
        },
        resourceGroup: v.group,
      },
    }));
}

async function setPower(call: Call, power: PowerState, operation: string): Promise<undefined> {
  const vm = needVm(call);
  await commit(call, [{ op: 'replace', path: `/vms/${call.world.vms.indexOf(vm)}/power`, value: power }], {
    operation: `Microsoft.Compute/virtualMachines/${operation}/action`,
    resource: vmId(vm),
    group: vm.group,
  });
  return undefined;
}

export const computeCommands: Commands = {
  'vm list': {
    run: (call) => {
      const group = optionalGroup(call);
      const details = call.args.flag('--show-details') === true;
      return call.world.vms
        .filter((v) => group === undefined || v.group === group)
        .map((v) => ({ ...vmShape(call.world, v), ...(details ? vmDetails(v) : {}) }));
    },
    table: asRows,
  },
  'vm show': {
    run: (call) => {
      const vm = needVm(call);
      return { ...vmShape(call.world, vm), ...(call.args.flag('--show-details') ? vmDetails(vm) : {}) };
    },
    table: asRows,
  },
  'vm get-instance-view': {
    run: (call) => {
      const vm = needVm(call);
      return { ...vmShape(call.world, vm), instanceView: instanceView(call.world, vm, call.lab.now) };
    },
    table: (result) => {
      const { name, resourceGroup, location, instanceView: view } = result as JsonObject;
      const statuses = (view as { statuses: { displayStatus: string }[] }).statuses;
      return {
        Name: name!,
        ResourceGroup: resourceGroup!,
        Location: location!,
        ProvisioningState: 'Succeeded',
        PowerState: statuses[1]!.displayStatus,
      };
    },
  },
  'vm list-ip-addresses': {
    run: ipAddresses,
    table: (result) =>
      (
        result as readonly {
          virtualMachine: {
            name: string;
            network: { privateIpAddresses: string[]; publicIpAddresses: { ipAddress: string }[] };
          };
        }[]
      ).map(({ virtualMachine: { name, network } }) => ({
        virtualMachine: name,
        publicIPAddresses: network.publicIpAddresses.map((p) => p.ipAddress).join(','),
        privateIPAddresses: network.privateIpAddresses.join(','),
      })),
  },
  'vm nic list': {
    run: (call) => {
      const vm = needVm(call, '--vm-name');
      return [{ deleteOption: null, id: nicId(vm), primary: true, resourceGroup: vm.group }];
    },
  },
  'vm nic show': {
    run: async (call) => {
      const vm = needVm(call, '--vm-name');
      const { nicShape } = await import('../shapes/network.ts');
      return nicShape(call.world, vm);
    },
  },
  'vm extension list': { run: (call) => [extensionShape(call.world, needVm(call, '--vm-name'))] },
  'vm extension show': {
    run: (call) => {
      const vm = needVm(call, '--vm-name');
      const name = call.args.need('--name');
      if (name.toLowerCase() === AGENT.toLowerCase()) return extensionShape(call.world, vm);
      throw childNotFound(resourceId(vm.group, TYPES.extension, vm.name, name));
    },
  },
  'vm start': { writes: true, run: (call) => setPower(call, 'running', 'start') },
  'vm restart': { writes: true, run: (call) => setPower(call, 'running', 'restart') },
  'vm stop': { writes: true, run: (call) => setPower(call, 'stopped', 'powerOff') },
  'vm deallocate': { writes: true, run: (call) => setPower(call, 'deallocated', 'deallocate') },
  'vm run-command invoke': {
    writes: true,
    run: async (call) => (await import('../../guest/run-command.ts')).runCommand(call, needVm(call)),
  },
};
