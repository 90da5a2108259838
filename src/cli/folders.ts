import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Cli } from './cli.ts';
import { type Config, loadConfig } from './config.ts';

/** Where state and audit files live: flag, then environment, then writ.yaml, then the current folder. */
export interface Folders {
  readonly state: string;
  readonly audit: string;
  readonly config: Config;
}

export interface FolderFlags {
  readonly stateDir?: string;
  readonly auditDir?: string;
}

export function folderOptions(command: Command): Command {
  return command
    .option('--state-dir <dir>', 'state of this project (default .writ, or WRIT_STATE_DIR)')
    .option('--audit-dir <dir>', 'records of investigations (default audit, or WRIT_AUDIT_DIR)');
}

export function folders(cli: Cli, flags: FolderFlags): Folders {
  const config = loadConfig(cli.cwd);
  const place = (
    flag: string | undefined,
    env: string | undefined,
    configured: string | undefined,
    usual: string,
  ) => resolve(cli.cwd, flag ?? env ?? configured ?? usual);
  return {
    state: place(flags.stateDir, cli.env.WRIT_STATE_DIR, config.state_dir, '.writ'),
    audit: place(flags.auditDir, cli.env.WRIT_AUDIT_DIR, config.audit_dir, 'audit'),
    config,
  };
}
