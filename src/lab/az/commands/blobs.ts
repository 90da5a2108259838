/** Containers and blobs. They are reached over the network, so the account's firewall is asked first. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Json, JsonObject } from '../../../core/index.ts';
import type { Blob } from '../../lab/state.ts';
import { storageAdmission } from '../../network/storage.ts';
import type { StorageAccount } from '../../world/types.ts';
import type { Call, Commands } from '../call.ts';
import { AzError, usage } from '../errors.ts';
import { guidFor } from '../shapes/common.ts';
import { endOf, hasContainer } from './captures.ts';

function needAccount(call: Call): StorageAccount {
  const fromUrl = /^https:\/\/([a-z0-9-]+)\.blob\./.exec(
    call.args.text('--blob-url') ?? call.args.text('--blob-endpoint') ?? '',
  )?.[1];
  const fromConnection = /AccountName=([^;]+)/i.exec(call.args.text('--connection-string') ?? '')?.[1];
  const name = call.args.text('--account-name') ?? fromUrl ?? fromConnection;
  if (name === undefined) throw new AzError('Please provide storage account name or connection string.');
  const account = call.world.storage.find((s) => s.name === name);
  if (!account)
    throw new AzError(
      `<urllib3.connection.HTTPSConnection object>: Failed to resolve '${name}.blob.core.windows.net' ([Errno -2] Name or service not known)`,
    );
  checkAccess(call, account);
  return account;
}

function checkAccess(call: Call, account: StorageAccount): void {
  const { args } = call;
  const byKey =
    args.has('--account-key') || args.has('--connection-string') || args.text('--auth-mode') !== 'login';
  if (
    byKey &&
    !args.has('--sas-token') &&
    !args.has('--auth-mode') &&
    !args.has('--account-key') &&
    !args.has('--connection-string')
  )
    call.warn(
      'WARNING: \nThere are no credentials provided in your command and environment, we will query for account key for your storage account.\nIt is recommended to provide --connection-string, --account-key or --sas-token in your command as credentials.\n',
    );
  if (byKey && !account.keys)
    throw withCode(
      'Key based authentication is not permitted on this storage account.',
      'KeyBasedAuthenticationNotPermitted',
      call,
      1,
    );
  if (!storageAdmission(call.world, account, { kind: 'local' }).allowed)
    throw new AzError(
      `\nThe request may be blocked by network rules of storage account. Please check network rule set using 'az storage account show -n accountname --query networkRuleSet'.\nIf you want to change the default action to apply when no rule matches, please use 'az storage account update'.\n                `,
    );
}

function withCode(message: string, code: string, call: Call, exit: 1 | 3): AzError {
  const request = guidFor(`${code}:${call.lab.now}`);
  return new AzError(
    `${message}\nRequestId:${request}\nTime:${new Date(call.lab.now).toISOString()}\nErrorCode:${code}`,
    exit,
  );
}

function needContainer(call: Call, account: StorageAccount, argument: string): string {
  const name = call.args.text(argument) ?? blobUrl(call)?.container;
  if (name === undefined) throw usage(`the following arguments are required: ${argument}/-c`);
  if (!hasContainer(call, call.lab.state, account.name, name))
    throw withCode('The specified container does not exist.', 'ContainerNotFound', call, 3);
  return name;
}

function blobUrl(call: Call): { container: string; name: string } | undefined {
  const match = /^https:\/\/[^/]+\/([^/]+)\/([^?]+)/.exec(call.args.text('--blob-url') ?? '');
  return match ? { container: match[1]!, name: decodeURIComponent(match[2]!) } : undefined;
}

/** Blobs whose capture has ended: before that there is nothing to read. */
function blobsIn(call: Call, account: StorageAccount, container: string): readonly Blob[] {
  return call.lab.state.blobs.filter(
    (b) => b.account === account.name && b.container === container && endOf(b.capture, call.lab.now) !== null,
  );
}

const NOT_NAMED =
  'Please specify --blob-url or combination of blob name, container name and storage account arguments.';

function findBlob(call: Call): { account: StorageAccount; blob: Blob | undefined; container: string } {
  const named = call.args.has('--name') && call.args.has('--container-name');
  if (!named && !call.args.has('--blob-url')) throw new AzError(NOT_NAMED);
  const account = needAccount(call);
  const container = needContainer(call, account, '--container-name');
  const name = call.args.text('--name') ?? blobUrl(call)?.name;
  if (name === undefined) throw usage('the following arguments are required: --name/-n');
  return { account, container, blob: blobsIn(call, account, container).find((b) => b.name === name) };
}

function needBlob(call: Call): Blob {
  const { blob } = findBlob(call);
  if (!blob) throw withCode('The specified blob does not exist.', 'BlobNotFound', call, 3);
  return blob;
}

/** The bytes of the capture, made from the world as it was while the capture ran. */
async function contentOf(call: Call, blob: Blob): Promise<Uint8Array> {
  const { synthesizeCapture } = await import('../../packets/index.ts');
  const { capture } = blob;
  const end = endOf(capture, call.lab.now)!;
  return synthesizeCapture(call.lab.timeline, {
    vm: capture.vm,
    startMs: capture.startMs,
    durationMs: Math.max(1, end - capture.startMs),
    maxBytes: capture.totalBytes,
    ...(capture.bytesPerPacket > 0 ? { bytesPerPacket: capture.bytesPerPacket } : {}),
    ...(capture.filters.length > 0 ? { filters: capture.filters } : {}),
  });
}

function blobShape(blob: Blob, length: number, call: Call): JsonObject {
  const modified = new Date(endOf(blob.capture, call.lab.now) ?? call.lab.now)
    .toISOString()
    .replace('.000Z', '+00:00');
  return {
    container: blob.container,
    content: '',
    deleted: null,
    encryptedMetadata: null,
    encryptionScope: null,
    isAppendBlobSealed: null,
    isCurrentVersion: null,
    metadata: {},
    name: blob.name,
    objectReplicationDestinationPolicy: null,
    properties: {
      blobTier: 'Hot',
      blobType: 'BlockBlob',
      contentLength: length,
      contentRange: length === 0 ? null : `bytes 0-${length - 1}/${length}`,
      contentSettings: {
        cacheControl: null,
        contentDisposition: null,
        contentEncoding: null,
        contentLanguage: null,
        contentMd5: null,
        contentType: 'application/octet-stream',
      },
      creationTime: modified,
      etag: guidFor(`blob:${blob.name}`),
      lastModified: modified,
      lease: { duration: null, state: 'available', status: 'unlocked' },
      pageRanges: null,
      serverEncrypted: true,
    },
    snapshot: null,
    tagCount: null,
    tags: null,
    versionId: null,
  };
}

async function download(call: Call): Promise<Json | undefined> {
  const blob = needBlob(call);
  const file = call.args.text('--file');
  const bytes = await contentOf(call, blob);
  if (file === undefined) {
    process.stdout.write(bytes);
    return undefined;
  }
  const path = resolve(call.cwd, file);
  if (call.args.flag('--overwrite') === false && existsSync(path))
    throw new AzError(`The file '${file}' exists already.`);
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  return blobShape(blob, bytes.length, call);
}

function containers(call: Call): readonly string[] {
  const account = needAccount(call);
  const made = call.lab.state.containers.filter((c) => c.account === account.name).map((c) => c.name);
  return [...new Set([...account.containers, ...made])];
}

const containerShape = (call: Call, name: string): JsonObject => ({
  deleted: null,
  encryptionScope: null,
  immutableStorageWithVersioningEnabled: false,
  metadata: null,
  name,
  properties: {
    etag: `"${guidFor(name).slice(0, 15)}"`,
    hasImmutabilityPolicy: false,
    hasLegalHold: false,
    lastModified: call.world.now,
    lease: { duration: null, state: 'available', status: 'unlocked' },
    publicAccess: null,
  },
  version: null,
});

export const blobCommands: Commands = {
  'storage container exists': {
    run: (call) => {
      const account = needAccount(call);
      return { exists: hasContainer(call, call.lab.state, account.name, call.args.need('--name')) };
    },
  },
  'storage container list': {
    run: (call) => containers(call).map((name) => containerShape(call, name)),
    table: (result) =>
      (result as readonly { name: string; properties: { lastModified: string } }[]).map((c) => ({
        Name: c.name,
        'Lease Status': '',
        'Last Modified': c.properties.lastModified,
      })),
  },
  'storage container show': {
    run: (call) => containerShape(call, needContainer(call, needAccount(call), '--name')),
  },
  'storage container create': {
    writes: true,
    run: (call) => {
      const account = needAccount(call);
      const name = call.args.need('--name');
      const exists = hasContainer(call, call.lab.state, account.name, name);
      if (!exists)
        call.change({
          state: (s) => ({ ...s, containers: [...s.containers, { account: account.name, name }] }),
        });
      return { created: !exists };
    },
  },
  'storage blob list': {
    run: async (call) => {
      const account = needAccount(call);
      const container = needContainer(call, account, '--container-name');
      const prefix = call.args.text('--prefix') ?? '';
      const blobs = blobsIn(call, account, container).filter((b) => b.name.startsWith(prefix));
      return Promise.all(blobs.map(async (b) => blobShape(b, (await contentOf(call, b)).length, call)));
    },
    table: (result) => (result as readonly JsonObject[]).map(blobRow),
  },
  'storage blob show': {
    run: async (call) => {
      const blob = needBlob(call);
      return blobShape(blob, (await contentOf(call, blob)).length, call);
    },
    table: (result) => blobRow(result as JsonObject),
  },
  'storage blob exists': { run: (call) => ({ exists: findBlob(call).blob !== undefined }) },
  'storage blob download': { run: download },
  'storage blob delete': {
    writes: true,
    run: (call) => {
      const blob = needBlob(call);
      const same = (b: Blob) =>
        b.account === blob.account && b.container === blob.container && b.name === blob.name;
      call.change({ state: (s) => ({ ...s, blobs: s.blobs.filter((b) => !same(b)) }) });
      return undefined;
    },
  },
};

function blobRow(blob: JsonObject): Json {
  const p = blob.properties as {
    blobType: string;
    blobTier: string;
    contentLength: number;
    lastModified: string;
  };
  return {
    Name: blob.name!,
    'Blob Type': p.blobType,
    'Blob Tier': p.blobTier,
    Length: p.contentLength,
    'Content Type': 'application/octet-stream',
    'Last Modified': p.lastModified,
    Snapshot: '',
  };
}
