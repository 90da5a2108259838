import type { Clock } from '../core/index.ts';
import type { Hypothesis, HypothesisState, SessionV1 } from './session-v1.ts';

/**
 * Hypotheses and denials: pure functions on the session.
 *
 * H1 At most three hypotheses are active; more wait their turn in the log.
 * H2 Three denials make a hypothesis UNVERIFIABLE; cumulative counts decide, a success resets only the
 *    consecutive ones and brings DENIED_ONCE and DENIED_TWICE back to ACTIVE.
 * H3 Terminal states are CONFIRMED, REFUTED and UNVERIFIABLE. CONTRADICTED is not: it waits for better evidence.
 */
export const MAX_ACTIVE = 3;
export const MAX_DENIALS = 3;
const MAX_HYPOTHESES = 40;
const MAX_DESCRIPTION = 300;

export const isTerminal = (state: HypothesisState) =>
  state === 'CONFIRMED' || state === 'REFUTED' || state === 'UNVERIFIABLE';

/** What a model's text says about hypotheses, line by line. Anything else in the text is just text. */
export type HypothesisStatement =
  | { readonly kind: 'formed'; readonly id: string; readonly description: string }
  | {
      readonly kind: 'settled';
      readonly id: string;
      readonly state: 'CONFIRMED' | 'REFUTED' | 'CONTRADICTED' | 'UNVERIFIABLE';
      readonly auditIds: readonly string[];
      readonly line: string;
    };

const SETTLED =
  /^\W*(?:hypothesis\s+)?(h\d{1,2})\s*(?:is|was|:)?\s*\**\s*(CONFIRMED|REFUTED|CONTRADICTED|UNVERIFIABLE)\b(.*)$/i;
const FORMED = /^\W*(?:hypothesis\s+)?(h\d{1,2})\**\s*[:—–-]\s*(.+)$/i;
const AUDIT_ID = /\bghost_[A-Za-z0-9_-]*?_\d{3,6}\b/g;

export function readStatements(text: string): readonly HypothesisStatement[] {
  return text
    .split('\n')
    .slice(0, 400)
    .flatMap((raw): HypothesisStatement[] => {
      const line = raw.slice(0, 1000);
      const settled = SETTLED.exec(line);
      if (settled) {
        const state = settled[2]!.toUpperCase() as 'CONFIRMED' | 'REFUTED' | 'CONTRADICTED' | 'UNVERIFIABLE';
        return [
          {
            kind: 'settled',
            id: settled[1]!.toLowerCase(),
            state,
            auditIds: settled[3]!.match(AUDIT_ID) ?? [],
            line: line.trim(),
          },
        ];
      }
      const formed = FORMED.exec(line);
      return formed
        ? [
            {
              kind: 'formed',
              id: formed[1]!.toLowerCase(),
              description: formed[2]!.trim().slice(0, MAX_DESCRIPTION),
            },
          ]
        : [];
    });
}

export function applyStatements(
  session: SessionV1,
  statements: readonly HypothesisStatement[],
  clock: Clock,
): SessionV1 {
  return statements.reduce(
    (s, statement) =>
      statement.kind === 'formed'
        ? form(s, statement.id, statement.description, clock)
        : settle(s, statement, clock),
    session,
  );
}

function form(session: SessionV1, id: string, description: string, clock: Clock): SessionV1 {
  if (session.hypothesis_log.some((h) => h.id === id) || session.hypothesis_log.length >= MAX_HYPOTHESES)
    return session;
  const hypothesis: Hypothesis = {
    id,
    description,
    state: 'ACTIVE',
    denial_count: 0,
    created_at: clock.now().toISOString(),
    resolved_at: null,
    resolving_audit_id: null,
    denial_events: [],
  };
  return withActive({
    ...session,
    hypothesis_log: [...session.hypothesis_log, hypothesis],
    denial_tracker: { ...session.denial_tracker, [id]: 0 },
    consecutive_denial_counter: { ...session.consecutive_denial_counter, [id]: 0 },
  });
}

function settle(
  session: SessionV1,
  statement: Extract<HypothesisStatement, { kind: 'settled' }>,
  clock: Clock,
): SessionV1 {
  const known = session.hypothesis_log.find((h) => h.id === statement.id);
  // UNVERIFIABLE is the loop's to say (H2), after denials; a model that says so merely stops testing it.
  if (known === undefined || known.state === statement.state) return session;
  const now = clock.now().toISOString();
  const next: Hypothesis = {
    ...known,
    state: statement.state,
    resolved_at: statement.state === 'CONTRADICTED' ? null : now,
    resolving_audit_id: statement.auditIds.at(-1) ?? known.resolving_audit_id,
  };
  const conflicts = conflictsAfter(session, known, statement);
  return withActive({
    ...session,
    hypothesis_log: replace(session.hypothesis_log, next),
    evidence_conflicts: conflicts,
  });
}

/** A contradiction is noted when it is seen, and closed when better evidence settles it. */
function conflictsAfter(
  session: SessionV1,
  before: Hypothesis,
  statement: Extract<HypothesisStatement, { kind: 'settled' }>,
): SessionV1['evidence_conflicts'] {
  if (statement.state === 'CONTRADICTED') {
    const conflict = {
      hypothesis_id: before.id,
      conflicting_audit_ids: statement.auditIds,
      higher_fidelity_source: 'pending',
      resolution: 'pending',
      description: statement.line.slice(0, MAX_DESCRIPTION),
    };
    return [...session.evidence_conflicts, conflict];
  }
  if (before.state !== 'CONTRADICTED') return session.evidence_conflicts;
  return session.evidence_conflicts.map((c) =>
    c.hypothesis_id === before.id && c.resolution === 'pending'
      ? {
          ...c,
          resolution: statement.state,
          higher_fidelity_source: statement.auditIds.at(-1) ?? 'not named',
        }
      : c,
  );
}

/** What the loop injects beside a tool's result, in the seed's words. */
export interface DenialMeta {
  readonly denial_count: number;
  readonly pivot_instruction?: string;
  readonly approaching_threshold?: true;
  readonly warning?: string;
  readonly denial_threshold_reached?: true;
  readonly instruction?: string;
}

export interface Denial {
  readonly command: string;
  readonly reason: string;
  readonly auditId: string | null;
  /** The hypothesis the call was for; without one, every active hypothesis counts. */
  readonly hypothesisId: string | undefined;
}

export function applyDenial(
  session: SessionV1,
  denial: Denial,
  clock: Clock,
): { readonly session: SessionV1; readonly meta: DenialMeta | undefined } {
  const named =
    denial.hypothesisId !== undefined && session.active_hypothesis_ids.includes(denial.hypothesisId)
      ? [denial.hypothesisId]
      : undefined;
  let next = session;
  let meta: DenialMeta | undefined;
  for (const id of named ?? session.active_hypothesis_ids) {
    const count = (next.denial_tracker[id] ?? 0) + 1;
    next = countDenial(next, id, count, denial, clock);
    // The gravest message wins: the brain must not miss that a hypothesis is closed.
    const own = denialMeta(id, count, next.active_hypothesis_ids.length);
    if (meta === undefined || own.denial_count >= meta.denial_count) meta = own;
  }
  return { session: withActive(next), meta };
}

function countDenial(session: SessionV1, id: string, count: number, denial: Denial, clock: Clock): SessionV1 {
  const known = session.hypothesis_log.find((h) => h.id === id);
  if (known === undefined) return session;
  const state: HypothesisState =
    count >= MAX_DENIALS ? 'UNVERIFIABLE' : count === 2 ? 'DENIED_TWICE' : 'DENIED_ONCE';
  const event = {
    turn: session.turn_count,
    command: denial.command,
    denial_reason: denial.reason,
    audit_id: denial.auditId,
  };
  return {
    ...session,
    hypothesis_log: replace(session.hypothesis_log, {
      ...known,
      state,
      denial_count: count,
      denial_events: [...known.denial_events, event],
      resolved_at: state === 'UNVERIFIABLE' ? clock.now().toISOString() : null,
    }),
    denial_tracker: { ...session.denial_tracker, [id]: count },
    consecutive_denial_counter: {
      ...session.consecutive_denial_counter,
      [id]: (session.consecutive_denial_counter[id] ?? 0) + 1,
    },
    active_hypothesis_ids:
      state === 'UNVERIFIABLE'
        ? session.active_hypothesis_ids.filter((a) => a !== id)
        : session.active_hypothesis_ids,
  };
}

function denialMeta(id: string, count: number, activeLeft: number): DenialMeta {
  if (count >= MAX_DENIALS) {
    const next =
      activeLeft > 0
        ? 'Go on with the next active hypothesis.'
        : 'No hypothesis is active: call complete_investigation.';
    return {
      denial_count: count,
      denial_threshold_reached: true,
      instruction: `Hypothesis ${id} is UNVERIFIABLE. ${next}`,
    };
  }
  if (count === 2) {
    return {
      denial_count: 2,
      approaching_threshold: true,
      warning: `Second denial for hypothesis ${id}. One more makes it UNVERIFIABLE.`,
    };
  }
  return {
    denial_count: count,
    pivot_instruction:
      'Command denied. Read denial_reason if there is one, and take another way to the same evidence.',
  };
}

/** A command that ran: consecutive counts start again, and hypotheses held back by denials are tested again. */
export function applySuccess(session: SessionV1, hypothesisId: string | undefined): SessionV1 {
  const ids =
    hypothesisId !== undefined && session.active_hypothesis_ids.includes(hypothesisId)
      ? [hypothesisId]
      : session.active_hypothesis_ids;
  return {
    ...session,
    consecutive_denial_counter: {
      ...session.consecutive_denial_counter,
      ...Object.fromEntries(ids.map((id) => [id, 0])),
    },
    hypothesis_log: session.hypothesis_log.map((h) =>
      ids.includes(h.id) && (h.state === 'DENIED_ONCE' || h.state === 'DENIED_TWICE')
        ? { ...h, state: 'ACTIVE' }
        : h,
    ),
  };
}

/** Active are the first three of the log that are not settled (H1). */
export function withActive(session: SessionV1): SessionV1 {
  return {
    ...session,
    active_hypothesis_ids: session.hypothesis_log
      .filter((h) => !isTerminal(h.state))
      .slice(0, MAX_ACTIVE)
      .map((h) => h.id),
  };
}

function replace(log: readonly Hypothesis[], next: Hypothesis): readonly Hypothesis[] {
  return log.map((h) => (h.id === next.id ? next : h));
}
