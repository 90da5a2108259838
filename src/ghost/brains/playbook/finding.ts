import type { CauseKind } from '../../../core/index.ts';

/** One proven cause, with what proves it and what would mend it. */
export interface Finding {
  readonly kind: CauseKind;
  readonly resource: string;
  readonly detail: string | null;
  readonly explanation: string;
  readonly evidence: readonly string[];
  readonly remedies: readonly string[];
  /** What shows this fault, and would show that it is gone. */
  readonly checks?: readonly FailedCheck[];
}

export interface FailedCheck {
  readonly command: string;
  /** What it prints once the fault is gone. */
  readonly expected: string;
}

/** What could not be looked at, and why: named in the report, never guessed over. */
export interface OpenPoint {
  readonly what: string;
  readonly why: string;
}

/** The same cause found on two ways is one cause with more evidence. */
export function mergeFindings(all: readonly Finding[]): readonly Finding[] {
  const merged = new Map<string, Finding>();
  for (const finding of all) {
    const key = `${finding.kind} ${finding.resource} ${finding.detail ?? ''}`.toLowerCase();
    const known = merged.get(key);
    merged.set(
      key,
      known === undefined
        ? finding
        : {
            ...known,
            evidence: [...new Set([...known.evidence, ...finding.evidence])],
            remedies: [...new Set([...known.remedies, ...finding.remedies])],
            checks: [...(known.checks ?? []), ...(finding.checks ?? [])],
          },
    );
  }
  return [...merged.values()];
}
