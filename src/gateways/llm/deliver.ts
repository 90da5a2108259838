import type { ServerResponse } from 'node:http';
import {
  type Evaluation,
  isJsonObject,
  type Json,
  type JsonObject,
  messageOf,
  parseJson,
  sha256,
  strictest,
} from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import type { Call, Context } from './context.ts';
import { type Answered, readAll } from './forward.ts';
import { judgeAnswer } from './judge-answer.ts';
import { list, type Usage, usageOf } from './protocol.ts';
import { relayStream } from './relay-stream.ts';
import { type Failure, replyError, replyJson } from './reply.ts';
import { redactTexts } from './texts.ts';

/** How an answer ended. `finish` lets the caller's connection go, after the record is durable. */
export interface Delivered {
  readonly ok: boolean;
  readonly usage: Usage | undefined;
  readonly record: JsonObject;
  finish(): void;
}

/** The provider's answer, judged and handed to the caller. */
export async function deliver(
  ctx: Context,
  call: Call,
  answer: Answered,
  res: ServerResponse,
): Promise<Delivered> {
  const { protocol } = call.operation;
  const failed = (failure: Failure, record: JsonObject = {}): Delivered => ({
    ok: false,
    usage: undefined,
    record: { code: failure.code, ...record },
    finish: () => replyError(res, protocol, failure),
  });
  if (call.signal.aborted)
    return failed({ status: 504, code: 'cancelled', message: 'the call was cancelled or took too long' });
  if (!answer.ok)
    return failed({
      status: 502,
      code: 'upstream_unreachable',
      message: 'the model provider could not be reached',
    });
  const isStream = /^text\/event-stream\b/i.test(answer.contentType);
  if (answer.status >= 200 && answer.status < 300 && isStream) return relayStream(ctx, call, answer, res);
  let text: string | undefined;
  try {
    text = await readAll(answer.body, ctx.config.limits.response_bytes);
  } catch (error) {
    return failed(
      { status: 502, code: 'upstream_broken', message: 'the provider broke off its answer' },
      { reason: messageOf(error).slice(0, 200).toWellFormed() },
    );
  }
  if (text === undefined)
    return failed({
      status: 502,
      code: 'upstream_too_large',
      message: 'the answer of the provider is too large',
    });
  const parsed = parseJson(text);
  if (answer.status < 200 || answer.status >= 300)
    return failed(providerError(answer, parsed.ok ? parsed.value : null));
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null)
    return failed({
      status: 502,
      code: 'upstream_malformed',
      message: 'the provider did not answer with JSON',
    });
  return judged(ctx, call, res, parsed.value);
}

async function judged(ctx: Context, call: Call, res: ServerResponse, value: Json): Promise<Delivered> {
  const { protocol } = call.operation;
  const usage = usageOf(value);
  const evaluations = await judgeAnswer(ctx, call, value);
  const verdict = strictest(evaluations.map((e) => e.verdict));
  const clean = ctx.config.redact_responses ? redactTexts(value) : { value, redactions: 0 };
  const shown = call.operation.kind === 'models' ? onlyAllowed(call, clean.value) : clean.value;
  const record = {
    response_sha256: sha256(JSON.stringify(shown)),
    response_redactions: clean.redactions,
    response_verdict: verdict,
    response_evaluations: evaluationsShown(evaluations),
    ...(ctx.config.record.prompts === 'redacted' && call.operation.kind === 'generate'
      ? { response: redactTexts(value).value }
      : {}),
  };
  if (verdict === 'deny' || verdict === 'require_approval') {
    const worst = evaluations.find((e) => e.verdict === verdict);
    const message = `the answer was held back: ${worst?.reason ?? 'denied'}`;
    return {
      ok: false,
      usage,
      record: { ...record, code: 'response_denied' },
      finish: () => replyError(res, protocol, { status: 403, code: 'response_denied', message }),
    };
  }
  const headers: Record<string, string> =
    clean.redactions > 0 ? { 'x-writ-redactions': String(clean.redactions) } : {};
  return { ok: true, usage, record, finish: () => replyJson(res, 200, shown, headers) };
}

export function evaluationsShown(evaluations: readonly Evaluation[]): Json {
  return evaluations.map((e) => ({
    evaluator: e.evaluator,
    verdict: e.verdict,
    rule: e.rule,
    reason: e.reason.slice(0, 500).toWellFormed(),
  }));
}

/** An error of the provider in its own words, without secrets: some repeat the key they were given. */
function providerError(answer: Extract<Answered, { ok: true }>, body: Json): Failure {
  const said = isJsonObject(body) && isJsonObject(body.error) ? body.error : {};
  const clean = redactTexts({ message: said.message ?? '' }).value;
  const message = isJsonObject(clean) && typeof clean.message === 'string' ? clean.message : '';
  const redirected = answer.status < 400;
  return {
    status: redirected ? 502 : answer.status,
    code: redirected
      ? 'upstream_redirect'
      : typeof said.code === 'string'
        ? said.code.slice(0, 100)
        : 'upstream_error',
    message: message === '' ? `the provider answered ${answer.status}` : message.slice(0, 2000),
    retryAfter: answer.retryAfter,
  };
}

/** A caller sees the models it may use and no others. */
function onlyAllowed(call: Call, value: Json): Json {
  if (!isJsonObject(value)) return value;
  const allowed = (entry: Json) => {
    const name = isJsonObject(entry) ? (entry.id ?? entry.name) : undefined;
    return typeof name === 'string' && anyMatches(call.caller.models, name.replace(/^models\//, ''));
  };
  return {
    ...value,
    ...(Array.isArray(value.data) ? { data: list(value.data).filter(allowed) } : {}),
    ...(Array.isArray(value.models) ? { models: list(value.models).filter(allowed) } : {}),
  };
}
