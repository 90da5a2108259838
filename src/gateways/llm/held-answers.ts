import type { DurableApprovalQueue } from '../../authority/index.ts';
import { type Action, type Evaluation, isJsonObject, type JsonObject, parseJson } from '../../core/index.ts';
import type { Passed } from '../gate.ts';
import type { Call, Context } from './context.ts';
import { judgeAnswer } from './judge-answer.ts';
import { streamRedactor } from './redact-stream.ts';
import { approvalRequired, type Failure } from './reply.ts';
import { printEvents, sseReader } from './sse.ts';

/**
 * Answers that wait for a person.
 *
 * A1 The approval holds the answer itself, redacted: the person sees what would be let go, and nothing else
 *    than that is let go when the caller comes back for it.
 * A2 A caller that could not wait asks again, unchanged: the answer is taken from the approval, once. The model
 *    is not asked a second time.
 * A3 The answer is judged again before it is let go; an approval from another policy does not fit.
 */
export interface HeldBack {
  readonly contentType: string;
  readonly body: string;
  /** False when the answer is larger than what can be parked. */
  readonly fits: boolean;
}

export interface HeldAnswers {
  /** The approval that holds the answer to this very request of this caller. */
  find(call: Call, requestDigest: string): string | undefined;
  note(requestDigest: string, caller: string, approvalId: string): void;
  forget(requestDigest: string, caller: string): void;
}

const MAX_KNOWN = 10_000;
const SUBJECT = 'answer of';

export function heldAnswers(queue: DurableApprovalQueue | undefined): HeldAnswers {
  const known = new Map<string, string>();
  const key = (digest: string, caller: string) => `${caller} ${digest}`;
  // What was parked before a restart is still there.
  for (const approval of queue?.list() ?? []) {
    if (approval.status !== 'pending' && approval.status !== 'approved') continue;
    const held = actionOf(approval.action_json);
    const digest = held?.detail.request_digest;
    if (typeof digest === 'string') known.set(key(digest, approval.requester), approval.approval_id);
  }
  return {
    find: (call, digest) => known.get(key(digest, call.caller.name)),
    note: (digest, caller, approvalId) => {
      if (known.size < MAX_KNOWN) known.set(key(digest, caller), approvalId);
    },
    forget: (digest, caller) => void known.delete(key(digest, caller)),
  };
}

function actionOf(json: string): Action | undefined {
  const parsed = parseJson(json);
  if (!parsed.ok || !isJsonObject(parsed.value)) return undefined;
  const { kind, subject, detail } = parsed.value;
  if (kind !== 'llm.call' || typeof subject !== 'string' || !isJsonObject(detail)) return undefined;
  return subject.startsWith(SUBJECT) ? { kind, subject, detail } : undefined;
}

export type Parked =
  | { readonly ok: true; readonly record: JsonObject }
  | { readonly ok: false; readonly failure: Failure; readonly record: JsonObject };

/** Leaves the answer for a person and waits as long as the caller may. */
export async function parkAnswer(
  ctx: Context,
  call: Call,
  evaluations: readonly Evaluation[],
  held: HeldBack,
  tick?: () => void,
): Promise<Parked> {
  const why = evaluations.find((e) => e.verdict === 'require_approval')?.reason ?? 'a person is needed';
  if (!held.fits)
    return refused({
      status: 403,
      code: 'response_denied',
      message: `the answer was held back: ${why}; it is too large to be put to a person`,
    });
  const action: Action = {
    kind: 'llm.call',
    subject: `${SUBJECT} ${call.operation.name} ${call.model}`,
    detail: {
      caller: call.caller.name,
      model: call.model,
      operation: call.operation.name,
      request_digest: call.digest,
      answer: { content_type: held.contentType, body: held.body.toWellFormed() },
    },
  };
  return settled(ctx, call, action, await putToPerson(ctx, call, action, evaluations, tick));
}

/** The answer that an earlier request like this one left, if a person has let it go by now. */
export async function heldAnswer(
  ctx: Context,
  call: Call,
): Promise<{ readonly passed: Parked; readonly answer: HeldBack } | undefined> {
  const approvalId = ctx.held.find(call, call.digest);
  const stored = approvalId === undefined ? undefined : ctx.deps.queue?.get(approvalId);
  if (approvalId === undefined) return undefined;
  const action =
    stored && /^(pending|approved)$/.test(stored.status) ? actionOf(stored.action_json) : undefined;
  const content = action?.detail.answer;
  if (action === undefined || !isJsonObject(content)) {
    ctx.held.forget(call.digest, call.caller.name);
    return undefined;
  }
  const answer = { contentType: String(content.content_type), body: String(content.body), fits: true };
  const evaluations = await judgeHeld(ctx, call, answer);
  return { answer, passed: settled(ctx, call, action, await putToPerson(ctx, call, action, evaluations)) };
}

function putToPerson(
  ctx: Context,
  call: Call,
  action: Action,
  evaluations: readonly Evaluation[],
  tick?: () => void,
): Promise<Passed> {
  return ctx.gate.pass(
    {
      action,
      evaluators: evaluations.map((said) => ({ name: said.evaluator, evaluate: () => said })),
      reasoning: `${call.caller.name} waits for an answer of ${call.model}`,
      requester: call.caller.name,
      policyDigest: ctx.policyDigest,
      subject: { kind: 'llm' },
      expiresInMs: ctx.config.limits.approval_life_seconds * 1000,
      signal: call.signal,
    },
    {
      forMs: ctx.config.limits.approval_wait_seconds * 1000,
      signal: call.signal,
      ...(tick === undefined ? {} : { tick }),
    },
  );
}

function settled(ctx: Context, call: Call, action: Action, passed: Passed): Parked {
  switch (passed.outcome) {
    case 'granted':
      passed.writ.use(action);
      ctx.held.forget(call.digest, call.caller.name);
      return {
        ok: true,
        record: {
          response_approval_id: passed.approval?.approvalId ?? null,
          response_approver: passed.approval?.approver ?? null,
        },
      };
    case 'waiting':
      ctx.held.note(call.digest, call.caller.name, passed.approvalId);
      return refused(approvalRequired('this answer', passed.approvalId), {
        response_approval_id: passed.approvalId,
      });
    case 'denied':
      ctx.held.forget(call.digest, call.caller.name);
      return refused({
        status: 403,
        code: 'response_denied',
        message: `the answer was held back: ${passed.reason}`,
      });
  }
}

const refused = (failure: Failure, record: JsonObject = {}): Parked => ({ ok: false, failure, record });

async function judgeHeld(ctx: Context, call: Call, { contentType, body }: HeldBack) {
  if (!contentType.startsWith('text/event-stream')) {
    const parsed = parseJson(body);
    return judgeAnswer(ctx, call, parsed.ok ? parsed.value : null);
  }
  return judgeAnswer(ctx, call, piecesOf(body));
}

function piecesOf(sse: string) {
  const reader = sseReader(sse.length * 4 + 16);
  const batches = [reader.push(Buffer.from(sse)), reader.end()];
  return batches
    .flatMap((batch) => batch?.events ?? [])
    .flatMap(({ data }) => {
      const piece = data === '' || data === '[DONE]' ? undefined : parseJson(data);
      return piece?.ok ? [piece.value] : [];
    });
}

/** A whole stream with its secrets replaced, as it may be stored. */
export function redactedSse(sse: string): string {
  const redactor = streamRedactor();
  const pieces = piecesOf(sse).flatMap((piece) => redactor.piece(piece));
  const ended = /^data: ?\[DONE\]/m.test(sse) ? 'data: [DONE]\n\n' : '';
  return `${printEvents([...pieces, ...redactor.end()]).toString('utf8')}${ended}`;
}
