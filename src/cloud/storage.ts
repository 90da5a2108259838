import { type BlobPlace, commands } from './commands.ts';
import { type CloudContext, objectIn, send } from './context.ts';
import { isContainerName, parseResourceId } from './names.ts';
import type { CaptureParameters } from './types.ts';

/** Where the capture will be written, as the create command wants it. */
export type StorageFacts =
  | {
      readonly ok: true;
      readonly account: string;
      readonly accountArgument: string;
      readonly endpoint: string;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly detail: string };

export async function checkStorage(
  context: CloudContext,
  parameters: CaptureParameters,
  vm: { group: string; subscription: string | null },
): Promise<StorageFacts> {
  const given = parseResourceId(parameters.storage_account);
  const account = given?.name ?? parameters.storage_account;
  const shown = await send(
    context,
    commands.accountFacts(account),
    `Read the blob endpoint and group of ${account}, where the capture will be stored.`,
  );
  const facts = shown.kind === 'ok' ? objectIn(shown.output) : undefined;
  const exists = await send(
    context,
    commands.containerExists(account, parameters.storage_container, parameters.storage_auth_mode),
    `Check that the container ${parameters.storage_container} can be reached before anything is created.`,
  );
  if (exists.kind !== 'ok' || exists.output.toLowerCase() !== 'true') {
    const why =
      exists.kind === 'ok' ? 'it does not exist' : exists.kind === 'denied' ? exists.reason : exists.detail;
    return {
      ok: false,
      detail: `storage container ${account}/${parameters.storage_container} is inaccessible: ${why}`,
    };
  }
  const argument = accountArgument(given?.id, account, facts?.group, vm);
  if (argument === undefined) {
    return {
      ok: false,
      detail: `storage account ${account} is in another resource group than the VM; give its full resource id as storage_account`,
    };
  }
  const endpoint =
    typeof facts?.blob === 'string' && /^https:\/\/[a-z0-9.-]+\/?$/.test(facts.blob) ? facts.blob : undefined;
  return {
    ok: true,
    account,
    accountArgument: argument,
    endpoint: (endpoint ?? `https://${account}.blob.core.windows.net/`).replace(/\/?$/, '/'),
    warnings: endpoint
      ? []
      : [`the blob endpoint of ${account} could not be read; the public cloud's was used`],
  };
}

/** `--storage-account NAME` is looked up in the VM's own group; an account elsewhere needs its full id. */
function accountArgument(
  id: string | undefined,
  account: string,
  group: unknown,
  vm: { group: string; subscription: string | null },
): string | undefined {
  if (id !== undefined) return id;
  if (typeof group !== 'string' || group.toLowerCase() === vm.group.toLowerCase()) return account;
  if (vm.subscription === null) return undefined;
  return `/subscriptions/${vm.subscription}/resourceGroups/${group}/providers/Microsoft.Storage/storageAccounts/${account}`;
}

/** Container and blob in a storage URL that Azure reports; anything odd is not used. */
export function blobIn(url: string, account: string): BlobPlace | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' || !parsed.hostname.startsWith(`${account}.`)) return undefined;
  const [container, ...rest] = parsed.pathname.slice(1).split('/');
  const name = decodeURIComponentSafe(rest.join('/'));
  if (
    container === undefined ||
    !isContainerName(container) ||
    name === undefined ||
    !/^[\w][\w./-]{0,500}$/.test(name)
  )
    return undefined;
  return { account, container, name };
}

function decodeURIComponentSafe(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
