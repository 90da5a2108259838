import { verify as verifySignature } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  type Clock,
  canonicalJson,
  type Digest,
  type Evaluation,
  isJsonObject,
  type Json,
  type JsonObject,
  severityOf,
  sha256,
  type Verdict,
  ZERO_DIGEST,
} from '../core/index.ts';
import type { PublicKeys, Signer } from '../ledger/index.ts';
import { openAppend } from './append-file.ts';
import type { State } from './states.ts';

/**
 * Audit events, one a line, in the published shape.
 *
 * EV1 `chain_hash` is the digest of the line before (zeros for the first); `signature` is over the event
 *     without it. Nothing is ever rewritten.
 * EV2 `event_id` ends in the number of WAL entries there were: a WAL cut short contradicts its own events.
 */
export interface AuditEvent {
  readonly event_type: string;
  readonly workflow_state: State;
  readonly message: string;
  readonly severity?: 'critical' | 'debug' | 'error' | 'info' | 'warning';
  readonly workflow?: { readonly step_id?: string; readonly mode?: string };
  readonly engine?: JsonObject;
  readonly plan_token?: JsonObject;
  readonly artifacts?: readonly Json[];
  readonly policy?: JsonObject;
  readonly approval?: JsonObject;
  readonly integrity_check?: JsonObject;
}

export interface EventsRead {
  readonly count: number;
  readonly head: Digest;
  readonly goodBytes: number;
  /** WAL entries the last event knew of. */
  readonly walCount: number;
  readonly torn: boolean;
  readonly bad: { readonly line: number; readonly byte: number; readonly what: string } | null;
  readonly events: readonly JsonObject[];
}

export function readEvents(path: string, keys: PublicKeys): EventsRead {
  const bytes = readFileSync(path);
  const events: JsonObject[] = [];
  let head: Digest = ZERO_DIGEST;
  let walCount = 0;
  let at = 0;
  const answer = (torn: boolean, bad: EventsRead['bad']) => ({
    count: events.length,
    head,
    goodBytes: at,
    walCount,
    torn,
    bad,
    events,
  });
  while (at < bytes.length) {
    const end = bytes.indexOf(10, at);
    if (end === -1) return answer(true, null);
    const text = bytes.subarray(at, end).toString('utf8');
    const event = readEvent(text, head, events.length, keys);
    if (typeof event === 'string') return answer(false, { line: events.length + 1, byte: at, what: event });
    events.push(event);
    walCount = walCountOf(event.event_id) ?? walCount;
    head = sha256(text);
    at = end + 1;
  }
  return answer(false, null);
}

function readEvent(text: string, head: Digest, index: number, keys: PublicKeys): JsonObject | string {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return 'is not JSON';
  }
  if (!isJsonObject(value)) return 'is not an audit event';
  if (canonicalJson(value) !== text) return 'is not written the way it was';
  if (value.chain_hash !== head) return 'does not follow the event before it';
  if (!String(value.event_id).includes(`.e${index}.`)) return `is not event ${index}`;
  const { signature, ...signed } = value;
  const pem = keys.get(String(value.signature_key_ref));
  if (pem === undefined) return 'is signed with a key that is not known';
  const bytes = Buffer.from(String(signature), 'base64');
  if (!verifySignature(null, Buffer.from(canonicalJson(signed)), pem, bytes))
    return 'has a signature that is not valid';
  return value;
}

function walCountOf(id: Json | undefined): number | undefined {
  const found = /\.w(\d+)$/.exec(String(id));
  return found ? Number(found[1]) : undefined;
}

export interface Events {
  readonly count: number;
  readonly head: Digest;
  /** Digest of the whole file once everything is written. */
  digest(): Digest;
  /** Makes the events; they are in the file after the next `flush`. */
  append(events: readonly AuditEvent[], walCount: number): void;
  /** Writes what was appended since the last, and forces it to disk when `durable`. */
  flush(durable: boolean): void;
  close(): void;
}

export function openEvents(options: {
  readonly path: string;
  readonly flightId: string;
  readonly workflowId: string;
  readonly clock: Clock;
  readonly signer: Signer;
  readonly from: Pick<EventsRead, 'count' | 'head' | 'goodBytes'>;
}): Events {
  const { flightId, workflowId, clock, signer } = options;
  const file = openAppend(options.path, options.from.goodBytes);
  let { count, head } = options.from;
  return {
    get count() {
      return count;
    },
    get head() {
      return head;
    },
    digest: file.digest,
    append: (added, walCount) => {
      for (const event of added) {
        const signed = {
          ...event,
          severity: event.severity ?? 'info',
          workflow: { workflow_id: workflowId, ...event.workflow },
          event_id: `${flightId}.e${count++}.w${walCount}`,
          timestamp: clock.now().toISOString(),
          chain_hash: head,
          signature_key_ref: signer.keyId,
        };
        const signature = Buffer.from(signer.sign(Buffer.from(canonicalJson(signed)))).toString('base64');
        const line = canonicalJson({ ...signed, signature });
        head = sha256(line);
        file.add(`${line}\n`);
      }
    },
    flush: (durable) => (durable ? file.flush() : file.write()),
    close: file.close,
  };
}

const SOURCES = ['opa', 'onnx', 'mcp_gateway', 'llm_gateway'];

/** An evaluation in the published shape. */
export function policyEvaluation(e: Evaluation, at: string): JsonObject {
  const source = e.evaluator.split(':')[0] ?? '';
  return {
    source: SOURCES.includes(source) ? source : 'custom',
    policy_id: e.rule,
    decision: e.verdict,
    severity: severityOf(e.verdict),
    reason: e.reason,
    evidence: { evaluator: e.evaluator, ...(e.evidence ? { found: [...e.evidence] } : {}) },
    evaluated_at: at,
  };
}

export function auditPolicy(
  verdict: Verdict,
  method: string,
  evaluations: readonly Evaluation[],
  state: State,
  at: string,
): JsonObject {
  const reasons = (wanted: readonly Verdict[]) =>
    evaluations.filter((e) => wanted.includes(e.verdict)).flatMap((e) => [e.reason, ...(e.evidence ?? [])]);
  return {
    decision: verdict,
    policy_evaluations: evaluations.map((e) => policyEvaluation(e, at)),
    aggregation_method: method,
    workflow_state: state,
    violations: reasons(['deny', 'require_approval']),
    warnings: reasons(['warn']),
  };
}
