import type { Json, Turn } from '../core/index.ts';
import type { ShellAuditRecord } from '../shell/index.ts';
import type { SessionV1 } from './session-v1.ts';

/**
 * The conversation of an earlier run, rebuilt from the audit trail: each command as a call, each outcome as
 * its result. Outputs are not stored anywhere, so results carry the recorded summary and say so.
 */
export function rebuildHistory(session: SessionV1, records: readonly ShellAuditRecord[]): Turn[] {
  const history: Turn[] = [{ role: 'user', text: session.symptom }];
  const known = session.hypothesis_log
    .map((h) => `${h.id.toUpperCase()}: ${h.description} [${h.state}]`)
    .join('\n');
  for (const [index, record] of records.entries()) {
    const id = `resumed_${index + 1}`;
    history.push({
      role: 'model',
      text: index === 0 ? known : '',
      calls: [{ id, name: 'run_shell_cmd', args: { command: record.command, reasoning: record.reasoning } }],
    });
    history.push({ role: 'tools', results: [{ id, name: 'run_shell_cmd', result: resultOf(record) }] });
  }
  history.push({
    role: 'user',
    text: `This session was interrupted and is resumed now. Everything above happened before ${records.at(-1)?.timestamp ?? session.created_at}. Validate the most important findings again before you go on.${known === '' ? '' : `\nHypotheses so far:\n${known}`}`,
  });
  return history;
}

function resultOf(record: ShellAuditRecord): Json {
  return {
    status: record.status,
    classification: record.classification,
    action: record.action,
    exit_code: record.exit_code,
    error: record.error,
    audit_id: record.audit_id,
    output: record.output_summary,
    _meta: {
      from_audit_trail: true,
      recorded_at: record.timestamp,
      ...(record.denial_reason ? { denial_reason: record.denial_reason } : {}),
    },
  };
}
