import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, MessageExtraInfo } from '@modelcontextprotocol/sdk/types.js';
import { type Dispatcher, Pool } from 'undici';
import { type Json, parseJson, systemClock } from '../../core/index.ts';
import { eventReader } from './event-stream.ts';
import { errorOf, type Id, type Message, RPC, readMessage } from './message.ts';

/**
 * Streamable HTTP to a server.
 *
 * HD1 Nothing is read beyond the limit, and a stream is read no faster than its messages are taken.
 * HD2 What arrives on the stream of a request says so: a server's question goes to the call it came with.
 * HD3 A stream that ends before its answer is taken up again where the server numbers its events, and is
 *     otherwise that request's error.
 * HD4 A server that no longer knows the session ends the connection: whoever holds it may open another.
 */
export interface HttpServer {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly maxBytes: number;
}

type Answer = Dispatcher.ResponseData;
/** Where a stream stands: the last event it numbered, and how long its server wants us to wait. */
interface Place {
  event: string | undefined;
  retryMs: number;
  answered: boolean;
}

const pause = (ms: number, signal: AbortSignal) => systemClock.sleep(ms, signal).catch(() => undefined);

const MAX_RESUMES = 5;
const FIRST_RETRY_MS = 500;
const MAX_RETRY_MS = 30_000;
const MAX_REDIRECTS = 3;

export function httpTransport(server: HttpServer): Transport {
  let endpoint = new URL(server.url);
  // No limits of time here: every request has its own, and a listening stream may be silent for hours.
  const pool = new Pool(endpoint.origin, {
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: 10_000 },
    allowH2: false,
  });
  const over = new AbortController();
  const posts = new Map<Id, AbortController>();
  let session: string | undefined;
  let version: string | undefined;
  let unreachable = false;

  const finish = () => {
    if (over.signal.aborted) return;
    over.abort();
    for (const post of posts.values()) post.abort();
    transport.onclose?.();
  };

  const ask = async (
    method: 'POST' | 'GET' | 'DELETE',
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    body?: string,
  ): Promise<Answer> => {
    for (let turn = 0; ; turn++) {
      const answer = await pool
        .request({
          method,
          path: endpoint.pathname + endpoint.search,
          headers: {
            ...(session === undefined ? {} : { 'mcp-session-id': session }),
            ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
            ...server.headers,
            ...headers,
          },
          signal,
          ...(body === undefined ? {} : { body }),
        })
        .catch((error) => {
          unreachable = true;
          throw error;
        });
      if (answer.statusCode !== 307 && answer.statusCode !== 308) return answer;
      await answer.body.dump();
      const next = new URL(headerOf(answer, 'location'), endpoint);
      // Elsewhere is another server, which nobody configured.
      if (next.origin !== endpoint.origin || turn >= MAX_REDIRECTS)
        throw new Error(`HTTP ${answer.statusCode} to another server`);
      endpoint = next;
    }
  };

  const hand = async (value: Json, related: Id | undefined): Promise<void> => {
    const extra = related === undefined ? {} : { relatedRequestId: related };
    await (transport.onmessage?.(value as unknown as JSONRPCMessage, extra as MessageExtraInfo) as unknown);
  };

  /** Reads a stream to its end. */
  const follow = async (answer: Answer, place: Place, related: Id | undefined): Promise<void> => {
    const read = eventReader(server.maxBytes);
    for await (const chunk of answer.body as AsyncIterable<Uint8Array>)
      for (const { data, id, retryMs } of read(chunk)) {
        place.event = id ?? place.event;
        if (retryMs !== undefined) place.retryMs = Math.min(retryMs, MAX_RETRY_MS);
        const parsed = data === '' ? undefined : parseJson(data);
        if (!parsed?.ok) continue;
        const message = readMessage(parsed.value);
        if (isAnswer(message) && message.id === related) place.answered = true;
        await hand(parsed.value, related);
      }
  };

  const openStream = async (place: Place, signal: AbortSignal): Promise<Answer | undefined> => {
    const resume = place.event === undefined ? {} : { 'last-event-id': place.event };
    const answer = await ask('GET', { accept: 'text/event-stream', ...resume }, signal);
    if (answer.statusCode === 200 && isStream(answer)) return answer;
    await answer.body.dump();
    return undefined;
  };

  /** The stream of one request, taken up again as long as that makes sense. */
  const followCall = async (first: Answer, id: Id, signal: AbortSignal): Promise<void> => {
    const place: Place = { event: undefined, retryMs: FIRST_RETRY_MS, answered: false };
    let answer: Answer | undefined = first;
    for (let turn = 0; answer !== undefined && turn <= MAX_RESUMES; turn++) {
      await follow(answer, place, id).catch(() => undefined);
      if (place.answered || signal.aborted) return;
      if (place.event === undefined) break;
      await pause(place.retryMs, signal);
      answer = await openStream(place, signal).catch(() => undefined);
    }
    if (!signal.aborted)
      await hand(
        errorOf(id, {
          code: RPC.serverGone,
          message: 'the stream ended without an answer',
        }) as unknown as Json,
        id,
      );
  };

  /** What the server says of its own accord, for as long as the session lasts. */
  const listen = async (): Promise<void> => {
    const place: Place = { event: undefined, retryMs: FIRST_RETRY_MS, answered: false };
    for (let failures = 0; failures < MAX_RESUMES && !over.signal.aborted; ) {
      try {
        const answer = await openStream(place, over.signal);
        // No stream offered: that is the server's right.
        if (answer === undefined) return;
        failures = 0;
        await follow(answer, place, undefined);
      } catch (error) {
        failures++;
        transport.onerror?.(error as Error);
      }
      await pause(Math.min(place.retryMs * 2 ** failures, MAX_RETRY_MS), over.signal);
    }
  };

  const refused = async (answer: Answer, id: Id | undefined): Promise<void> => {
    const status = answer.statusCode;
    const text = await bounded(answer, 64 * 1024).catch(() => '');
    if (session !== undefined && (status === 404 || (status === 400 && unreachable))) finish();
    const parsed = parseJson(text);
    const said = parsed.ok ? readMessage(parsed.value) : undefined;
    // An error of the protocol in the clothes of HTTP is passed on as what it is.
    if (id !== undefined && said?.kind === 'error' && said.id === id && parsed.ok)
      return hand(parsed.value, id);
    throw new Error(`HTTP ${status}: ${text.slice(0, 200)}`);
  };

  const send = async (message: JSONRPCMessage): Promise<void> => {
    const { id, method, params } = message as { id?: Id; method?: string; params?: { requestId?: Id } };
    const request = method !== undefined && id !== undefined;
    if (over.signal.aborted) throw new Error('the session is over');
    const stop = new AbortController();
    const { signal } = stop;
    const done = () => void (request && posts.delete(id));
    if (request) posts.set(id, stop);
    try {
      const accept = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
      const answer = await ask('POST', accept, request ? signal : over.signal, JSON.stringify(message));
      session = headerOf(answer, 'mcp-session-id') || session;
      if (answer.statusCode >= 400) return await refused(answer, request ? id : undefined).finally(done);
      unreachable = false;
      if (!request) {
        await answer.body.dump();
        if (method === 'notifications/initialized') void listen();
        if (method === 'notifications/cancelled' && params?.requestId !== undefined)
          posts.get(params.requestId)?.abort();
      } else if (isStream(answer)) void followCall(answer, id, signal).finally(done);
      else {
        const parsed = parseJson(await bounded(answer, server.maxBytes).finally(done));
        if (!parsed.ok) throw new Error('the answer is not JSON');
        for (const value of [parsed.value].flat()) await hand(value as Json, id);
      }
    } catch (error) {
      done();
      throw error;
    }
  };

  const transport: Transport = {
    start: async () => undefined,
    send,
    setProtocolVersion: (negotiated) => {
      version = negotiated;
    },
    close: async () => {
      if (session !== undefined && !over.signal.aborted)
        await ask('DELETE', {}, AbortSignal.timeout(1000)).then(
          (answer) => answer.body.dump(),
          () => undefined,
        );
      finish();
      await pool.destroy().catch(() => undefined);
    },
  };
  return transport;
}

function isAnswer(message: Message): message is Extract<Message, { kind: 'result' | 'error' }> {
  return message.kind === 'result' || message.kind === 'error';
}

function headerOf(answer: Answer, name: string): string {
  const value = answer.headers[name];
  return typeof value === 'string' ? value : (value?.[0] ?? '');
}

function isStream(answer: Answer): boolean {
  return /^text\/event-stream\b/i.test(headerOf(answer, 'content-type'));
}

async function bounded(answer: Answer, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > limit) throw new Error(`the answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
