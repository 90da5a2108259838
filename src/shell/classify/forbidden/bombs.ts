/** Functions that call themselves in new processes: what a fork bomb is, whatever its name. */
import type { ParsedScript, SyntaxNode } from 'unbash';
import { forEachChild } from 'unbash';
import type { Rule } from '../rule.ts';
import { forkBomb } from './rules.ts';

interface Calls {
  /** Names called where a new process runs them: in a pipe, in the background, in a subshell. */
  readonly forked: Set<string>;
  readonly any: Set<string>;
}

const MOST_NODES = 20_000;

function collect(body: SyntaxNode): Calls {
  const calls: Calls = { forked: new Set(), any: new Set() };
  let left = MOST_NODES;
  const visit = (node: SyntaxNode, forks: boolean): void => {
    left -= 1;
    if (left < 0) return;
    const inside =
      forks ||
      (node.type === 'Pipeline' && node.commands.length > 1) ||
      (node.type === 'Statement' && node.background === true) ||
      node.type === 'Subshell' ||
      node.type === 'CommandExpansion' ||
      node.type === 'ProcessSubstitution' ||
      node.type === 'Coproc';
    if (node.type === 'Command' && node.name !== undefined) {
      calls.any.add(node.name.value);
      if (inside) calls.forked.add(node.name.value);
    }
    forEachChild(node, (child) => visit(child, inside));
  };
  visit(body, false);
  return calls;
}

function functions(tree: ParsedScript): Map<string, Calls> {
  const found = new Map<string, Calls>();
  let left = MOST_NODES;
  const visit = (node: SyntaxNode): void => {
    left -= 1;
    if (left < 0) return;
    if (node.type === 'Function') found.set(node.name.value, collect(node.body));
    forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** Whether a function reaches itself again, with a new process somewhere on the way. */
function multiplies(name: string, all: ReadonlyMap<string, Calls>): boolean {
  const seen = new Set<string>();
  const walk = (current: string, forked: boolean): boolean => {
    const calls = all.get(current);
    if (calls === undefined) return false;
    for (const next of calls.any) {
      const forks = forked || calls.forked.has(next);
      if (next === name && forks) return true;
      const state = `${next} ${forks}`;
      if (seen.has(state)) continue;
      seen.add(state);
      if (walk(next, forks)) return true;
    }
    return false;
  };
  return walk(name, false);
}

/** The classic written without the blanks the grammar needs: `:(){:|:&};:`. */
function isSqueezed(text: string): boolean {
  const tight = text.replace(/\s+/g, '');
  const open = tight.indexOf('(){');
  if (open < 1 || tight.length > 512) return false;
  const name = tight.slice(0, open).replace(/^function/, '');
  const body = tight.slice(open + 3, tight.indexOf('}', open));
  if (name === '' || !body.includes('&')) return false;
  const calls = body.split(/[|&;]+/).filter((call) => call !== '');
  return calls.length > 1 && calls.every((call) => call === name);
}

export function findBomb(tree: ParsedScript, text: string): Rule | null {
  if (!text.includes('(') && !text.includes('function')) return null;
  if (isSqueezed(text)) return forkBomb;
  const all = functions(tree);
  for (const name of all.keys()) if (multiplies(name, all)) return forkBomb;
  return null;
}
