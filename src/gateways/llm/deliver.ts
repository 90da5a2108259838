import type { ServerResponse } from 'node:http';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  messageOf,
  parseJson,
  sha256,
  strictest,
} from '../../core/index.ts';
import { anyMatches } from '../names.ts';
import { readAll } from './answer-body.ts';
import type { Call, Context } from './context.ts';
import type { Answered } from './forward.ts';
import { parkAnswer } from './held-answers.ts';
import { judgeAnswer } from './judge-answer.ts';
import { list, usageOf } from './protocol.ts';
import { evaluationsShown } from './record.ts';
import { relayStream } from './relay-stream.ts';
import { answerHeaders, type Delivered, type Failure, replyError, replyText } from './reply.ts';
import { redactTexts } from './texts.ts';

/** What can be put to a person as a whole. */
const MAX_PARKED = 512 * 1024;

/** The provider's answer, judged and handed to the caller. */
export async function deliver(
  ctx: Context,
  call: Call,
  answer: Answered,
  res: ServerResponse,
): Promise<Delivered> {
  const failed = (failure: Failure, record: JsonObject = {}): Delivered => ({
    ok: false,
    status: failure.status,
    code: failure.code,
    usage: undefined,
    record,
    finish: () =>
      replyError(res, call.operation.protocol, failure, answerHeaders(call, answer.ok ? answer : undefined)),
  });
  if (call.signal.aborted)
    return failed({ status: 504, code: 'cancelled', message: 'the call was cancelled or took too long' });
  if (!answer.ok) return failed(answer.late ? LATE : UNREACHABLE);
  const isStream = /^text\/event-stream\b/i.test(answer.contentType);
  if (answer.status >= 200 && answer.status < 300 && isStream) return relayStream(ctx, call, answer, res);
  let bytes: Buffer | undefined;
  try {
    bytes = await readAll(answer.body, ctx.config.limits.response_bytes);
  } catch (error) {
    return failed(
      { status: 502, code: 'upstream_broken', message: 'the provider broke off its answer' },
      { reason: messageOf(error).slice(0, 200).toWellFormed() },
    );
  }
  if (bytes === undefined)
    return failed({
      status: 502,
      code: 'upstream_too_large',
      message: 'the answer of the provider is too large',
    });
  const text = bytes.toString('utf8');
  const parsed = parseJson(text);
  if (answer.status < 200 || answer.status >= 300)
    return failed(providerError(answer, parsed.ok ? parsed.value : null));
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null)
    return failed({
      status: 502,
      code: 'upstream_malformed',
      message: 'the provider did not answer with JSON',
    });
  return judged(ctx, call, answer, res, parsed.value, text);
}

const UNREACHABLE: Failure = {
  status: 502,
  code: 'upstream_unreachable',
  message: 'the model provider could not be reached',
};
const LATE: Failure = {
  status: 504,
  code: 'upstream_timeout',
  message: 'the model provider did not answer in time',
};

async function judged(
  ctx: Context,
  call: Call,
  answer: Extract<Answered, { ok: true }>,
  res: ServerResponse,
  value: Json,
  text: string,
): Promise<Delivered> {
  const usage = usageOf(value);
  call.note?.(value);
  const evaluations = await judgeAnswer(ctx, call, value);
  const verdict = strictest(evaluations.map((e) => e.verdict));
  const clean = ctx.config.redact_responses ? redactTexts(value) : { value, redactions: 0 };
  const shown = call.operation.kind === 'models' ? onlyAllowed(call, clean.value) : clean.value;
  // What nothing was changed in goes on as it came.
  const body = shown === value ? text : JSON.stringify(shown);
  const headers = {
    ...answerHeaders(call, answer),
    ...(clean.redactions > 0 ? { 'x-writ-redactions': String(clean.redactions) } : {}),
  };
  const record: JsonObject = {
    response_sha256: sha256(body),
    response_redactions: clean.redactions,
    response_verdict: verdict,
    response_evaluations: evaluationsShown(evaluations),
    ...(ctx.config.record.prompts === 'redacted' && call.operation.kind === 'generate'
      ? { response: redactTexts(value).value }
      : {}),
  };
  const refused = (failure: Failure, extra: JsonObject = {}): Delivered => ({
    ok: false,
    status: failure.status,
    code: failure.code,
    usage,
    record: { ...record, ...extra },
    finish: () => replyError(res, call.operation.protocol, failure, headers),
  });
  const passed = (extra: JsonObject = {}): Delivered => ({
    ok: true,
    status: answer.status,
    code: undefined,
    usage,
    record: { ...record, ...extra },
    finish: () => replyText(res, answer.status, body, headers),
  });
  switch (verdict) {
    case 'allow':
    case 'warn':
      return passed();
    case 'deny': {
      const worst = evaluations.find((e) => e.verdict === 'deny');
      const message = `the answer was held back: ${worst?.reason ?? 'denied'}`;
      return refused({ status: 403, code: 'response_denied', message });
    }
    case 'require_approval': {
      const parked = JSON.stringify(redactTexts(shown).value);
      const held = { contentType: 'application/json', body: parked, fits: parked.length <= MAX_PARKED };
      const said = await parkAnswer(ctx, call, evaluations, held);
      return said.ok ? passed(said.record) : refused(said.failure, said.record);
    }
  }
}

/**
 * An error of the provider in its own words and shape, without secrets: some repeat the key they were given.
 * What is no error of the protocol (a page of a proxy, a redirect) becomes one.
 */
function providerError(answer: Extract<Answered, { ok: true }>, said: Json): Failure {
  const status = answer.status < 400 ? 502 : answer.status;
  const clean = redactTexts(Array.isArray(said) ? ((said as readonly Json[])[0] ?? null) : said).value;
  const error = isJsonObject(clean) ? clean.error : undefined;
  if (
    isJsonObject(clean) &&
    isJsonObject(error) &&
    typeof error.message === 'string' &&
    status === answer.status
  )
    return {
      status,
      code: 'upstream_error',
      message: error.message,
      body: clean,
      retryAfter: answer.retryAfter,
    };
  const message = typeof error === 'string' ? error.slice(0, 2000) : `the provider answered ${answer.status}`;
  const code = answer.status < 400 ? 'upstream_redirect' : 'upstream_error';
  return { status, code, message, retryAfter: answer.retryAfter };
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
