import { commands } from './commands.ts';
import { type CloudContext, objectIn, send, whyNot } from './context.ts';
import { isLocation, type TargetName } from './names.ts';
import type { VmPlace } from './types.ts';

/** What a target turned out to be. Detection only reads, so nothing needs undoing when it fails. */
export type Detection =
  | ({ readonly kind: 'vm' } & VmPlace)
  | { readonly kind: 'aks'; readonly name: string }
  | { readonly kind: 'unsupported'; readonly type: string }
  | { readonly kind: 'failed'; readonly detail: string };

const VM = 'microsoft.compute/virtualmachines';
const AKS = 'microsoft.containerservice/managedclusters';

export async function detectTarget(
  context: CloudContext,
  target: TargetName,
  group: string,
): Promise<Detection> {
  const { id, name } = target;
  const outcome = await send(
    context,
    id === null ? commands.detectByName(group, name) : commands.detectById(id),
    `Find out what kind of resource ${name} is before capturing its traffic.`,
  );
  if (outcome.kind !== 'ok') return { kind: 'failed', detail: whyNot(outcome) };
  const type = (outcome.output.split('\n')[0] ?? '').trim();
  switch (type.toLowerCase()) {
    case VM:
      return { kind: 'vm', group, name, subscription: target.subscription };
    case AKS:
      return { kind: 'aks', name };
    case '':
      return { kind: 'failed', detail: `no VM or AKS cluster named ${name} in resource group ${group}` };
    default:
      return { kind: 'unsupported', type: type.slice(0, 100) };
  }
}

export type VmFacts =
  | { readonly ok: true; readonly location: string; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly detail: string };

/** The VM's own region (the watcher's, not the group's), and whether the capture agent is on it. */
export async function vmFacts(context: CloudContext, vm: VmPlace, wanted: string | null): Promise<VmFacts> {
  const shown = await send(
    context,
    commands.vmFacts(vm),
    `Read the region and system of ${vm.name}: the capture runs in the VM's own region.`,
  );
  const facts = shown.kind === 'ok' ? objectIn(shown.output) : undefined;
  const location = typeof facts?.location === 'string' ? facts.location : wanted;
  if (location === null || !isLocation(location)) {
    const why = shown.kind === 'ok' ? 'its region could not be read' : whyNot(shown);
    return { ok: false, detail: `az vm show ${vm.name}: ${why}` };
  }
  const windows = typeof facts?.os === 'string' && /windows/i.test(facts.os);
  return { ok: true, location, warnings: await agentWarnings(context, vm, windows) };
}

/** Captures need the Network Watcher agent; without it Azure fails late and says little. */
async function agentWarnings(
  context: CloudContext,
  vm: VmPlace,
  windows: boolean,
): Promise<readonly string[]> {
  const listed = await send(
    context,
    commands.vmExtensions(vm),
    `Check that the Network Watcher agent is on ${vm.name}: captures need it.`,
  );
  if (listed.kind !== 'ok')
    return [`the extensions of ${vm.name} could not be read, so the capture agent was not checked`];
  if (/NetworkWatcherAgent/i.test(listed.output)) return [];
  const type = windows ? 'NetworkWatcherAgentWindows' : 'NetworkWatcherAgentLinux';
  return [
    `${vm.name} has no Network Watcher agent; if the capture fails, install it: az vm extension set --resource-group ${vm.group} --vm-name ${vm.name} --publisher Microsoft.Azure.NetworkWatcher --name ${type}`,
  ];
}
