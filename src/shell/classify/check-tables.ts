/** Every rule proves itself: its examples are classified and the deciding rule compared. */

import { commandTree } from './azure/tree.ts';
import { classify } from './classify.ts';
import { DANGER_RULES } from './dangers.ts';
import { FORBIDDEN_RULES } from './forbidden/rules.ts';
import { OPTION_RULES } from './options.ts';
import { COMMON_RULES } from './programs/common.ts';
import { PROGRAMS } from './programs/index.ts';
import type { Rule } from './rule.ts';
import { STRUCTURE_RULES } from './structure-rules.ts';

export interface TableFault {
  readonly rule: string;
  readonly example: string;
  readonly fault: string;
}

export function allRules(): readonly Rule[] {
  const found = new Map<string, Rule>();
  const listed = [
    ...FORBIDDEN_RULES,
    ...STRUCTURE_RULES,
    ...DANGER_RULES,
    ...OPTION_RULES,
    ...COMMON_RULES,
    ...PROGRAMS.flatMap((program) => [program.safe, ...program.rules]),
  ];
  for (const rule of listed) {
    const other = found.get(rule.id);
    if (other !== undefined && other !== rule) throw new Error(`two rules are called ${rule.id}`);
    found.set(rule.id, rule);
  }
  return [...found.values()];
}

/** What is wrong with the tables; empty when every example holds and every line of the trees parses. */
export function checkTables(): readonly TableFault[] {
  const faults: TableFault[] = [];
  for (const rule of allRules()) {
    for (const example of rule.match) {
      const got = classify(example);
      if (got.rule !== rule.id) faults.push({ rule: rule.id, example, fault: `decided by ${got.rule}` });
    }
    for (const example of rule.notMatch) {
      if (classify(example).rule === rule.id)
        faults.push({ rule: rule.id, example, fault: 'matches and should not' });
    }
  }
  const tree = commandTree();
  for (const name of tree.names()) {
    if (tree.group(name) === undefined)
      faults.push({ rule: 'az.read', example: name, fault: 'group is missing from the tree' });
  }
  return faults;
}
