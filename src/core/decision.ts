/**
 * Evaluation → Decision.
 *
 * D1 There is one order of severity: allow < warn < require_approval < deny.
 * D2 A decision carries every evaluation that led to it.
 * D3 No evaluation at all is a denial: silence is not consent.
 */
export const VERDICTS = ['allow', 'warn', 'require_approval', 'deny'] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Evaluation {
  /** Who judged: `shell.classifier`, `policy`, `opa:network.wasm`, `onnx:secrets` … */
  readonly evaluator: string;
  readonly verdict: Verdict;
  /** The rule that decided, by its name or id. */
  readonly rule: string;
  readonly reason: string;
  /** Where the rule is written, when it comes from a file. */
  readonly file?: string;
  readonly line?: number;
  /** Role that must approve, when the verdict is `require_approval` and the rule names one. */
  readonly requiredRole?: string;
  readonly evidence?: readonly string[];
}

export const AGGREGATION_METHODS = [
  'most_restrictive',
  'unanimous',
  'majority',
  'any_deny',
  'all_allow',
] as const;
export type AggregationMethod = (typeof AGGREGATION_METHODS)[number];

export interface Decision {
  readonly verdict: Verdict;
  readonly method: AggregationMethod;
  readonly evaluations: readonly Evaluation[];
}

const severity: Record<Verdict, number> = { allow: 0, warn: 1, require_approval: 2, deny: 3 };

export function severityOf(verdict: Verdict): number {
  return severity[verdict];
}

export function strictest(verdicts: readonly Verdict[]): Verdict {
  if (verdicts.length === 0) return 'deny';
  return verdicts.reduce((worst, next) => (severity[next] > severity[worst] ? next : worst));
}

/**
 * The aggregation methods of the CabinCrew protocol.
 * - most_restrictive: the strictest verdict.
 * - unanimous: everyone must say the same; disagreement is a denial.
 * - majority: more than half agree; without a majority the strictest.
 * - any_deny: a single deny denies; otherwise the strictest of the rest.
 * - all_allow: allow only if all allow; anything else is a denial unless all but warnings (warn).
 */
export function aggregate(
  evaluations: readonly Evaluation[],
  method: AggregationMethod = 'most_restrictive',
): Decision {
  return {
    verdict: aggregateVerdicts(
      evaluations.map((e) => e.verdict),
      method,
    ),
    method,
    evaluations,
  };
}

function aggregateVerdicts(verdicts: readonly Verdict[], method: AggregationMethod): Verdict {
  const first = verdicts[0];
  if (first === undefined) return 'deny';
  switch (method) {
    case 'most_restrictive':
    case 'any_deny':
      return strictest(verdicts);
    case 'unanimous':
      return verdicts.every((v) => v === first) ? first : 'deny';
    case 'majority': {
      for (const candidate of VERDICTS) {
        if (verdicts.filter((v) => v === candidate).length * 2 > verdicts.length) return candidate;
      }
      return strictest(verdicts);
    }
    case 'all_allow': {
      const worst = strictest(verdicts);
      return worst === 'require_approval' ? 'deny' : worst;
    }
  }
}

/** The evaluation a person should read first: the first of the strictest ones. */
export function decidingEvaluation(decision: Decision): Evaluation | undefined {
  return decision.evaluations.find((e) => e.verdict === decision.verdict) ?? decision.evaluations[0];
}
