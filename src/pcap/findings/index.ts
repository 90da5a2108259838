import type { Analysis } from '../analysis.ts';
import type { Finding } from '../semantic/types.ts';
import { CONNECT_RULES } from './connect-rules.ts';
import { NAME_RULES } from './name-rules.ts';
import { NETWORK_RULES } from './network-rules.ts';
import type { FindingRule } from './rule.ts';
import { TCP_RULES } from './tcp-rules.ts';

export type { FindingRule } from './rule.ts';

export const RULES: readonly FindingRule[] = [
  ...CONNECT_RULES,
  ...TCP_RULES,
  ...NETWORK_RULES,
  ...NAME_RULES,
];

const ORDER = { CRITICAL: 0, HIGH: 1, MEDIUM: 2, LOW: 3, INFO: 4 } as const;

/** Every rule's findings, gravest first. */
export function findingsOf(analysis: Analysis): readonly Finding[] {
  return RULES.flatMap((rule) => rule.find(analysis)).sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
}
