import type { ApprovalRecord, ApprovalStatus, ApprovalSubject } from './types.ts';

/** A row as stored: the state a person or a use has put it in. `expired` is never stored, time makes it. */
export type Row = Omit<ApprovalRecord, 'status'> & {
  readonly state: Exclude<ApprovalStatus, 'expired'>;
  readonly used_at: string | null;
};

export function statusAt(row: Pick<Row, 'state' | 'expires_at'>, now: Date): ApprovalStatus {
  switch (row.state) {
    case 'pending':
    case 'approved':
      // Written so that a date nobody can read has passed.
      return now.getTime() < Date.parse(row.expires_at) ? row.state : 'expired';
    case 'rejected':
    case 'used':
      return row.state;
  }
}

export function toRecord(row: Row, now: Date): ApprovalRecord {
  const { state: _state, used_at: _used, ...rest } = row;
  return { ...rest, status: statusAt(row, now) };
}

/** One row of SQLite, read field by field: the file may have been written by anything. */
export function readRow(raw: Record<string, unknown>): Row {
  const text = (name: string) => {
    const value = raw[name];
    if (typeof value !== 'string') throw new TypeError(`approvals.${name} is not text`);
    return value;
  };
  const maybe = (name: string) => (raw[name] === null ? null : text(name));
  return {
    approval_id: text('approval_id'),
    kind: text('kind') as ApprovalSubject['kind'],
    flight_id: maybe('flight_id'),
    workflow_id: maybe('workflow_id'),
    step_id: maybe('step_id'),
    reason: text('reason'),
    reasoning: text('reasoning'),
    required_role: maybe('required_role'),
    plan_token_hash: maybe('plan_token_hash'),
    action_digest: text('action_digest'),
    policy_digest: text('policy_digest'),
    requester: text('requester'),
    created_at: text('created_at'),
    expires_at: text('expires_at'),
    state: text('state') as Row['state'],
    approver: maybe('approver'),
    approver_role: maybe('approver_role'),
    asserted_by: maybe('asserted_by'),
    response_reason: maybe('response_reason'),
    responded_at: maybe('responded_at'),
    used_at: maybe('used_at'),
    action_json: text('action_json'),
  };
}
