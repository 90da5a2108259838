import { quoteArgv } from '../core/index.ts';
import type { BlobPlace, CapturePlace, VmPlace } from './types.ts';

/**
 * Every command the orchestrator can send, in one place, as the real Azure CLI wants it.
 *
 * C1 `packet-capture create` takes the VM's resource group; show-status, show, delete and list take
 *    `--location`, which is the VM's region (the watcher's), not the resource group's. The seed says
 *    `--resource-group`; the CLI disagrees and wins.
 * C2 Every `az storage` data command carries `--auth-mode`.
 * C3 Answers are narrowed with `--query` at the source, so that the shell never has to truncate them.
 * C4 A target given by its full id may live in another subscription than the one az is set to: every command
 *    about it says which.
 * C5 No value begins with `-` or `@`: az would read an option, or a file.
 */
type Options = Readonly<Record<string, string | number | null>>;

function az(command: string, options: Options): string {
  const words = Object.entries(options).flatMap(([name, value]) =>
    value === null ? [] : [name, String(value)],
  );
  const odd = words.find((word, i) => i % 2 === 1 && /^[-@]/.test(word));
  if (odd !== undefined) throw new Error(`"${odd}" cannot be an argument of az`);
  return quoteArgv(['az', ...command.split(' '), ...words]);
}

export type AuthMode = 'login' | 'key';

const in_ = (place: { readonly subscription: string | null }) => ({ '--subscription': place.subscription });
const answer = (query: string, output: 'tsv' | 'json' = 'tsv') => ({ '--query': query, '--output': output });
const ofCapture = (c: CapturePlace) => ({ '--location': c.location, '--name': c.name, ...in_(c) });
const ofBlob = (b: BlobPlace) => ({
  '--account-name': b.account,
  '--container-name': b.container,
  '--name': b.name,
  ...in_(b),
});

/** VMs and clusters only: a NIC or disk of the same name cannot win. */
const SUPPORTED_TYPES =
  "[?type=='Microsoft.Compute/virtualMachines' || type=='Microsoft.ContainerService/managedClusters'].type";

export const commands = {
  detectByName: (group: string, name: string) =>
    az('resource list', { '--resource-group': group, '--name': name, ...answer(SUPPORTED_TYPES) }),
  detectById: (id: string) => az('resource show', { '--ids': id, ...answer('type') }),
  vmFacts: (vm: VmPlace) =>
    az('vm show', {
      '--resource-group': vm.group,
      '--name': vm.name,
      ...in_(vm),
      ...answer('{location:location,os:storageProfile.osDisk.osType}', 'json'),
    }),
  vmExtensions: (vm: VmPlace) =>
    az('vm extension list', {
      '--resource-group': vm.group,
      '--vm-name': vm.name,
      ...in_(vm),
      ...answer('[].typePropertiesType', 'json'),
    }),
  accountFacts: (account: string, subscription: string | null) =>
    az('storage account show', {
      '--name': account,
      ...in_({ subscription }),
      ...answer('{blob:primaryEndpoints.blob,group:resourceGroup}', 'json'),
    }),
  containerExists: (place: Omit<BlobPlace, 'name'>, auth: AuthMode) =>
    az('storage container exists', {
      '--account-name': place.account,
      '--name': place.container,
      ...in_(place),
      '--auth-mode': auth,
      ...answer('exists'),
    }),
  createCapture: (vm: VmPlace, name: string, account: string, path: string, seconds: number) =>
    az('network watcher packet-capture create', {
      '--resource-group': vm.group,
      '--vm': vm.name,
      '--name': name,
      ...in_(vm),
      '--storage-account': account,
      '--storage-path': path,
      '--time-limit': seconds,
      ...answer('provisioningState'),
    }),
  captureStatus: (capture: CapturePlace) =>
    az('network watcher packet-capture show-status', {
      ...ofCapture(capture),
      ...answer('packetCaptureStatus'),
    }),
  capturePath: (capture: CapturePlace) =>
    az('network watcher packet-capture show', {
      ...ofCapture(capture),
      ...answer('storageLocation.storagePath'),
    }),
  deleteCapture: (capture: CapturePlace) => az('network watcher packet-capture delete', ofCapture(capture)),
  downloadBlob: (blob: BlobPlace, file: string, auth: AuthMode) =>
    `${az('storage blob download', { ...ofBlob(blob), '--file': file, '--auth-mode': auth, '--output': 'none' })} --no-progress`,
  deleteBlob: (blob: BlobPlace, auth: AuthMode) =>
    az('storage blob delete', { ...ofBlob(blob), '--auth-mode': auth }),
  removeFile: (file: string) => quoteArgv(['rm', '--', file]),
  analyze: (file: string, folder: string, other?: string) =>
    quoteArgv([
      ...['pcap-forensics', file, ...(other ? ['--compare', other] : [])],
      ...['--semantic-dir', folder, '--report-dir', folder],
    ]),
  watcherRegions: () => az('network watcher list', answer('[].location')),
  /** Names only, a page at a time: a long list must not be truncated on its way. */
  listCaptures: (location: string, from: number, size: number) =>
    az('network watcher packet-capture list', {
      '--location': location,
      ...answer(`[?starts_with(name,'ghost_')].name | [${from}:${from + size}]`),
    }),
} as const;
