import { commands } from './commands.ts';
import { type CloudContext, objectIn, send, whyNot } from './context.ts';
import { isAzureName, isBlobName, isContainerName, parseResourceId } from './names.ts';
import type { BlobPlace, CaptureParameters, VmPlace } from './types.ts';

/** Where the capture will be written, as the create command wants it. */
export type StorageFacts =
  | {
      readonly ok: true;
      readonly place: Omit<BlobPlace, 'name'>;
      readonly accountArgument: string;
      readonly endpoint: string;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly detail: string };

export async function checkStorage(
  context: CloudContext,
  parameters: CaptureParameters,
  vm: VmPlace,
): Promise<StorageFacts> {
  const given = parseResourceId(parameters.storage_account);
  const account = given?.name ?? parameters.storage_account;
  const place = {
    account,
    container: parameters.storage_container,
    subscription: given?.subscription ?? vm.subscription,
  };
  const shown = await send(
    context,
    commands.accountFacts(account, place.subscription),
    `Read the blob endpoint and group of ${account}, where the capture will be stored.`,
  );
  const facts = shown.kind === 'ok' ? objectIn(shown.output) : undefined;
  const exists = await send(
    context,
    commands.containerExists(place, parameters.storage_auth_mode),
    `Check that the container ${place.container} can be reached before anything is created.`,
  );
  if (exists.kind !== 'ok' || exists.output.toLowerCase() !== 'true') {
    const why = exists.kind === 'ok' ? 'it does not exist' : whyNot(exists);
    return { ok: false, detail: `storage container ${account}/${place.container} is inaccessible: ${why}` };
  }
  const argument = given?.id ?? accountArgument(account, facts?.group, vm);
  if (argument === undefined) {
    return {
      ok: false,
      detail: `storage account ${account} is in another resource group than the VM; give its full resource id as storage_account (az storage account show --name ${account} --query id --output tsv)`,
    };
  }
  const endpoint =
    typeof facts?.blob === 'string' && /^https:\/\/[a-z0-9.-]+\/?$/.test(facts.blob) ? facts.blob : undefined;
  return {
    ok: true,
    place,
    accountArgument: argument,
    endpoint: (endpoint ?? `https://${account}.blob.core.windows.net/`).replace(/\/?$/, '/'),
    warnings: endpoint
      ? []
      : [`the blob endpoint of ${account} could not be read; the public cloud's was used`],
  };
}

/** `--storage-account NAME` is looked up in the VM's own group; an account elsewhere needs its full id. */
function accountArgument(account: string, group: unknown, vm: VmPlace): string | undefined {
  if (typeof group !== 'string' || group.toLowerCase() === vm.group.toLowerCase()) return account;
  if (vm.subscription === null || !isAzureName(group)) return undefined;
  return `/subscriptions/${vm.subscription}/resourceGroups/${group}/providers/Microsoft.Storage/storageAccounts/${account}`;
}

/** Container and blob in a storage URL that Azure reports; anything odd is not used. */
export function blobIn(url: string, known: BlobPlace): BlobPlace | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== 'https:' || !parsed.hostname.startsWith(`${known.account}.`)) return undefined;
  const [container = '', ...rest] = parsed.pathname.slice(1).split('/');
  const name = decodeURIComponentSafe(rest.join('/'));
  if (!isContainerName(container) || name === undefined || !isBlobName(name)) return undefined;
  return { ...known, container, name };
}

function decodeURIComponentSafe(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
