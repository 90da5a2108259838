import { quoteArgv } from '../core/index.ts';
import type { CleanupStep } from './types.ts';

/**
 * Every command the orchestrator can send, in one place, as the real Azure CLI wants it.
 *
 * C1 `packet-capture create` takes the VM's resource group; show-status, show, stop, delete and list take
 *    `--location`, which is the VM's region (the watcher's), not the resource group's. The seed says
 *    `--resource-group`; the CLI disagrees and wins.
 * C2 Every `az storage` data command carries `--auth-mode`.
 * C3 Answers are narrowed with `--query` at the source, so that the shell never has to truncate them.
 */
const az = (...words: readonly string[]) => quoteArgv(['az', ...words]);

export type AuthMode = 'login' | 'key';

export interface BlobPlace {
  readonly account: string;
  readonly container: string;
  readonly name: string;
}

/** VMs and clusters only: a NIC or disk of the same name cannot win. */
const SUPPORTED_TYPES =
  "[?type=='Microsoft.Compute/virtualMachines' || type=='Microsoft.ContainerService/managedClusters'].type";

export const commands = {
  detectByName: (group: string, name: string) =>
    az(
      'resource',
      'list',
      '--resource-group',
      group,
      '--name',
      name,
      '--query',
      SUPPORTED_TYPES,
      '--output',
      'tsv',
    ),
  detectById: (id: string) => az('resource', 'show', '--ids', id, '--query', 'type', '--output', 'tsv'),
  vmFacts: (group: string, name: string) =>
    az(
      'vm',
      'show',
      '--resource-group',
      group,
      '--name',
      name,
      '--query',
      '{location:location,os:storageProfile.osDisk.osType}',
      '--output',
      'json',
    ),
  vmExtensions: (group: string, vm: string) =>
    az(
      'vm',
      'extension',
      'list',
      '--resource-group',
      group,
      '--vm-name',
      vm,
      '--query',
      '[].typePropertiesType',
      '--output',
      'json',
    ),
  accountFacts: (account: string) =>
    az(
      'storage',
      'account',
      'show',
      '--name',
      account,
      '--query',
      '{blob:primaryEndpoints.blob,group:resourceGroup}',
      '--output',
      'json',
    ),
  containerExists: (account: string, container: string, auth: AuthMode) =>
    az(
      'storage',
      'container',
      'exists',
      '--account-name',
      account,
      '--name',
      container,
      '--auth-mode',
      auth,
      '--query',
      'exists',
      '--output',
      'tsv',
    ),
  createCapture: (c: {
    group: string;
    vm: string;
    name: string;
    account: string;
    path: string;
    seconds: number;
  }) =>
    az(
      ...[
        'network',
        'watcher',
        'packet-capture',
        'create',
        '--resource-group',
        c.group,
        '--vm',
        c.vm,
        '--name',
        c.name,
      ],
      ...['--storage-account', c.account, '--storage-path', c.path, '--time-limit', String(c.seconds)],
      ...['--query', 'provisioningState', '--output', 'tsv'],
    ),
  captureStatus: (location: string, name: string) =>
    az(
      'network',
      'watcher',
      'packet-capture',
      'show-status',
      '--location',
      location,
      '--name',
      name,
      '--query',
      'packetCaptureStatus',
      '--output',
      'tsv',
    ),
  capturePath: (location: string, name: string) =>
    az(
      'network',
      'watcher',
      'packet-capture',
      'show',
      '--location',
      location,
      '--name',
      name,
      '--query',
      'storageLocation.storagePath',
      '--output',
      'tsv',
    ),
  deleteCapture: (location: string, name: string) =>
    az('network', 'watcher', 'packet-capture', 'delete', '--location', location, '--name', name),
  downloadBlob: (blob: BlobPlace, file: string, auth: AuthMode) =>
    az(
      'storage',
      'blob',
      'download',
      ...blobWords(blob),
      '--file',
      file,
      '--auth-mode',
      auth,
      '--no-progress',
      '--output',
      'none',
    ),
  deleteBlob: (blob: BlobPlace, auth: AuthMode) =>
    az('storage', 'blob', 'delete', ...blobWords(blob), '--auth-mode', auth),
  removeFile: (file: string) => quoteArgv(['rm', '--', file]),
  analyze: (file: string, folder: string, other?: string) =>
    quoteArgv([
      'pcap-forensics',
      file,
      ...(other ? ['--compare', other] : []),
      '--semantic-dir',
      folder,
      '--report-dir',
      folder,
    ]),
  watcherRegions: () => az('network', 'watcher', 'list', '--query', '[].location', '--output', 'tsv'),
  /** Names only, a page at a time: a long list must not be truncated on its way. */
  listCaptures: (location: string, from: number, size: number) =>
    az(
      ...['network', 'watcher', 'packet-capture', 'list', '--location', location, '--output', 'tsv'],
      ...['--query', `[?starts_with(name,'ghost_')].name | [${from}:${from + size}]`],
    ),
} as const;

function blobWords(blob: BlobPlace): readonly string[] {
  return ['--account-name', blob.account, '--container-name', blob.container, '--name', blob.name];
}

/** The undo of everything a task will create, cloud first. Registered before the first of it exists. */
export function cleanupPlan(task: {
  location: string;
  name: string;
  blob: BlobPlace;
  auth: AuthMode;
  file: string;
}): readonly CleanupStep[] {
  const step = (kind: CleanupStep['kind'], resource: string, command: string): CleanupStep => ({
    kind,
    resource,
    command,
    executed: false,
    outcome: null,
  });
  return [
    step(
      'capture',
      `packet capture ${task.name} in ${task.location}`,
      commands.deleteCapture(task.location, task.name),
    ),
    step(
      'blob',
      `blob ${task.blob.container}/${task.blob.name} in ${task.blob.account}`,
      commands.deleteBlob(task.blob, task.auth),
    ),
    step('local', `local file ${task.file}`, commands.removeFile(task.file)),
  ];
}
