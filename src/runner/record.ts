import { canonicalJson, type Evaluation, type Json, type JsonObject, sha256 } from '../core/index.ts';
import { redact, redactJson } from '../redact/index.ts';
import type { ToolOutput } from '../tools/index.ts';
import type { CallRow, ResultRow, ResultStatus } from './store/rows.ts';

/**
 * From what happened to what is kept. Everything passes the redactor on its way into the store: what is
 * hashed, stored, printed and replayed is the redacted form, so that nobody needs the secrets again.
 */
export interface Call {
  readonly callId: string;
  readonly runId: string;
  readonly index: number;
  readonly tool: string;
  readonly stepId: string | null;
  readonly args: JsonObject;
  readonly facts: JsonObject;
}

/** A decision as it is printed and stored. */
export interface RecordedDecision {
  readonly decision: 'allow' | 'deny' | 'require_approval';
  readonly rule: string;
  readonly reason: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly approval_id?: string;
  readonly approver?: string;
  /** Set when a rule could only be applied while the tool ran: a redirect, a swapped file. */
  readonly stage?: 'execution';
}

export function decisionOf(
  evaluation: Pick<Evaluation, 'verdict' | 'rule' | 'reason' | 'file' | 'line'>,
  approval: { readonly approvalId?: string; readonly approver?: string } = {},
): RecordedDecision {
  return {
    decision: evaluation.verdict === 'warn' ? 'allow' : evaluation.verdict,
    rule: evaluation.rule,
    reason: evaluation.reason,
    file: evaluation.file ?? null,
    line: evaluation.line ?? null,
    ...(approval.approvalId === undefined ? {} : { approval_id: approval.approvalId }),
    ...(approval.approver === undefined ? {} : { approver: approval.approver }),
  };
}

export function callRow(call: Call, createdAt: string, approvalId: string | null): CallRow {
  const args = redactJson(call.args);
  return {
    call_id: call.callId,
    run_id: call.runId,
    step_index: call.index,
    tool_name: redact(call.tool).text,
    args_json: canonicalJson(args.value),
    created_at: createdAt,
    step_id: call.stepId,
    facts_json: isEmpty(call.facts) ? '{}' : canonicalJson(redactJson(call.facts).value),
    approval_id: approvalId,
    redactions: args.count,
  };
}

export interface Happened {
  readonly status: ResultStatus;
  readonly data: JsonObject | null;
  readonly error: string | null;
  readonly decision: RecordedDecision;
  readonly startedAt: string;
  readonly endedAt: string;
}

export function resultRow(call: CallRow, happened: Happened): ResultRow {
  const data = happened.data === null ? undefined : redactJson(happened.data);
  const output = data === undefined ? null : outputText(data.value);
  return {
    call_id: call.call_id,
    run_id: call.run_id,
    status: happened.status,
    output_json: output,
    error: happened.error === null ? null : redact(happened.error).text,
    policy_decision_json: decisionText(happened.decision),
    started_at: happened.startedAt,
    ended_at: happened.endedAt,
    input_hash: sha256(call.args_json),
    output_hash: output === null ? null : sha256(output),
    redactions: data?.count ?? 0,
  };
}

/** The same few decisions come back step after step: their text is made once. */
const decisionTexts = new Map<string, string>();
const MAX_TEXTS = 256;

function decisionText(decision: RecordedDecision): string {
  const key = JSON.stringify(decision);
  const known = decisionTexts.get(key);
  if (known !== undefined) return known;
  const text = canonicalJson(redactJson(decision as unknown as Json).value);
  if (decisionTexts.size >= MAX_TEXTS) decisionTexts.clear();
  decisionTexts.set(key, text);
  return text;
}

function isEmpty(object: JsonObject): boolean {
  for (const _key in object) return false;
  return true;
}

/** What a tool gave, as a status with its data or its error. */
export function outcomeOf(output: ToolOutput): Pick<Happened, 'status' | 'data' | 'error'> {
  switch (output.status) {
    case 'success':
      return { status: 'success', data: output.data, error: null };
    case 'denied':
      return { status: 'denied', data: null, error: null };
    case 'error':
      return {
        status: 'error',
        data: null,
        error: errorText(output.code, output.message, output.suggestion),
      };
  }
}

export function errorText(code: number, message: string, suggestion?: string): string {
  return `${code}: ${message}${suggestion === undefined ? '' : ` (try: ${suggestion})`}`;
}

/** Text from outside may hold half a surrogate pair, which has no canonical form: mended when it happens. */
function outputText(value: Json): string {
  try {
    return canonicalJson(value);
  } catch {
    return canonicalJson(wellFormed(value));
  }
}

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}
