import { classify } from './classify/index.ts';
import type { ShellAuditRecord } from './read.ts';
import type { ShellClass } from './types.ts';

/** Which rule decided about a recorded command, and what would have changed it. */
export interface Explanation {
  readonly audit_id: string;
  readonly command: string;
  readonly classification: ShellClass;
  readonly tier: number;
  readonly rule: string;
  readonly reason: string;
  /** Part of the command that decided, as [start, end) offsets; null when it can no longer be told. */
  readonly span: readonly [number, number] | null;
  /** rule · person · nobody */
  readonly decided_by: 'rule' | 'person' | 'nobody';
  readonly outcome: string;
  readonly change: readonly string[];
}

/**
 * The record holds the rule; the sentence and the place come from classifying the recorded command again.
 * Where today's tables (or a redacted word) lead to another rule, that is said instead of glossed over.
 */
export function explain(record: ShellAuditRecord): Explanation {
  const judged = record.modified_command ?? record.command;
  const now = classify(judged);
  const same = now.rule === record.rule && now.classification === record.classification;
  return {
    audit_id: record.audit_id,
    command: judged,
    classification: record.classification,
    tier: record.tier_triggered,
    rule: record.rule,
    reason: same
      ? now.reason
      : `The rule ${record.rule} decided then. Today's tables say ${now.classification} by ${now.rule}: ${now.reason}`,
    span: same ? now.span : null,
    decided_by: decidedBy(record),
    outcome: outcomeOf(record),
    change: changes(record),
  };
}

function decidedBy(record: ShellAuditRecord): Explanation['decided_by'] {
  switch (record.action) {
    case 'user_approved':
    case 'user_denied':
    case 'user_modified':
      return 'person';
    case 'user_abandoned':
      return record.error === 'not_executable' ? 'rule' : 'nobody';
    case 'auto_approved':
    case null:
      return 'rule';
  }
}

function outcomeOf(record: ShellAuditRecord): string {
  if (record.error === 'unknown_outcome')
    return 'started; its end was not seen (the process was interrupted)';
  if (record.error === 'not_executable') return 'not run: it needs a shell, and Writ starts none';
  if (record.error === 'forbidden_command') return 'not run: forbidden';
  if (record.status === 'denied')
    return `not run: ${record.action === 'user_denied' ? 'denied' : 'nobody approved it'}${record.denial_reason ? ` (${record.denial_reason})` : ''}`;
  if (record.error !== null) return `ended with ${record.error}`;
  return `ran, exit code ${record.exit_code}`;
}

function changes(record: ShellAuditRecord): readonly string[] {
  if (record.error === 'not_executable')
    return [
      'Write it as one program with its arguments, or as programs joined by pipes: no ;, &&, $( ), redirection.',
      'Run the parts one after the other; each is judged on its own.',
    ];
  switch (record.classification) {
    case 'FORBIDDEN':
      return ['Nothing: tier 0 is never asked about and never run, whoever approves.'];
    case 'SAFE':
      return [
        'It ran without a question because every option of it is known to read only.',
        'An option outside the table of its program, another program, a chain or a redirection would be asked about.',
      ];
    case 'RISKY':
      return riskyChanges(record);
  }
}

function riskyChanges(record: ShellAuditRecord): readonly string[] {
  const asked =
    record.action === 'user_abandoned'
      ? ['Run it where a person can answer: writ shell run -- … at a terminal, and [A]pprove.']
      : record.action === 'user_denied'
        ? ['Propose what the person asked for instead; a denial can only be lifted by asking again.']
        : [];
  return [
    ...asked,
    record.tier_triggered === 2
      ? 'A read verb (list, show, get, check, exists, wait) of the same Azure resource runs without a question.'
      : record.tier_triggered === 1
        ? 'The same program with options that only read runs without a question: the reason names the one that does not.'
        : 'A program of the allow list with options that only read runs without a question.',
  ];
}
