import type { Analysis } from '../analysis.ts';
import type { Finding } from '../semantic/types.ts';

/** A rule looks at one analysis and answers what it found. Pure: the same analysis gives the same findings. */
export interface FindingRule {
  readonly id: string;
  readonly find: (analysis: Analysis) => readonly Finding[];
}

const RULES: readonly FindingRule[] = [];

const ORDER = { CRITICAL: 0, HIGH: 1, MEDIUM: 2, LOW: 3, INFO: 4 } as const;

/** Every rule's findings, gravest first. */
export function findingsOf(analysis: Analysis): readonly Finding[] {
  return RULES.flatMap((rule) => rule.find(analysis)).sort((a, b) => ORDER[a.severity] - ORDER[b.severity]);
}
