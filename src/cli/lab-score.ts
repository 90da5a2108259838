import type { Truth, TruthCause } from '../lab/index.ts';

/** Compares what was claimed with what is true. The only place outside the lab that sees an answer sheet. */
export interface Claim {
  readonly kind: string;
  readonly resource: string;
  readonly detail: string | null;
}

export interface Score {
  readonly found: readonly Claim[];
  readonly missed: readonly Claim[];
  readonly wrong: readonly Claim[];
  readonly exact: boolean;
}

/** Kinds whose detail counts: the rule, route, record, network or port at fault. */
const DETAIL_COUNTS = new Set([
  'nsg_deny',
  'overexposed_rule',
  'route_blackhole',
  'route_wrong_next_hop',
  'asymmetric_route',
  'dns_record_missing',
  'dns_record_wrong',
  'dns_zone_not_linked',
  'service_not_listening',
  'os_firewall_drop',
  'os_firewall_reject',
  'app_not_reading',
  'app_resets',
]);

export function score(claims: readonly Claim[], truth: Truth): Score {
  const left = [...claims];
  const found: Claim[] = [];
  const missed: Claim[] = [];
  for (const cause of truth.causes) {
    const at = left.findIndex((claim) => same(claim, cause));
    if (at < 0) missed.push(cause);
    else found.push(...left.splice(at, 1));
  }
  return { found, missed, wrong: left, exact: missed.length === 0 && left.length === 0 };
}

function same(claim: Claim, cause: TruthCause): boolean {
  const equal = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();
  if (claim.kind !== cause.kind || !equal(claim.resource, cause.resource)) return false;
  if (!DETAIL_COUNTS.has(cause.kind) || cause.detail === null) return true;
  return claim.detail !== null && equal(claim.detail, String(cause.detail));
}
