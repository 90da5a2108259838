import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Approver, Clock } from '../core/index.ts';
import { CODES, EXIT, systemClock, systemIds, WritError } from '../core/index.ts';
import { type Ledger, openLedger } from '../ledger/index.ts';
import type { OwnedShell } from '../shell/index.ts';
import type { Cli } from './cli.ts';
import { type FolderFlags, type Folders, folders } from './folders.ts';

/** The composition root: folders, keys and rooms put together for one command. */
export interface Workspace extends Folders {
  readonly ledger: Ledger;
  readonly clock: Clock;
  openShell(options: ShellWish): Promise<OwnedShell>;
}

export interface ShellWish {
  readonly sessionId: string;
  readonly approver: Approver;
  readonly programPath?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export function openWorkspace(cli: Cli, flags: FolderFlags, given?: Clock): Workspace {
  const place = folders(cli, flags);
  const around = labAround(cli);
  const clock = given ?? around?.clock ?? systemClock;
  const ledger = openLedger({ stateDir: place.state, clock });
  const { shell: settings } = place.config;
  return {
    ...place,
    ledger,
    clock,
    openShell: async (wish) => {
      const { createShell } = await import('../shell/index.ts');
      const named = await trustedFolders(settings?.program_path ?? []);
      return createShell({
        programPath: [...(around ? [around.bin] : []), ...named],
        ...wish,
        auditDir: place.audit,
        openJournal: (path) => ledger.openJournal({ path, flush: 'group' }),
        clock,
        ids: systemIds,
        cwd: cli.cwd,
        env: azureEnvironment(cli, wish.env ?? around?.env),
        ...(settings?.anonymize === undefined ? {} : { anonymize: settings.anonymize }),
        ...(settings?.timeout_seconds === undefined ? {} : { timeoutMs: settings.timeout_seconds * 1000 }),
        ...(settings?.az_timeout_seconds === undefined
          ? {}
          : { azTimeoutMs: settings.az_timeout_seconds * 1000 }),
      });
    },
  };
}

/** The folders of `shell.program_path`, or an error: one that others can write to would let them choose what runs. */
async function trustedFolders(folders: readonly string[]): Promise<readonly string[]> {
  const { distrust } = await import('../sandbox/index.ts');
  for (const folder of folders) {
    const why = distrust(folder);
    if (why !== undefined)
      throw new WritError(CODES.invalid_config, `writ.yaml: shell.program_path: ${folder} ${why}`, {
        suggestion: 'name a folder by its real path that only you or root can write to, as all above it',
        exit: EXIT.usage,
      });
  }
  return folders;
}

/**
 * The lab whose shell this was started from (`writ lab up` says so in WRIT_LAB_DIR): its stand-ins come before
 * the system's programs, and time runs as fast as there. Only the person's own environment can say this.
 */
function labAround(
  cli: Cli,
): { readonly bin: string; readonly env: Record<string, string>; readonly clock: Clock } | undefined {
  const dir = cli.env.WRIT_LAB_DIR;
  const mark = dir ? join(dir, 'lab.json') : '';
  if (!dir || !existsSync(mark)) return undefined;
  const lab = JSON.parse(readFileSync(mark, 'utf8')) as { speed?: unknown };
  const speed = typeof lab.speed === 'number' && lab.speed > 0 ? lab.speed : 1;
  const faster: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / speed, signal) };
  return { bin: join(dir, 'bin'), env: { WRIT_LAB_DIR: dir }, clock: faster };
}

/** What the real Azure CLI needs to find its login; nothing else of the caller's environment passes. */
function azureEnvironment(cli: Cli, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const passed = [
    'AZURE_CONFIG_DIR',
    'AZURE_EXTENSION_DIR',
    'REQUESTS_CA_BUNDLE',
    'SSL_CERT_FILE',
    'HTTPS_PROXY',
    'NO_PROXY',
  ];
  const env = Object.fromEntries(passed.flatMap((name) => (cli.env[name] ? [[name, cli.env[name]]] : [])));
  return { ...env, ...extra };
}
