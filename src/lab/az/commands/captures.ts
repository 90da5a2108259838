/** `az network watcher packet-capture …`: the session is state, the file is made when it is asked for. */
import type { Json, JsonObject } from '../../../core/index.ts';
import type { Blob, Capture, CaptureFilterText, LabState } from '../../lab/state.ts';
import { findVm, regionOfGroup } from '../../network/places.ts';
import type { StorageAccount } from '../../world/types.ts';
import { type Call, type Commands, findIn, needGroup } from '../call.ts';
import { AzError, armError, resourceNotFound, usage } from '../errors.ts';
import { parseResourceId, resourceId, SUBSCRIPTION } from '../ids.ts';
import { child, object, TYPES, WATCHER_GROUP, watcherName } from '../shapes/common.ts';
import { vmId } from '../shapes/network.ts';
import { blobEndpoint } from '../shapes/services.ts';
import { needWatcher, watchedVm } from './watcher.ts';

const LONGEST_S = 18_000;
const DEFAULT_BYTES = 1_073_741_824;

export function endOf(capture: Capture, now: number): number | null {
  const end = Math.min(capture.limitMs, capture.stoppedMs ?? Number.POSITIVE_INFINITY);
  return end <= now ? end : null;
}

function captureId(capture: Pick<Capture, 'location' | 'name'>): string {
  return resourceId(WATCHER_GROUP, TYPES.capture, watcherName(capture.location), capture.name);
}

function shape(call: Call, capture: Capture): JsonObject {
  const vm = findVm(call.world, capture.vm);
  return {
    ...child(WATCHER_GROUP, TYPES.capture, watcherName(capture.location), capture.name),
    bytesToCapturePerPacket: capture.bytesPerPacket,
    continuousCapture: false,
    filters: capture.filters.map((f) => ({ ...f })),
    scope: {},
    storageLocation: object({
      filePath: capture.filePath ?? undefined,
      storageId: capture.storageId ?? undefined,
      storagePath: capture.storagePath ?? undefined,
    }),
    target: vm ? vmId(vm) : resourceId(capture.group, TYPES.vm, capture.vm),
    targetType: 'AzureVM',
    timeLimitInSeconds: capture.timeLimitS,
    totalBytesPerSession: capture.totalBytes,
  };
}

function status(call: Call, capture: Capture): JsonObject {
  const end = endOf(capture, call.lab.now);
  const reason =
    capture.stoppedMs !== null && capture.stoppedMs < capture.limitMs ? 'UserStopped' : 'TimeExceeded';
  return object({
    captureStartTime: new Date(capture.startMs).toISOString(),
    id: captureId(capture),
    name: capture.name,
    packetCaptureError: [],
    packetCaptureStatus: end === null ? 'Running' : 'Stopped',
    stopReason: end === null ? undefined : reason,
  });
}

function needCapture(call: Call): Capture {
  const location = needWatcher(call.world, call.args.need('--location'));
  const name = call.args.need('--name');
  const found = call.lab.state.captures.find(
    (c) => c.location === location && c.name.toLowerCase() === name.toLowerCase(),
  );
  if (!found)
    throw resourceNotFound(TYPES.capture, `${watcherName(location)}/packetCaptures/${name}`, WATCHER_GROUP);
  return found;
}

function create(call: Call): JsonObject {
  const { args } = call;
  const target = args.text('--vm') ?? args.text('--target');
  if (target === undefined) throw usage('usage error: --vm NAME_OR_ID | --target NAME_OR_ID');
  if (!args.has('--storage-account') && !args.has('--file-path'))
    throw usage(
      'usage error: --storage-account NAME_OR_ID [--storage-path PATH] [--file-path PATH] | --file-path PATH',
    );
  const vm = watchedVm(call, target);
  const name = args.need('--name');
  if (!/^[A-Za-z0-9](?:[\w.-]{0,78}[\w])?$/.test(name))
    throw armError(
      'InvalidResourceName',
      `Resource name ${name} is invalid. The name can be up to 80 characters long. It must begin with a word character, and it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.`,
    );
  const location = regionOfGroup(call.world, vm.group);
  if (
    call.lab.state.captures.some(
      (c) => c.location === location && c.name.toLowerCase() === name.toLowerCase(),
    )
  )
    throw armError(
      'PacketCaptureAlreadyExists',
      `A packet capture named ${name} exists already in ${watcherName(location)}.`,
    );
  const timeLimitS = args.number('--time-limit') ?? LONGEST_S;
  if (timeLimitS < 1 || timeLimitS > LONGEST_S)
    throw armError(
      'InvalidTimeLimit',
      `The time limit ${timeLimitS} is outside the allowed range 1-${LONGEST_S}.`,
    );
  const account = args.has('--storage-account')
    ? needAccount(call, vm.group, args.need('--storage-account'))
    : null;
  const capture: Capture = {
    name,
    location,
    vm: vm.name,
    group: vm.group,
    startMs: call.lab.now,
    limitMs: call.lab.now + timeLimitS * 1000,
    stoppedMs: null,
    timeLimitS,
    bytesPerPacket: args.number('--capture-size') ?? 0,
    totalBytes: args.number('--capture-limit') ?? DEFAULT_BYTES,
    filters: filters(args.words('--filters')),
    storageId: account && resourceId(account.group, TYPES.storage, account.name),
    storagePath: account && storagePath(call, account, vm.group, vm.name, args.text('--storage-path')),
    filePath: args.text('--file-path') ?? null,
  };
  const place = account && capture.storagePath ? blobPlace(account, capture.storagePath) : null;
  call.change({
    state: (s) => ({
      ...s,
      captures: [...s.captures, capture],
      blobs: place ? [...s.blobs.filter((b) => !samePlace(b, place)), { ...place, capture }] : s.blobs,
      containers:
        place && !hasContainer(call, s, place.account, place.container)
          ? [...s.containers, { account: place.account, name: place.container }]
          : s.containers,
    }),
    activity: {
      operation: 'Microsoft.Network/networkWatchers/packetCaptures/write',
      resource: captureId(capture),
      group: vm.group,
    },
  });
  return shape(call, capture);
}

/** A name means an account in the VM's own group; elsewhere needs the full id. */
function needAccount(call: Call, vmGroup: string, nameOrId: string): StorageAccount {
  const parts = parseResourceId(nameOrId);
  const group = parts ? needGroup(call.world, parts.group) : vmGroup;
  const name = parts ? parts.names[0]! : nameOrId;
  const account = findIn(call.world.storage, group, name, (s) => s.name);
  if (!account) throw resourceNotFound(TYPES.storage, name, group);
  return account;
}

const AUTO_CONTAINER = 'network-watcher-logs';

function storagePath(
  call: Call,
  account: StorageAccount,
  group: string,
  vm: string,
  given: string | undefined,
): string {
  const t = new Date(call.lab.now);
  const two = (n: number, width = 2) => String(n).padStart(width, '0');
  const file = `subscriptions/${SUBSCRIPTION}/resourcegroups/${group}/providers/microsoft.compute/virtualmachines/${vm}/${t.getUTCFullYear()}/${two(t.getUTCMonth() + 1)}/${two(t.getUTCDate())}/packetcapture_${two(t.getUTCHours())}_${two(t.getUTCMinutes())}_${two(t.getUTCSeconds())}_${two(t.getUTCMilliseconds(), 3)}.cap`;
  if (given === undefined) return `${blobEndpoint(account)}${AUTO_CONTAINER}/${file}`.toLowerCase();
  const match = /^https:\/\/([a-z0-9-]+)\.blob\.[a-z0-9.]+\/([^/]+)(?:\/(.+?))?\/?$/i.exec(given);
  if (!match || match[1]!.toLowerCase() !== account.name)
    throw armError(
      'InvalidStoragePath',
      `The storage path ${given} is not a path in storage account ${account.name}.`,
    );
  const container = match[2]!;
  if (!hasContainer(call, call.lab.state, account.name, container))
    throw armError(
      'StorageContainerNotFound',
      `The container ${container} does not exist in storage account ${account.name}.`,
    );
  return match[3] === undefined ? `${blobEndpoint(account)}${container}/${file}` : given;
}

export function hasContainer(call: Call, state: LabState, account: string, name: string): boolean {
  const own = call.world.storage.find((s) => s.name === account)?.containers.includes(name) ?? false;
  return own || state.containers.some((c) => c.account === account && c.name === name);
}

function blobPlace(
  account: StorageAccount,
  path: string,
): { account: string; container: string; name: string } {
  const [container, ...rest] = new URL(path).pathname.slice(1).split('/');
  return { account: account.name, container: container!, name: decodeURIComponent(rest.join('/')) };
}

function samePlace(
  a: Pick<Blob, 'account' | 'container' | 'name'>,
  b: Pick<Blob, 'account' | 'container' | 'name'>,
): boolean {
  return a.account === b.account && a.container === b.container && a.name === b.name;
}

const FILTER_KEYS = ['protocol', 'localIPAddress', 'remoteIPAddress', 'localPort', 'remotePort'];

function filters(values: readonly string[] | undefined): readonly CaptureFilterText[] {
  if (values === undefined) return [];
  const text = values.join(' ').trim();
  const json = text.startsWith('[') ? text : `[${text}]`;
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw new AzError(`Failed to parse '--filters' argument: '${text}' is not a JSON list of filters`, 1);
  }
  return (parsed as unknown[]).map((item) => {
    if (typeof item !== 'object' || item === null)
      throw new AzError("Failed to parse '--filters' argument: a filter is an object", 1);
    const wanted = Object.entries(item).filter(([key]) => FILTER_KEYS.includes(key));
    return Object.fromEntries(wanted.map(([key, value]) => [key, String(value)]));
  });
}

const replaced = (state: LabState, old: Capture, next: Capture): LabState => ({
  ...state,
  captures: state.captures.map((c) => (c.name === old.name && c.location === old.location ? next : c)),
  blobs: state.blobs.map((b) =>
    b.capture.name === old.name && b.capture.startMs === old.startMs ? { ...b, capture: next } : b,
  ),
});

const capturedBy = (capture: Capture, verb: string) => ({
  operation: `Microsoft.Network/networkWatchers/packetCaptures/${verb}`,
  resource: captureId(capture),
  group: capture.group,
});

function stopped(call: Call, capture: Capture): Capture {
  return endOf(capture, call.lab.now) === null ? { ...capture, stoppedMs: call.lab.now } : capture;
}

export const captureCommands: Commands = {
  'network watcher packet-capture create': { writes: true, run: create },
  'network watcher packet-capture show': { run: (call) => shape(call, needCapture(call)) },
  'network watcher packet-capture show-status': { run: (call) => status(call, needCapture(call)) },
  'network watcher packet-capture list': {
    run: (call) => {
      const location = needWatcher(call.world, call.args.need('--location'));
      return call.lab.state.captures
        .filter((c) => c.location === location)
        .map((c) => shape(call, c)) as Json;
    },
  },
  'network watcher packet-capture stop': {
    writes: true,
    run: (call) => {
      const capture = needCapture(call);
      const next = stopped(call, capture);
      call.change({ state: (s) => replaced(s, capture, next), activity: capturedBy(capture, 'stop/action') });
      return undefined;
    },
  },
  'network watcher packet-capture delete': {
    writes: true,
    run: (call) => {
      const capture = needCapture(call);
      // The session goes; the file it wrote until now stays where it is.
      const next = stopped(call, capture);
      call.change({
        state: (s) => ({
          ...replaced(s, capture, next),
          captures: s.captures.filter((c) => !(c.name === capture.name && c.location === capture.location)),
        }),
        activity: capturedBy(capture, 'delete'),
      });
      return undefined;
    },
  },
};
