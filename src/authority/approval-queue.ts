import type { DatabaseSync } from 'node:sqlite';
import { type AuditSink, type Clock, CODES, type Ids, WritError } from '../core/index.ts';
import { databaseError, openDatabase, transaction } from '../ledger/index.ts';
import {
  checkApprover,
  checkBinding,
  checkResponse,
  malformed,
  type Refusal,
  type Rules,
} from './approval-checks.ts';
import { type Row, readRow, statusAt, toRecord } from './approval-record.ts';
import { APPROVALS_MIGRATIONS } from './approvals-schema.ts';
import { shownJson, shownText } from './shown.ts';
import type {
  ApprovalRecord,
  ApprovalResponse,
  ApprovalStatus,
  Binding,
  DurableApprovalQueue,
  GivenApproval,
  ParkRequest,
  RespondResult,
  UseResult,
} from './types.ts';

/**
 * Approval requests on disk, answered from any process, hours later.
 *
 * Q1 Checks and change happen in one IMMEDIATE transaction: of two processes that answer or use the same
 *    request at once, one wins and the other is told why not.
 * Q2 What is stored for people to read is redacted; what is compared is the digest of the original.
 * Q3 An answer is recorded before it takes effect, its fate after; refusals are recorded like the rest.
 */
export interface ApprovalQueueOptions extends Rules {
  /** Path of the SQLite file, in a folder only this user can write. */
  readonly database: string;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly record?: AuditSink;
}

/** A person cannot judge more than this; a request they cannot be shown in full is not made. */
const MAX_ACTION_JSON = 1024 * 1024;
const MAX_TEXT = 8000;

export function openApprovalQueue(options: ApprovalQueueOptions): DurableApprovalQueue {
  const { clock, ids, record } = options;
  const db = openDatabase(options.database, APPROVALS_MIGRATIONS);
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw databaseError(options.database, error);
    }
  };
  /** The write lock first, so nothing read inside is stale. */
  const immediately = <T>(work: () => T): T => guarded(() => transaction(db, work));
  const note = async (type: string, detail: { readonly [key: string]: string | boolean | null }) => {
    await record?.append({ type, ...detail });
  };
  const find = (id: string): Row | undefined => {
    const raw = db.prepare('SELECT * FROM approvals WHERE approval_id = ?').get(id);
    return raw === undefined ? undefined : readRow(raw);
  };
  const refused = async (
    id: string,
    refusal: Refusal,
    who: string | null,
  ): Promise<Refusal & { ok: false }> => {
    await note('approval.refused', {
      approval_id: id.slice(0, 200).toWellFormed(),
      check: refusal.check,
      message: refusal.message,
      approver: who,
    });
    return { ok: false, ...refusal };
  };

  return {
    list: (filter) => {
      const now = clock.now();
      const all = 'SELECT * FROM approvals ORDER BY created_at, approval_id';
      const rows = guarded(() => db.prepare(all).all()).map(readRow);
      const wanted = (status: ApprovalStatus) => filter?.status === undefined || filter.status === status;
      return rows.map((row) => toRecord(row, now)).filter(({ status }) => wanted(status));
    },

    get: (id) => {
      const row = guarded(() => find(id));
      return row && toRecord(row, clock.now());
    },

    respond: async (id, response): Promise<RespondResult> => {
      const bad = malformed(id, response);
      if (bad !== undefined) return refused(String(id), bad, null);
      const { approved, approver } = response;
      const reason = response.reason === undefined ? null : shownText(response.reason, MAX_TEXT);
      const detail = { approval_id: id, approver, role: response.role ?? null, reason };
      await note('approval.response', { ...detail, approved });
      const done = immediately((): { refusal: Refusal } | { row: Row } => {
        const row = find(id);
        if (row === undefined)
          return { refusal: { check: 'unknown', message: `there is no approval ${id}` } };
        const refusal = checkResponse(row, response, options, clock.now());
        if (refusal !== undefined) return { refusal };
        return { row: store(db, row, response, reason, clock.now()) };
      });
      if ('refusal' in done) return refused(id, done.refusal, approver);
      await note(approved ? 'approval.given' : 'approval.rejected', {
        ...detail,
        action_digest: done.row.action_digest,
        policy_digest: done.row.policy_digest,
        plan_token_hash: done.row.plan_token_hash,
      });
      return { ok: true, approval: toRecord(done.row, clock.now()) };
    },

    park: async (request): Promise<ApprovalRecord> => {
      const row = rowOf(request, ids.next('appr'), clock.now());
      await note('approval.requested', {
        approval_id: row.approval_id,
        action_digest: row.action_digest,
        policy_digest: row.policy_digest,
        plan_token_hash: row.plan_token_hash,
        requester: row.requester,
        required_role: row.required_role,
        reason: row.reason,
        expires_at: row.expires_at,
      });
      immediately(() => insert(db, row));
      return toRecord(row, clock.now());
    },

    use: async (id, binding): Promise<UseResult> => {
      const result = immediately(() => takeUse(db, find(id), binding, options, clock.now()));
      if (result.kind === 'refused') await refused(id, result, null);
      if (result.kind === 'approved')
        await note('approval.used', { approval_id: id, action_digest: binding.actionDigest });
      return result;
    },

    close: async () => db.close(),
  };
}

function takeUse(
  db: DatabaseSync,
  row: Row | undefined,
  binding: Binding,
  rules: Rules,
  now: Date,
): UseResult {
  if (row === undefined) return { kind: 'refused', check: 'unknown', message: 'there is no such approval' };
  switch (statusAt(row, now)) {
    case 'used':
      return { kind: 'refused', check: 'used', message: 'this approval has been used' };
    case 'expired':
      return { kind: 'refused', check: 'expired', message: `this approval expired at ${row.expires_at}` };
    case 'rejected':
      return { kind: 'rejected', approval: given(row) };
    case 'pending':
    case 'approved':
      break;
  }
  // A request that no longer fits what is asked can never be used: say so now, not after a person answered.
  const refusal =
    checkBinding(row, binding) ?? (row.state === 'approved' ? checkApprover(row, rules) : undefined);
  if (refusal !== undefined) return { kind: 'refused', ...refusal };
  if (row.state !== 'approved') return { kind: 'waiting' };
  const change = db
    .prepare(`UPDATE approvals SET state = 'used', used_at = ? WHERE approval_id = ? AND state = 'approved'`)
    .run(now.toISOString(), row.approval_id);
  if (Number(change.changes) !== 1)
    return { kind: 'refused', check: 'used', message: 'this approval has been used' };
  return { kind: 'approved', approval: given(row), expiresAt: new Date(row.expires_at) };
}

function given(row: Row): GivenApproval {
  return {
    approvalId: row.approval_id,
    approver: row.approver ?? 'unknown',
    ...(row.approver_role === null ? {} : { role: row.approver_role }),
    ...(row.response_reason === null ? {} : { reason: row.response_reason }),
  };
}

function store(
  db: DatabaseSync,
  row: Row,
  response: ApprovalResponse,
  reason: string | null,
  now: Date,
): Row {
  const answered: Row = {
    ...row,
    state: response.approved ? 'approved' : 'rejected',
    approver: response.approver,
    approver_role: response.role ?? null,
    asserted_by: response.assertedBy ?? null,
    response_reason: reason,
    responded_at: now.toISOString(),
  };
  const change = db
    .prepare(
      `UPDATE approvals SET state = ?, approver = ?, approver_role = ?, asserted_by = ?, response_reason = ?,
         responded_at = ? WHERE approval_id = ? AND state = 'pending'`,
    )
    .run(
      answered.state,
      answered.approver,
      answered.approver_role,
      answered.asserted_by,
      reason,
      answered.responded_at,
      row.approval_id,
    );
  if (Number(change.changes) !== 1)
    throw new WritError(CODES.storage_failed, 'the request changed while it was answered');
  return answered;
}

function rowOf(request: ParkRequest, id: string, now: Date): Row {
  const { subject } = request;
  const actionJson = shownJson({ ...request.action });
  if (actionJson.length > MAX_ACTION_JSON)
    throw new WritError(CODES.invalid_input, 'the action is too large to be shown to a person', {
      suggestion: 'pass large content by file and digest instead of inline',
    });
  return {
    approval_id: id,
    kind: subject.kind,
    flight_id: subject.flightId ?? null,
    workflow_id: subject.workflowId ?? null,
    step_id: subject.stepId ?? null,
    reason: shownText(request.reason, MAX_TEXT),
    reasoning: shownText(request.reasoning, MAX_TEXT),
    required_role: request.requiredRole,
    plan_token_hash: request.planTokenHash,
    action_digest: request.actionDigest,
    policy_digest: request.policyDigest,
    requester: request.requester,
    created_at: now.toISOString(),
    expires_at: new Date(now.getTime() + request.expiresInMs).toISOString(),
    state: 'pending',
    approver: null,
    approver_role: null,
    asserted_by: null,
    response_reason: null,
    responded_at: null,
    used_at: null,
    action_json: actionJson,
  };
}

function insert(db: DatabaseSync, row: Row): void {
  const names = Object.keys(row);
  const values = Object.values(row) as (string | null)[];
  db.prepare(`INSERT INTO approvals (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`).run(
    ...values,
  );
}
