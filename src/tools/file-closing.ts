import { compilePaths, type JudgePath } from '../policy/index.ts';
import type { Closing } from './denied-files.ts';

/** What a process that walks folders by itself must not find there, in the words of a policy. */
export interface ClosingRules {
  readonly base: string;
  /** Patterns of what it may not see. */
  readonly deny: readonly string[];
  /** Patterns of what it may see and not change. */
  readonly fixed: readonly string[];
  /** What may be read. A hidden name that it does not allow is closed; absent, hidden names are open. */
  readonly readable: JudgePath | undefined;
  /** Paths that stay reachable whatever their names: the program, the folder it runs in, what a list spells out. */
  readonly kept: readonly string[];
}

/** Undefined when nothing is closed. */
export function closingOf(
  rules: ClosingRules,
): (Closing & { readonly patterns: readonly string[] }) | undefined {
  const { base, deny, fixed, readable, kept } = rules;
  if (deny.length === 0 && fixed.length === 0 && readable === undefined) return undefined;
  const denied = denying(deny, base);
  const unnamed = (path: string) =>
    readable !== undefined &&
    isHidden(path, base) &&
    !kept.some((other) => other === path || other.startsWith(`${path}/`)) &&
    readable({ asked: path, lexical: path, real: path }) !== undefined;
  return {
    // A deny pattern with a folder in front may point where nothing else does.
    patterns: [...deny, ...fixed].filter((pattern) => pattern.startsWith('/')),
    hidden: (path) => denied(path) || unnamed(path),
    fixed: denying(fixed, base),
  };
}

/** Hidden names that belong to tools, not to people's secrets: without them git and packages do not work. */
const TOOLS_OWN = /\/(\.git(\/|$)|\.git(ignore|attributes|modules)$|node_modules\/)/;

function isHidden(path: string, base: string): boolean {
  const below = path.startsWith(`${base}/`) ? path.slice(base.length) : path;
  return below.includes('/.') && !TOOLS_OWN.test(below);
}

function denying(patterns: readonly string[], base: string): (path: string) => boolean {
  if (patterns.length === 0) return () => false;
  const judge = compilePaths({ allow_paths: ['/**'], deny_paths: patterns, allow_hidden: true }, base);
  return (path) => judge({ asked: path, lexical: path, real: path }) !== undefined;
}
