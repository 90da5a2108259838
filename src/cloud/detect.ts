import { commands } from './commands.ts';
import { type CloudContext, objectIn, send } from './context.ts';
import { isLocation, parseResourceId } from './names.ts';

/** What a target turned out to be. Detection only reads, so nothing needs undoing when it fails. */
export type Detection =
  | {
      readonly kind: 'vm';
      readonly group: string;
      readonly name: string;
      readonly subscription: string | null;
    }
  | { readonly kind: 'aks'; readonly name: string }
  | { readonly kind: 'unsupported'; readonly type: string }
  | { readonly kind: 'failed'; readonly detail: string };

const VM = 'microsoft.compute/virtualmachines';
const AKS = 'microsoft.containerservice/managedclusters';

export async function detectTarget(context: CloudContext, target: string, group: string): Promise<Detection> {
  const id = parseResourceId(target);
  const name = id?.name ?? target;
  const command = id ? commands.detectById(id.id) : commands.detectByName(group, name);
  const outcome = await send(
    context,
    command,
    `Find out what kind of resource ${name} is before capturing its traffic.`,
  );
  if (outcome.kind !== 'ok') {
    return { kind: 'failed', detail: outcome.kind === 'denied' ? outcome.reason : outcome.detail };
  }
  const type = (outcome.output.split('\n')[0] ?? '').trim();
  switch (type.toLowerCase()) {
    case VM:
      return { kind: 'vm', group: id?.group ?? group, name, subscription: id?.subscription ?? null };
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
export async function vmFacts(
  context: CloudContext,
  group: string,
  name: string,
  wanted: string | null,
): Promise<VmFacts> {
  const shown = await send(
    context,
    commands.vmFacts(group, name),
    `Read the region and system of ${name}: the capture runs in the VM's own region.`,
  );
  const facts = shown.kind === 'ok' ? objectIn(shown.output) : undefined;
  const location = typeof facts?.location === 'string' ? facts.location : wanted;
  if (location === null || !isLocation(location)) {
    const why =
      shown.kind === 'ok'
        ? 'its region could not be read'
        : shown.kind === 'denied'
          ? shown.reason
          : shown.detail;
    return { ok: false, detail: `az vm show ${name}: ${why}` };
  }
  return {
    ok: true,
    location,
    warnings: await agentWarnings(context, group, name, String(facts?.os ?? 'Linux')),
  };
}

/** Captures need the Network Watcher agent; without it Azure fails late and says little. */
async function agentWarnings(
  context: CloudContext,
  group: string,
  vm: string,
  os: string,
): Promise<readonly string[]> {
  const listed = await send(
    context,
    commands.vmExtensions(group, vm),
    `Check that the Network Watcher agent is on ${vm}: captures need it.`,
  );
  if (listed.kind !== 'ok')
    return [`the extensions of ${vm} could not be read, so the capture agent was not checked`];
  if (/NetworkWatcherAgent/i.test(listed.output)) return [];
  const type = /windows/i.test(os) ? 'NetworkWatcherAgentWindows' : 'NetworkWatcherAgentLinux';
  return [
    `${vm} has no Network Watcher agent; if the capture fails, install it: az vm extension set --resource-group ${group} --vm-name ${vm} --publisher Microsoft.Azure.NetworkWatcher --name ${type}`,
  ];
}
