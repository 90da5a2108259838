/**
 * Trouble that Azure itself can make, on request: a call is refused, throttled, cut off, or answered as from a
 * capture that never ends. Set from outside (`writ lab trouble`), kept beside the state, met by `az` alone.
 * Stopped VMs, closed storage firewalls, missing blobs and logouts need none of this: the world has them.
 */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../core/index.ts';
import { TROUBLES_FILE } from '../lab/open.ts';
import { AzError, armError } from './errors.ts';
import { SUBSCRIPTION, USER } from './ids.ts';

export const TROUBLE_KINDS = [
  'forbidden',
  'throttled',
  'unreachable',
  'token_expired',
  'quota',
  'no_agent',
  'capture_stuck',
  'capture_error',
] as const;
export type TroubleKind = (typeof TROUBLE_KINDS)[number];

export interface Trouble {
  readonly kind: TroubleKind;
  /** The words the command begins with; empty for every command it can happen to. */
  readonly on: string;
  /** How many more calls meet it; null until it is taken away. */
  readonly times: number | null;
}

export function readTroubles(dir: string): readonly Trouble[] {
  const file = join(dir, TROUBLES_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as readonly Trouble[]) : [];
}

export function writeTroubles(dir: string, troubles: readonly Trouble[]): void {
  const file = join(dir, TROUBLES_FILE);
  if (troubles.length === 0) rmSync(file, { force: true });
  else {
    writeFileSync(`${file}.${process.pid}.tmp`, JSON.stringify(troubles), { mode: 0o600 });
    renameSync(`${file}.${process.pid}.tmp`, file);
  }
}

export type AlterAnswer = (answer: Json | undefined) => Json | undefined;

/** Throws what the call meets, or says how its answer is changed. */
export function meetTroubles(dir: string, command: string, account: string | undefined): AlterAnswer {
  const troubles = readTroubles(dir);
  const met = troubles.find((t) => command.startsWith(t.on) && WORDS[t.kind](command, account) !== undefined);
  if (met === undefined) return (answer) => answer;
  if (met.times !== null)
    writeTroubles(
      dir,
      troubles.flatMap((t) => (t === met ? spent(t, met.times!) : [t])),
    );
  const effect = WORDS[met.kind](command, account);
  if (effect instanceof AzError) throw effect;
  return (answer) => (effect === undefined ? answer : effect(answer));
}

function spent(trouble: Trouble, times: number): readonly Trouble[] {
  return times > 1 ? [{ ...trouble, times: times - 1 }] : [];
}

const CREATE = 'network watcher packet-capture create';
const STATUS = 'network watcher packet-capture show-status';
const isData = (command: string) => /^storage (blob|container) /.test(command);

/** What each kind does to a command; undefined where it cannot happen. */
const WORDS: Readonly<
  Record<TroubleKind, (command: string, account: string | undefined) => AzError | AlterAnswer | undefined>
> = {
  forbidden: (command) =>
    isData(command)
      ? new AzError(
          '\nYou do not have the required permissions needed to perform this operation.\nDepending on your operation, you may need to be assigned one of the following roles:\n    "Storage Blob Data Owner"\n    "Storage Blob Data Contributor"\n    "Storage Blob Data Reader"\n',
        )
      : armError(
          'AuthorizationFailed',
          `The client '${USER}' does not have authorization to perform the action of 'az ${command}' over scope '/subscriptions/${SUBSCRIPTION}' or the scope is invalid. If access was recently granted, please refresh your credentials.`,
        ),
  throttled: (command) =>
    isData(command)
      ? new AzError('The server is busy.\nErrorCode:ServerBusy')
      : armError(
          'SubscriptionRequestsThrottled',
          `Number of requests for subscription '${SUBSCRIPTION}' exceeded the limit. Please try again after '17' seconds.`,
        ),
  unreachable: (command, account) => {
    const host = isData(command) ? `${account ?? 'account'}.blob.core.windows.net` : 'management.azure.com';
    return new AzError(
      `HTTPSConnection(host='${host}', port=443): Failed to establish a new connection: [Errno 110] Connection timed out`,
    );
  },
  token_expired: () =>
    new AzError(
      'AADSTS700082: The refresh token has expired due to inactivity.\nInteractive authentication is needed. Please run:\naz login',
    ),
  quota: (command) =>
    command === CREATE
      ? armError(
          'PacketCaptureLimitReached',
          'The number of packet captures in this region has reached the limit of the subscription. Delete captures that are no longer needed.',
        )
      : undefined,
  no_agent: (command) => {
    if (command === 'vm extension list') return () => [];
    if (command !== CREATE) return undefined;
    return armError(
      'VMExtensionNotFound',
      'The operation requires the Network Watcher agent extension, which is not installed on the virtual machine.',
    );
  },
  capture_stuck: (command) => (command === STATUS ? status('Running', []) : undefined),
  capture_error: (command) => (command === STATUS ? status('Error', ['AgentStopped']) : undefined),
};

function status(packetCaptureStatus: string, packetCaptureError: readonly string[]): AlterAnswer {
  return (answer) => ({ ...(answer as Record<string, Json>), packetCaptureStatus, packetCaptureError });
}
