import {
  type CommandGround,
  compilePaths,
  type FsRules,
  type JudgePath,
  type Policy,
  type ShellRules,
} from '../policy/index.ts';
import { findProgram } from './shell-facts.ts';

/**
 * A command keeps to the same files as the plan's other steps: what fs.read and fs.write allow, or what the
 * shell.run block itself lists, or, when the policy speaks of no files at all, the working folder.
 */
export function commandGround(rules: ShellRules, policy: Policy, base: string): CommandGround {
  const { read, write } = fileRules(policy);
  const writable = writtenIn('fs.write', write ? compilePaths(write, base) : workspace(base));
  return {
    base,
    resolve: (word) => findProgram(word, base),
    readable: readablePaths(rules, read, write, base),
    writable,
    planWrites: (real) => write !== undefined && writable({ asked: real, lexical: real, real }) === undefined,
  };
}

export function fileRules(policy: Policy): {
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

type FileLists = Partial<Pick<ShellRules, 'allow_paths' | 'deny_paths' | 'allow_hidden'>>;

/** Findings of rules that stand in another tool's block. */
function writtenIn(block: string, judge: JudgePath): JudgePath {
  return (subject) => {
    const finding = judge(subject);
    return finding && { ...finding, block };
  };
}

/** The shell.run block has lists of its own, which then stand alone. */
export function listsFiles(rules: FileLists): boolean {
  return rules.allow_paths !== undefined || rules.deny_paths !== undefined;
}

export function readablePaths(
  rules: FileLists,
  read: FsRules | undefined,
  write: FsRules | undefined,
  base: string,
): JudgePath {
  if (listsFiles(rules))
    return compilePaths(
      {
        allow_paths: rules.allow_paths ?? ['./**'],
        deny_paths: rules.deny_paths ?? [],
        allow_hidden: rules.allow_hidden ?? false,
      },
      base,
    );
  if (read === undefined && write === undefined) return workspace(base);
  const hidden = rules.allow_hidden === undefined ? {} : { allow_hidden: rules.allow_hidden };
  const reads = read && writtenIn('fs.read', compilePaths({ ...read, ...hidden }, base));
  const writes = write && writtenIn('fs.write', compilePaths({ ...write, ...hidden }, base));
  return (subject) => {
    const finding = reads?.(subject);
    if (reads && finding === undefined) return undefined;
    // What reading denies by name stays denied, even where writing would be allowed.
    if (finding?.rule === 'deny_paths' || writes === undefined) return finding;
    const written = writes(subject);
    return written === undefined ? undefined : (finding ?? written);
  };
}
