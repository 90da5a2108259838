import { realpathSync, statSync } from 'node:fs';
import {
  type CommandGround,
  compilePaths,
  type FsRules,
  type JudgePath,
  type Policy,
  patternFolder,
  type ShellRules,
} from '../policy/index.ts';
import type { Profile } from '../sandbox/index.ts';
import { findProgram } from './shell-facts.ts';
import type { Ground } from './tool.ts';

/**
 * A command keeps to the same files as the plan's other steps: what fs.read and fs.write allow, or what the
 * shell.run block itself lists, or, when the policy speaks of no files at all, the working folder.
 */
export function commandGround(rules: ShellRules, policy: Policy, base: string): CommandGround {
  const { read, write } = fileRules(policy);
  const writable = write ? compilePaths(write, base) : workspace(base);
  return {
    base,
    resolve: (word) => findProgram(word, base),
    readable: readablePaths(rules, read, write, base),
    writable,
    planWrites: (real) => write !== undefined && writable({ asked: real, lexical: real, real }) === undefined,
  };
}

function fileRules(policy: Policy): {
  readonly read: FsRules | undefined;
  readonly write: FsRules | undefined;
} {
  return {
    read: policy.tools['fs.read'] as FsRules | undefined,
    write: policy.tools['fs.write'] as FsRules | undefined,
  };
}

function workspace(base: string): JudgePath {
  return compilePaths({ allow_paths: ['./**'], deny_paths: [], allow_hidden: true }, base);
}

function readablePaths(
  rules: ShellRules,
  read: FsRules | undefined,
  write: FsRules | undefined,
  base: string,
): JudgePath {
  if (rules.allow_paths !== undefined || rules.deny_paths !== undefined)
    return compilePaths(
      {
        allow_paths: rules.allow_paths ?? ['./**'],
        deny_paths: rules.deny_paths ?? [],
        allow_hidden: rules.allow_hidden ?? false,
      },
      base,
    );
  if (read === undefined && write === undefined) return workspace(base);
  const reads = read && compilePaths(read, base);
  const writes = write && compilePaths(write, base);
  return (subject) => {
    const finding = reads?.(subject);
    if (reads && finding === undefined) return undefined;
    // What reading denies by name stays denied, even where writing would be allowed.
    if (finding?.rule === 'deny_paths' || writes === undefined) return finding;
    const written = writes(subject);
    return written === undefined ? undefined : (finding ?? written);
  };
}

/** How far a command is shut in. Writable is what fs.write may write, or the working folder. */
export function commandProfile(rules: ShellRules, policy: Policy, ground: Ground): Profile {
  if (rules.sandbox === 'none') return { kind: 'none' };
  const base = ground.workingDir;
  const { read, write } = fileRules(policy);
  const folders = (patterns: readonly string[]) =>
    [...new Set(patterns.map((pattern) => patternFolder(pattern, base)))].filter(isPlain);
  const writable = write ? folders(write.allow_paths) : [base];
  const visible = folders([...(read?.allow_paths ?? []), ...(rules.allow_paths ?? []), './**']);
  return {
    kind: 'bubblewrap',
    writable,
    readonly: visible.filter((path) => !writable.includes(path)),
    masked: ground.masked,
    network: rules.network,
  };
}

/** Exists, is not the root, and has no link in it: only such a path can be bound. */
function isPlain(path: string): boolean {
  try {
    return (
      path !== '/' && realpathSync(path) === path && (statSync(path).isDirectory() || statSync(path).isFile())
    );
  } catch {
    return false;
  }
}
