import { statSync } from 'node:fs';
import { exactPath, type Policy, patternFolder, type ShellRules, wholeFolder } from '../policy/index.ts';
import type { Profile } from '../sandbox/index.ts';
import { findClosed } from './denied-files.ts';
import { closingOf } from './file-closing.ts';
import { isPlain, protectedFrom } from './real-path.ts';
import { fileRules, listsFiles, readablePaths } from './shell-ground.ts';
import type { Ground } from './tool.ts';

/**
 * What a command sees of the disk. Writable is what fs.write may write as a whole, or the working folder. What
 * the policy denies inside the folders it sees looks empty to it: `grep -r`, `find`, `tar` and all they start
 * find nothing there, whatever their arguments say.
 */
export function commandView(
  rules: ShellRules,
  policy: Policy,
  ground: Ground,
  needed: readonly string[],
): Profile | { readonly problem: string } {
  if (rules.sandbox === 'none') return { kind: 'none' };
  const base = ground.workingDir;
  const { read, write } = fileRules(policy);
  const ours = protectedFrom(ground.masked);
  const usable = (paths: readonly (string | undefined)[]) =>
    [...new Set(paths)].filter(
      (path): path is string => path !== undefined && isPlain(path) && ours(path) === undefined,
    );
  const folders = (patterns: readonly string[]) => usable(patterns.map((p) => patternFolder(p, base)));
  const writable = write ? usable(write.allow_paths.map((p) => writablePlace(p, base))) : [base];
  const visible = folders([...(read?.allow_paths ?? []), ...(rules.allow_paths ?? []), './**']);
  const closing = commandClosing(rules, policy, base, needed);
  const closed = closing
    ? findClosed([...visible, ...writable, ...folders(closing.patterns)], closing)
    : NOTHING;
  if ('problem' in closed) return closed;
  return {
    kind: 'bubblewrap',
    writable,
    readonly: [...visible.filter((path) => !writable.includes(path)), ...closed.readonly],
    masked: [...ground.masked, ...closed.masked],
    network: rules.network,
  };
}

/** A pattern for some names in a folder cannot be mounted: a command could then write all of them. */
function writablePlace(pattern: string, base: string): string | undefined {
  const file = exactPath(pattern, base);
  if (file === undefined) return wholeFolder(pattern, base);
  return statSync(file, { throwIfNoEntry: false })?.isFile() ? file : undefined;
}

const NOTHING = { masked: [], readonly: [] };

/** The shell.run block's own lists stand alone; without them a command keeps to those of fs.read and fs.write. */
function commandClosing(rules: ShellRules, policy: Policy, base: string, needed: readonly string[]) {
  const { read, write } = fileRules(policy);
  const own = listsFiles(rules);
  const hiddenAllowed = rules.allow_hidden ?? (!own && [read, write].some((r) => r?.allow_hidden));
  const speaks = own || read !== undefined || write !== undefined;
  const listed = own ? (rules.allow_paths ?? []) : [read, write].flatMap((r) => r?.allow_paths ?? []);
  return closingOf({
    base,
    deny: own ? (rules.deny_paths ?? []) : (read?.deny_paths ?? []),
    fixed: write?.deny_paths ?? [],
    readable: hiddenAllowed || !speaks ? undefined : readablePaths(rules, read, write, base),
    kept: [...needed, ...listed.map((pattern) => patternFolder(pattern, base))],
  });
}
