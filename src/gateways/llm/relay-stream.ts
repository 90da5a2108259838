import type { ServerResponse } from 'node:http';
import {
  type Evaluation,
  isJsonObject,
  type Json,
  type JsonObject,
  messageOf,
  parseJson,
  strictest,
} from '../../core/index.ts';
import type { Call, Context } from './context.ts';
import type { Answered } from './forward.ts';
import { type HeldBack, parkAnswer, redactedSse } from './held-answers.ts';
import { answerRules, askEvaluators } from './judge-answer.ts';
import { Outlet } from './outlet.ts';
import { mapDeltas, type Usage, usageOf } from './protocol.ts';
import { pump } from './pump.ts';
import { evaluationsShown } from './record.ts';
import { streamRedactor } from './redact-stream.ts';
import { answerHeaders, type Delivered, type Failure, streamError } from './reply.ts';
import { printEvents, type SseBatch, type SseEvent, sseReader } from './sse.ts';
import { streamJudge } from './stream-judge.ts';

/**
 * A streamed answer, judged as it passes.
 *
 * S1 A piece is judged before it is passed on. Rules see each piece with the end of what came before it;
 *    policies and models see the text so far every few hundred characters, and what they have not seen waits.
 * S2 What passes unchanged passes as the bytes that came.
 * S3 A denial, a broken upstream or a piece that cannot be read ends the stream with an error event; it
 *    never looks like a natural end.
 * S4 From the piece on that needs a person the answer is held; a yes lets the rest of it go.
 */
const MAX_EVENT = 4 * 1024 * 1024;
/** New text after which policies and models are asked again, and how much of the text before they see. */
const ASK_EVERY = 512;
const ASK_ABOUT = 8192;
/** What is kept of an answer that may have to be judged or parked as a whole. */
const MAX_WHOLE = 512 * 1024;

/** Ends a stream with an error event. */
class Cut extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export async function relayStream(
  ctx: Context,
  call: Call,
  answer: Extract<Answered, { ok: true }>,
  res: ServerResponse,
): Promise<Delivered> {
  const rules = answerRules(ctx, call);
  const judge = streamJudge(rules);
  const reader = sseReader(MAX_EVENT);
  const redactor = ctx.config.redact_responses ? streamRedactor() : undefined;
  const gated = ctx.responseEvaluators.length > 0;
  const keepsWhole = gated || rules.some(({ rule }) => rule.verdict === 'require_approval');
  const outlet = new Outlet(res, {
    ...answerHeaders(call, answer),
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  });
  let evaluations: readonly Evaluation[] = [];
  let usage: Usage | undefined;
  let size = 0;
  let events = 0;
  let failedUpstream = false;
  /** Text so far and how much of it policies and models have not seen. */
  let text = '';
  let unseen = 0;
  /** What waits for policies and models, or for a person. */
  let waiting: Buffer[] = [];
  let holding = false;
  let whole = '';

  const give = (bytes: Buffer) => {
    if (bytes.length === 0) return;
    if (keepsWhole && whole.length <= MAX_WHOLE) whole += bytes.toString('utf8');
    if (gated || holding) waiting.push(bytes);
    else outlet.write(bytes);
  };
  const weigh = (said: readonly Evaluation[]) => {
    evaluations = said;
    switch (strictest(said.map((e) => e.verdict))) {
      case 'deny': {
        const worst = said.find((e) => e.verdict === 'deny');
        throw new Cut(denied(`the answer was cut: ${worst?.reason ?? 'denied'}`));
      }
      case 'require_approval':
        holding = true;
        return;
      case 'warn':
      case 'allow':
        return;
    }
  };
  const read = (event: SseEvent): Json | undefined => {
    if (event.data === '' || event.data === '[DONE]') return undefined;
    const piece = parseJson(event.data);
    if (!piece.ok) throw new Cut(broken('upstream_malformed', 'the provider sent an event that is not JSON'));
    usage = usageOf(piece.value) ?? usage;
    call.note?.(piece.value);
    failedUpstream ||= isErrorPiece(piece.value);
    if (gated)
      mapDeltas(piece.value, (_, delta) => {
        text = (text + delta).slice(-MAX_WHOLE);
        unseen += delta.length;
        return delta;
      });
    return piece.value;
  };
  const accept = (batch: SseBatch) => {
    size += batch.bytes.length;
    if (size > ctx.config.limits.response_bytes)
      throw new Cut(broken('upstream_too_large', 'the stream is too large'));
    let from = 0;
    for (const event of batch.events) {
      const piece = read(event);
      if (piece !== undefined && rules.length > 0) {
        const was = holding;
        const said = judge.see(piece);
        if (said.verdict !== 'allow') {
          // What came before the piece is judged and may go; the piece itself is the one in question.
          if (!was) {
            give(passing(batch, from, event.from, redactor));
            from = event.from;
          }
          weigh([said]);
        }
      }
      events++;
    }
    give(passing(batch, from, batch.text.length, redactor));
  };
  const consult = async (about: string) => {
    unseen = 0;
    weigh([judge.last(), ...(await askEvaluators(ctx, call, about))]);
    if (holding) return;
    for (const bytes of waiting) outlet.write(bytes);
    waiting = [];
  };
  const take = (chunk: Buffer): Promise<void> | undefined => {
    const batch = reader.push(chunk);
    if (batch !== undefined) accept(batch);
    return gated && !holding && unseen >= ASK_EVERY ? consult(text.slice(-ASK_ABOUT)) : undefined;
  };
  const end = (failure?: Failure, extra: JsonObject = {}): Delivered => {
    const judged = evaluations.length > 0 ? evaluations : [judge.last()];
    return {
      ok: failure === undefined && !failedUpstream,
      status: failure?.status ?? 200,
      code: failure?.code ?? (failedUpstream ? 'upstream_error' : undefined),
      usage,
      record: {
        streamed_events: events,
        response_sha256: outlet.digest(),
        response_verdict: strictest(judged.map((e) => e.verdict)),
        response_evaluations: evaluationsShown(judged),
        ...(redactor?.changed() ? { response_redacted: true } : {}),
        ...extra,
      },
      finish: () =>
        failure === undefined ? void res.end() : streamError(res, call.operation.protocol, failure),
    };
  };

  try {
    await pump(answer.body, outlet, take);
    const rest = reader.end();
    if (rest !== undefined) accept(rest);
    if (redactor) give(printEvents(redactor.end()));
    if (gated && !holding) await consult(text);
    if (!holding) return end();
    const answerHeld: HeldBack = {
      contentType: 'text/event-stream',
      body: redactor ? whole : redactedSse(whole),
      fits: whole.length <= MAX_WHOLE,
    };
    const passed = await parkAnswer(ctx, call, evaluations, answerHeld, () =>
      outlet.comment('waiting for approval'),
    );
    if (!passed.ok) return end(passed.failure, passed.record);
    for (const bytes of waiting) outlet.write(bytes);
    return end(undefined, passed.record);
  } catch (error) {
    answer.body.destroy();
    if (error instanceof Cut) return end(error.failure);
    const message = call.signal.aborted
      ? 'the call was cancelled or took too long'
      : 'the provider broke off its answer';
    const code = call.signal.aborted ? 'cancelled' : 'upstream_broken';
    return end(broken(code, message), { reason: messageOf(error).slice(0, 200).toWellFormed() });
  }
}

/** The bytes of part of a batch, redacted when there is a redactor. */
function passing(
  batch: SseBatch,
  from: number,
  to: number,
  redactor: ReturnType<typeof streamRedactor> | undefined,
): Buffer {
  if (redactor === undefined)
    return from === 0 && to === batch.text.length ? batch.bytes : Buffer.from(batch.text.slice(from, to));
  const pieces = batch.events
    .filter((event) => event.from >= from && event.from < to)
    .map((event) => {
      if (event.data === '') return Buffer.from('');
      if (event.data === '[DONE]')
        return Buffer.concat([printEvents(redactor.end()), Buffer.from('data: [DONE]\n\n')]);
      const piece = parseJson(event.data);
      return piece.ok ? printEvents(redactor.piece(piece.value)) : Buffer.from('');
    });
  return Buffer.concat(pieces);
}

function isErrorPiece(piece: Json): boolean {
  return isJsonObject(piece) && (isJsonObject(piece.error) || piece.type === 'error');
}

const denied = (message: string): Failure => ({ status: 403, code: 'response_denied', message });
const broken = (code: string, message: string): Failure => ({ status: 502, code, message });
