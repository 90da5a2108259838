import { existsSync, realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { CODES, EXIT, type ExitCode, WritError } from '../core/index.ts';
import { statePaths } from '../ledger/index.ts';
import { type LoadedPolicy, loadPolicy, POLICY_FILE, readTextFile } from '../policy/index.ts';
import { type LoadedPlan, loadPlan, PLAN_FILE, type RunReader, type RunRow } from '../runner/index.ts';
import type { Ground, ToolRegistry } from '../tools/index.ts';
import type { Cli } from './cli.ts';
import { type FolderFlags, type Folders, folderOptions } from './folders.ts';

/** What the commands about plans and runs have in common. */
export interface RunFlags extends FolderFlags {
  readonly db?: string;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

export function runOptions(command: Command): Command {
  return folderOptions(command)
    .option('--db <file>', 'the run store (default writ.db in the state folder)')
    .option('--json', 'one JSON document')
    .option('--verbose', 'say more on the way');
}

export function dbPathOf(cli: Cli, flags: RunFlags, places: Folders): string {
  return flags.db === undefined ? statePaths(places.state).database : resolve(cli.cwd, flags.db);
}

/** Where a plan runs: the current folder by its real path, with our own state hidden from commands. */
export function groundOf(cli: Cli, places: Folders, dbPath?: string): Ground {
  const records =
    dbPath === undefined ? [] : ['', '-wal', '-shm', '.checkpoint'].map((end) => `${dbPath}${end}`);
  return {
    workingDir: realpathSync(cli.cwd),
    // What is not there yet cannot be covered; a file in its place is noticed when the store is verified.
    masked: [places.state, ...records.filter((file) => existsSync(file))],
  };
}

/** The built-in tools and those that `writ.yaml` lists. */
export async function registryOf(cli: Cli, places: Folders): Promise<ToolRegistry> {
  const { createRegistry, loadThirdPartyTools } = await import('../tools/index.ts');
  const files = (places.config.tools ?? []).map((file) => resolve(cli.cwd, file));
  return createRegistry(files.length === 0 ? [] : await loadThirdPartyTools(files, [places.state, cli.cwd]));
}

/** Files are named in messages and records as the person named them. */
export function readPolicy(cli: Cli, file: string | undefined, registry: ToolRegistry): LoadedPolicy {
  if (file === undefined)
    throw new WritError(CODES.invalid_policy, 'there is no policy: nothing runs without one', {
      suggestion: 'name one with --policy policy.yaml; docs/policy.md shows how to write it',
      exit: EXIT.usage,
    });
  const text = readTextFile(resolve(cli.cwd, file), POLICY_FILE.code, POLICY_FILE.maxBytes);
  return loadPolicy(text, file, registry.otherRules);
}

export function readPlan(cli: Cli, file: string): LoadedPlan {
  return loadPlan(readTextFile(resolve(cli.cwd, file), PLAN_FILE.code, PLAN_FILE.maxBytes), file);
}

export function findRun(reader: RunReader, id: string): RunRow {
  const run = reader.getRun(id);
  if (run) return run;
  throw new WritError(CODES.replay_missing, `there is no run ${id}, or more than one begins like that`, {
    suggestion: 'writ list-runs shows what there is; --db says where to look',
    exit: EXIT.usage,
  });
}

export function exitOf(run: Pick<RunRow, 'status' | 'denied_steps'>): ExitCode {
  if (run.status === 'completed') return EXIT.ok;
  if (run.status === 'waiting') return EXIT.waiting;
  return run.denied_steps > 0 ? EXIT.denied : EXIT.failed;
}

/** Writes pieces of text, waits when the reader is slower than we are, and stops when it has gone. */
export async function writePieces(cli: Cli, pieces: Iterable<string>): Promise<void> {
  let gone: Error | undefined;
  const onError = (error: Error) => {
    gone = error;
  };
  cli.stdout.on('error', onError);
  try {
    for (const piece of pieces) {
      if (gone) break;
      if (cli.stdout.write(piece)) continue;
      await new Promise<void>((done) => cli.stdout.once('drain', done).once('error', () => done()));
    }
    // Errors of the last write arrive on a later turn.
    await new Promise((done) => setImmediate(done));
  } finally {
    // `writ report … | head` closes the pipe early: that is the reader's business, not a failure.
    if ((gone as NodeJS.ErrnoException | undefined)?.code !== 'EPIPE') cli.stdout.off('error', onError);
  }
  if (gone && (gone as NodeJS.ErrnoException).code !== 'EPIPE') throw gone;
}
