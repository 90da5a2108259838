/**
 * The command tree of the Azure CLI (its published reference, version 2.91): which words are groups and
 * which are commands, so that the verb is found where the CLI finds it and not where a word looks like one.
 *
 * One line a group: `name: command command …`; one blank of indentation a level. A top-level group is
 * parsed when it is first asked for.
 */
import { APPS } from './tree/apps.ts';
import { COMPUTE } from './tree/compute.ts';
import { DATABASES } from './tree/databases.ts';
import { MANAGEMENT } from './tree/management.ts';
import { MESSAGING } from './tree/messaging.ts';
import { NETWORK } from './tree/network.ts';
import { STORAGE } from './tree/storage.ts';
import { type VerbKind, verbKind } from './verbs.ts';

export interface Group {
  readonly groups: Map<string, Group>;
  /** Each command with what it does, judged once when the group is parsed. */
  readonly commands: Map<string, VerbKind>;
}

/** Commands that stand directly after `az`. */
export const ROOT_COMMANDS: ReadonlySet<string> = new Set(
  'configure feedback find interactive login logout rest self-test survey upgrade version'.split(' '),
);

const LINE = /^( *)([a-z0-9][a-z0-9_-]*):((?: [a-z0-9][a-z0-9_-]*)*)$/;

/** Top-level name → its lines. */
function blocks(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let current: string[] = [];
  for (const text of [APPS, COMPUTE, DATABASES, MANAGEMENT, MESSAGING, NETWORK, STORAGE]) {
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (!line.startsWith(' ')) {
        const name = line.slice(0, line.indexOf(':'));
        if (found.has(name)) throw new Error(`command group declared twice: ${name}`);
        current = [];
        found.set(name, current);
      }
      current.push(line);
    }
  }
  return found;
}

/** Parses the lines of one top-level group; throws on a line that is not of the form. */
export function parseGroup(lines: readonly string[]): Group {
  const stack: Group[] = [];
  const path: string[] = [];
  for (const line of lines) {
    const match = LINE.exec(line);
    if (match === null) throw new Error(`malformed line in the command tree: ${line}`);
    const depth = match[1]!.length;
    if (depth > stack.length || (depth === 0 && stack.length > 0)) {
      throw new Error(`misplaced line in the command tree: ${line}`);
    }
    path.length = depth;
    path.push(match[2]!);
    const group: Group = { groups: new Map(), commands: new Map() };
    for (const command of match[3]!.split(' ')) {
      if (command === '') continue;
      const words = [...path, command];
      group.commands.set(command, verbKind(words, words.join(' ')));
    }
    stack.length = depth;
    stack[depth - 1]?.groups.set(match[2]!, group);
    stack.push(group);
  }
  const top = stack[0];
  if (top === undefined) throw new Error('empty command group');
  return top;
}

/** A reader of the tree; parsing is put off until a group is asked for. */
export function commandTree(): { group(name: string): Group | undefined; names(): Iterable<string> } {
  const text = blocks();
  const parsed = new Map<string, Group>();
  return {
    names: () => text.keys(),
    group(name) {
      const known = parsed.get(name);
      if (known !== undefined) return known;
      const lines = text.get(name);
      if (lines === undefined) return undefined;
      const group = parseGroup(lines);
      parsed.set(name, group);
      return group;
    },
  };
}
