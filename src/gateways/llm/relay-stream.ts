import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import {
  type Evaluation,
  type Json,
  type JsonObject,
  messageOf,
  parseJson,
  strictest,
} from '../../core/index.ts';
import type { Call, Context } from './context.ts';
import { type Delivered, evaluationsShown } from './deliver.ts';
import type { Answered } from './forward.ts';
import { judgeAnswer, toolsCalled } from './judge-answer.ts';
import { deltasOf, type Usage, usageOf } from './protocol.ts';
import { type Failure, streamError } from './reply.ts';
import { judgeByRules, windowOf } from './rules.ts';
import { sseReader } from './sse.ts';
import { textOf } from './texts.ts';

/**
 * A streamed answer, judged as it passes.
 *
 * S1 A piece is judged before it is passed on, together with the end of what came before it on the same
 *    channel: words cut in two by the stream are still words.
 * S2 A denial, a broken upstream or a piece that cannot be read ends the stream with an error event; it
 *    never looks like a natural end.
 * S3 The caller's pace is the upstream's pace: nothing piles up here.
 */
const MAX_EVENT = 4 * 1024 * 1024;
const MAX_CHANNELS = 256;
/** What is kept for judges that read whole answers. */
const MAX_TEXT = 1024 * 1024;

export async function relayStream(
  ctx: Context,
  call: Call,
  answer: Extract<Answered, { ok: true }>,
  res: ServerResponse,
): Promise<Delivered> {
  const { protocol } = call.operation;
  const reader = sseReader(MAX_EVENT);
  const hash = createHash('sha256');
  const watch = windowJudge(ctx, call);
  let usage: Usage | undefined;
  let bytes = 0;
  let events = 0;
  const end = (failure: Failure | undefined, evaluations: readonly Evaluation[]): Delivered => ({
    ok: failure === undefined,
    usage,
    record: {
      streamed_events: events,
      response_sha256: hash.digest('hex'),
      response_verdict: strictest(evaluations.map((e) => e.verdict)),
      response_evaluations: evaluationsShown(evaluations),
      ...(failure === undefined ? {} : { code: failure.code }),
    } satisfies JsonObject,
    finish: () => (failure === undefined ? void res.end() : streamError(res, protocol, failure)),
  });
  res.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  try {
    for await (const event of eventsOf(answer.body as AsyncIterable<Uint8Array>, reader)) {
      bytes += event.raw.length;
      if (bytes > ctx.config.limits.response_bytes)
        return stop(
          answer,
          end({ status: 502, code: 'upstream_too_large', message: 'the stream is too large' }, [
            watch.last(),
          ]),
        );
      const piece = event.data === '' || event.data === '[DONE]' ? null : parseJson(event.data);
      if (piece !== null && !piece.ok)
        return stop(
          answer,
          end(
            {
              status: 502,
              code: 'upstream_malformed',
              message: 'the provider sent an event that is not JSON',
            },
            [watch.last()],
          ),
        );
      if (piece !== null) {
        usage = usageOf(piece.value) ?? usage;
        const said = watch.judge(piece.value);
        if (said.verdict === 'deny' || said.verdict === 'require_approval') {
          const message = `the answer was cut: ${said.reason}`;
          return stop(answer, end({ status: 403, code: 'response_denied', message }, [said]));
        }
      }
      events++;
      hash.update(event.raw);
      await write(res, event.raw, call.signal);
    }
  } catch (error) {
    const message = call.signal.aborted
      ? 'the call was cancelled or took too long'
      : 'the provider broke off its answer';
    ctx.deps.log?.({
      event: 'llm.stream_broken',
      request_id: call.requestId,
      reason: messageOf(error).slice(0, 200),
    });
    return stop(answer, end({ status: 502, code: 'upstream_broken', message }, [watch.last()]));
  }
  // Judges that need the whole answer speak last; the end of the stream waits for them.
  const whole =
    ctx.responseEvaluators.length > 0 ? await judgeAnswer(ctx, call, watch.text()) : [watch.last()];
  const verdict = strictest(whole.map((e) => e.verdict));
  if (verdict === 'deny' || verdict === 'require_approval')
    return end({ status: 403, code: 'response_denied', message: 'the answer was cut at its end' }, whole);
  return end(undefined, whole);
}

function stop(answer: Extract<Answered, { ok: true }>, delivered: Delivered): Delivered {
  answer.body.destroy();
  return delivered;
}

async function* eventsOf(body: AsyncIterable<Uint8Array>, reader: ReturnType<typeof sseReader>) {
  for await (const chunk of body) yield* reader.push(chunk);
  yield* reader.end();
}

function windowJudge(ctx: Context, call: Call) {
  const rules = ctx.config.rules.filter((r) => r.on === 'response');
  const keep = Math.max(0, windowOf(rules) - 1);
  const tails = new Map<string, string>();
  const texts: string[] = [];
  let size = 0;
  const facts = (text: string, tools: readonly string[]) => ({
    caller: call.caller.name,
    model: call.model,
    operation: call.operation.name,
    tools,
    text,
  });
  let last = judgeByRules([], 'response', 'allow', facts('', []));
  return {
    judge: (piece: Json): Evaluation => {
      if (rules.length === 0 && ctx.responseEvaluators.length === 0) return last;
      const windows = deltasOf(piece).map(([channel, text]) => {
        const window = (tails.get(channel) ?? '') + text;
        if (tails.has(channel) || tails.size < MAX_CHANNELS)
          tails.set(channel, keep === 0 ? '' : window.slice(-keep));
        if (size < MAX_TEXT) texts.push(text);
        size += text.length;
        return window;
      });
      // The whole piece as well: what is not on a known channel is read too.
      const said = judgeByRules(
        rules,
        'response',
        'allow',
        facts([...windows, textOf(piece)].join('\n'), toolsCalled(piece)),
      );
      if (strictest([said.verdict, last.verdict]) === said.verdict) last = said;
      return said;
    },
    last: () => last,
    text: (): Json => ({ text: texts.join('').slice(0, MAX_TEXT) }),
  };
}

const STALL_MS = 60_000;

async function write(res: ServerResponse, text: string, signal: AbortSignal): Promise<void> {
  if (res.destroyed) throw new Error('the caller went away');
  if (res.write(text)) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => settle(new Error('the caller does not read')), STALL_MS);
    const onDrain = () => settle();
    const onGone = () => settle(new Error('the caller went away'));
    const settle = (error?: Error) => {
      clearTimeout(timer);
      res.off('drain', onDrain);
      res.off('close', onGone);
      signal.removeEventListener('abort', onGone);
      if (error) reject(error);
      else resolve();
    };
    res.once('drain', onDrain);
    res.once('close', onGone);
    signal.addEventListener('abort', onGone, { once: true });
  });
}
