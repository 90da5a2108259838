/** Virtual machines as the CLI prints them. */
import type { Json, JsonObject } from '../../../core/index.ts';
import { macAddress } from '../../network/places.ts';
import type { PowerState, Vm, World } from '../../world/types.ts';
import { resourceId } from '../ids.ts';
import { child, guidFor, ref, resource, TYPES } from './common.ts';
import { nicId } from './network.ts';

export function vmShape(world: World, vm: Vm): JsonObject {
  const { etag: _, resourceGuid: __, ...head } = resource(world, vm.group, TYPES.vm, vm.name);
  const linux = vm.os === 'linux';
  return {
    ...head,
    additionalCapabilities: null,
    availabilitySet: null,
    diagnosticsProfile: { bootDiagnostics: { enabled: true } },
    hardwareProfile: { vmSize: 'Standard_D2s_v5' },
    networkProfile: { networkInterfaces: [{ ...ref(nicId(vm)), primary: true }] },
    osProfile: {
      adminUsername: 'azureuser',
      allowExtensionOperations: true,
      computerName: vm.name,
      linuxConfiguration: linux ? { disablePasswordAuthentication: true, provisionVMAgent: true } : null,
      secrets: [],
      windowsConfiguration: linux ? null : { enableAutomaticUpdates: true, provisionVMAgent: true },
    },
    priority: 'Regular',
    storageProfile: {
      dataDisks: [],
      imageReference: linux
        ? {
            offer: '0001-com-ubuntu-server-jammy',
            publisher: 'Canonical',
            sku: '22_04-lts-gen2',
            version: 'latest',
          }
        : {
            offer: 'WindowsServer',
            publisher: 'MicrosoftWindowsServer',
            sku: '2022-datacenter',
            version: 'latest',
          },
      osDisk: {
        caching: 'ReadWrite',
        createOption: 'FromImage',
        managedDisk: {
          ...ref(resourceId(vm.group, TYPES.disk, diskName(vm))),
          storageAccountType: 'Premium_LRS',
        },
        name: diskName(vm),
        osType: linux ? 'Linux' : 'Windows',
      },
    },
    tags: {},
    timeCreated: new Date(Date.parse(world.now) - 90 * 86_400_000).toISOString(),
    vmId: guidFor(`vm:${vm.name}`),
    zones: null,
  };
}

/** `-d`: what has to be asked elsewhere. */
export function vmDetails(vm: Vm): Record<string, Json> {
  return {
    fqdns: '',
    macAddresses: macAddress(vm).replaceAll(':', '-').toUpperCase(),
    powerState: powerText(vm.power),
    privateIps: vm.ip,
    publicIps: vm.public_ip ?? '',
  };
}

export function powerText(power: PowerState): string {
  return `VM ${power}`;
}

export function instanceView(world: World, vm: Vm, now: number): JsonObject {
  const running = vm.power === 'running';
  const time = new Date(now).toISOString();
  const level = 'Info';
  return {
    computerName: vm.name,
    disks: [
      {
        name: diskName(vm),
        statuses: [{ code: 'ProvisioningState/succeeded', displayStatus: 'Provisioning succeeded', level }],
      },
    ],
    extensions: running
      ? [
          {
            name: AGENT,
            statuses: [
              { code: 'ProvisioningState/succeeded', displayStatus: 'Provisioning succeeded', level },
            ],
            type: extensionType(vm),
            typeHandlerVersion: '1.4.3422.1',
          },
        ]
      : null,
    hyperVGeneration: 'V2',
    osName: vm.os === 'linux' ? 'ubuntu' : 'Windows Server 2022 Datacenter',
    osVersion: vm.os === 'linux' ? '22.04' : '10.0.20348.2340',
    statuses: [
      {
        code: 'ProvisioningState/succeeded',
        displayStatus: 'Provisioning succeeded',
        level,
        time: world.now,
      },
      { code: `PowerState/${vm.power}`, displayStatus: powerText(vm.power), level },
    ],
    vmAgent: running
      ? {
          statuses: [
            {
              code: 'ProvisioningState/succeeded',
              displayStatus: 'Ready',
              level,
              message: 'Guest Agent is running',
              time,
            },
          ],
          vmAgentVersion: '2.11.1.12',
        }
      : {
          statuses: [
            {
              code: 'ProvisioningState/Unavailable',
              displayStatus: 'Not Ready',
              level: 'Warning',
              message: 'VM status blob is found but not yet populated.',
              time,
            },
          ],
          vmAgentVersion: 'Unknown',
        },
  };
}

/** The extension packet captures need: every VM of the lab has it. */
export const AGENT = 'AzureNetworkWatcherExtension';

function extensionType(vm: Vm): string {
  return `Microsoft.Azure.NetworkWatcher.NetworkWatcherAgent${vm.os === 'linux' ? 'Linux' : 'Windows'}`;
}

export function extensionShape(world: World, vm: Vm): JsonObject {
  const { etag: _, ...head } = child(vm.group, TYPES.extension, vm.name, AGENT);
  return {
    ...head,
    autoUpgradeMinorVersion: true,
    enableAutomaticUpgrade: true,
    forceUpdateTag: null,
    instanceView: null,
    location: resource(world, vm.group, TYPES.vm, vm.name).location!,
    protectedSettings: null,
    publisher: 'Microsoft.Azure.NetworkWatcher',
    settings: null,
    tags: null,
    typeHandlerVersion: '1.4',
    typePropertiesType: extensionType(vm).split('.').at(-1)!,
  };
}

export function diskName(vm: Vm): string {
  return `${vm.name}_OsDisk`;
}
