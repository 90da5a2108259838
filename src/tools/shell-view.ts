import { realpathSync, statSync } from 'node:fs';
import { compilePaths, type Policy, patternFolder, type ShellRules } from '../policy/index.ts';
import type { Profile } from '../sandbox/index.ts';
import { type Closing, findClosed } from './denied-files.ts';
import { fileRules, listsFiles, readablePaths } from './shell-ground.ts';
import type { Ground } from './tool.ts';

/**
 * What a command sees of the disk. Writable is what fs.write may write, or the working folder. What the policy
 * denies inside the folders it sees looks empty to it: `grep -r`, `find`, `tar` and all they start find nothing
 * there, whatever their arguments say.
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
  const folders = (patterns: readonly string[]) =>
    [...new Set(patterns.map((pattern) => patternFolder(pattern, base)))].filter(isPlain);
  const writable = write ? folders(write.allow_paths) : [base];
  const visible = folders([...(read?.allow_paths ?? []), ...(rules.allow_paths ?? []), './**']);
  const closing = closingOf(rules, policy, base, needed);
  // A deny pattern with a folder in front may point where nothing else does.
  const named = folders(closing?.patterns ?? []);
  const closed = closing ? findClosed([...visible, ...writable, ...named], closing) : NOTHING;
  if ('problem' in closed) return closed;
  return {
    kind: 'bubblewrap',
    writable,
    readonly: [...visible.filter((path) => !writable.includes(path)), ...closed.readonly],
    masked: [...ground.masked, ...closed.masked],
    network: rules.network,
  };
}

const NOTHING = { masked: [], readonly: [] };

/** Hidden names that belong to tools, not to people's secrets: without them git and packages do not work. */
const TOOLS_OWN = /\/(\.git(\/|$)|\.git(ignore|attributes|modules)$|node_modules\/)/;

/** What must be closed to a command; undefined when the policy closes nothing. */
function closingOf(
  rules: ShellRules,
  policy: Policy,
  base: string,
  needed: readonly string[],
): (Closing & { readonly patterns: readonly string[] }) | undefined {
  const { read, write } = fileRules(policy);
  const patterns = listsFiles(rules) ? (rules.deny_paths ?? []) : (read?.deny_paths ?? []);
  const fixed = write?.deny_paths ?? [];
  const open = rules.allow_hidden ?? (!listsFiles(rules) && [read, write].some((r) => r?.allow_hidden));
  const speaks = listsFiles(rules) || read !== undefined || write !== undefined;
  if (patterns.length === 0 && fixed.length === 0 && (open || !speaks)) return undefined;
  const denied = denying(patterns, base);
  const unchangeable = denying(fixed, base);
  const readable = readablePaths(rules, read, write, base);
  const lists = listsFiles(rules) ? rules.allow_paths : [read, write].flatMap((r) => r?.allow_paths ?? []);
  const kept = [...needed, ...(lists ?? []).map((pattern) => patternFolder(pattern, base))];
  const unnamed = (path: string) =>
    readable({ asked: path, lexical: path, real: path })?.rule === 'allow_hidden' &&
    !TOOLS_OWN.test(path.slice(base.length)) &&
    !kept.some((other) => other === path || other.startsWith(`${path}/`));
  return {
    patterns: [...patterns, ...fixed].filter((pattern) => pattern.startsWith('/')),
    hidden: (path) => denied(path) || (!open && unnamed(path)),
    fixed: unchangeable,
  };
}

function denying(patterns: readonly string[], base: string): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const judge = compilePaths({ allow_paths: ['/**'], deny_paths: patterns, allow_hidden: true }, base);
  return (path) => judge({ asked: path, lexical: path, real: path }) !== undefined;
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
