import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { Evaluation, Json } from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import type { McpConfig } from './config.ts';
import type { McpFacts } from './facts.ts';
import { valuesAt } from './rules.ts';

/**
 * Paths in arguments stay in their workspace.
 *
 * W1 A path is made absolute (against the first root) and normalised before it is judged.
 * W2 Links count: what exists of a path is resolved, so a link out of the workspace is outside.
 * W3 A path that is not a plain string is refused, not skipped.
 */
export function judgePaths(workspaces: McpConfig['workspaces'], facts: McpFacts): Evaluation | undefined {
  const mine = workspaces.filter((w) => anyMatches(w.servers, facts.server));
  if (mine.length === 0 || facts.method !== 'tools/call') return undefined;
  for (const workspace of mine) {
    const roots = workspace.roots.map((root) => resolved(resolve(root)));
    const values = workspace.arguments.flatMap((path) => valuesAt(facts.arguments, path));
    const bad = values.map((value) => mistakeOf(value, roots)).find((m) => m !== undefined);
    if (bad !== undefined) return evaluation('deny', bad);
  }
  return evaluation('allow', 'every path lies in the workspace');
}

function evaluation(verdict: 'allow' | 'deny', reason: string): Evaluation {
  return { evaluator: 'mcp.workspace', verdict, rule: 'workspace', reason };
}

function mistakeOf(value: Json, roots: readonly string[]): string | undefined {
  if (typeof value !== 'string' || value.includes('\0')) return 'a path is not a plain text';
  const path = resolved(resolve(roots[0] ?? '/', value));
  const inside = roots.some((root) => path === root || path.startsWith(root === sep ? sep : root + sep));
  return inside ? undefined : 'a path leads out of the workspace';
}

/** The path with every link in it followed, as far as it exists. */
function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(resolved(parent), basename(path));
  }
}
