import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JSONRPCMessage, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../core/index.ts';
import { errorOf, type Id, RPC, readMessage } from './message.ts';
import type { ClientTransport } from './session.ts';
import { beginningOf, MAX_TAPED, openTape, placeOf, type Tape } from './tape.ts';

/**
 * Streamable HTTP from a client: one session.
 *
 * HU1 A client that takes streams gets one for every request, as the SDK's own servers give it; it begins with
 *     the first thing there is to say, or after a while. Others get the answer as plain JSON and nothing else.
 * HU2 Who reads slowly is waited for; who does not read at all loses the stream, and nothing piles up.
 * HU3 What belongs to no request goes to the listening stream. A second one takes over from the first: the
 *     first may be a connection nobody holds any more.
 * HU4 A stream that has begun outlives its connection: what is said on it is kept, within bounds, and a client
 *     that names the last event it saw gets the rest and goes on. Whoever was waited for counts as gone meanwhile.
 */
export interface HttpTransport extends ClientTransport {
  readonly sessionId: string;
  /** Answers one HTTP request of this session. The body has been read and parsed. */
  handle(req: IncomingMessage, res: ServerResponse, body: Json | undefined): void;
  /** Nothing is under way and nobody listens. */
  readonly idle: boolean;
}

/** A stream of this session and the requests it is for. */
interface Exchange {
  readonly number: number;
  readonly tape: Tape;
  readonly open: Set<Id>;
  readonly takesStreams: boolean;
  /** Tells the client at the beginning how to come back. */
  readonly primed: boolean;
  /** The connection, until another takes its place. */
  res: ServerResponse | undefined;
  streaming: boolean;
}

const MAX_BATCH = 100;
const STREAM_AFTER_MS = 1000;
const RETRY_MS = 500;
const KEEP_ALIVE_MS = 15_000;
const SLOW_READER_MS = 30_000;
/** Streams that have ended and may still be asked for. */
const MAX_ENDED = 8;
/** From this revision on, clients take an event without data for what it is: a place to come back to. */
const PRIMED_SINCE = '2025-11-25';

export function httpUpstream(sessionId: string, onDelete: () => void): HttpTransport {
  const exchanges = new Map<Id, Exchange>();
  /** Streams that have begun, in the order they did. */
  const begun = new Map<number, Exchange>();
  let streams = 0;
  let closed = false;

  const newExchange = (
    ids: readonly Id[],
    req: IncomingMessage,
    res: ServerResponse | undefined,
  ): Exchange => ({
    number: streams,
    tape: openTape(streams++),
    open: new Set(ids),
    takesStreams: acceptOf(req).includes('text/event-stream'),
    primed: String(req.headers['mcp-protocol-version'] ?? '') >= PRIMED_SINCE,
    res,
    streaming: false,
  });
  let listening: Exchange | undefined;

  const beat = setInterval(() => {
    for (const { res } of begun.values())
      if (res !== undefined && !res.writableNeedDrain) res.write(': keep-alive\n\n');
  }, KEEP_ALIVE_MS).unref();

  const startStream = (res: ServerResponse) =>
    res.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'mcp-session-id': sessionId,
    });

  const begin = (exchange: Exchange) => {
    const { res, number } = exchange;
    if (!exchange.takesStreams || exchange.streaming || res === undefined || res.destroyed) return;
    exchange.streaming = true;
    begun.set(number, exchange);
    startStream(res).flushHeaders();
    if (exchange.primed) res.write(`id: ${beginningOf(number)}\nretry: ${RETRY_MS}\ndata: \n\n`);
  };

  /** Says it on the stream; to nobody for now, when the connection is gone. */
  const say = async ({ tape, res }: Exchange, text: string): Promise<void> => {
    const id = tape.keep(text);
    if (res !== undefined) await write(res, eventOf(text, id));
  };

  /** What ended long ago makes room; what is under way, and the listening stream, stay. */
  const end = (exchange: Exchange) => {
    exchange.res?.end();
    exchange.res = undefined;
    const ended = [...begun.values()].filter((e) => e.open.size === 0 && e !== listening);
    for (const { number } of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) begun.delete(number);
  };

  const attach = (exchange: Exchange, res: ServerResponse) => {
    exchange.res?.end();
    exchange.res = res;
    res.once('close', () => {
      if (exchange.res !== res) return;
      exchange.res = undefined;
      if (exchange.open.size === 0) return;
      // One that never began cannot be asked for: its answers have nowhere to go.
      if (!exchange.streaming) for (const id of exchange.open) exchanges.delete(id);
      transport.onleft?.([...exchange.open]);
    });
  };

  const listen = (req: IncomingMessage, res: ServerResponse) => {
    if (!acceptOf(req).includes('text/event-stream'))
      return refuse(res, 406, 'Not Acceptable: Client must accept text/event-stream');
    const seen = req.headers['last-event-id'];
    if (typeof seen === 'string' && seen !== '') return resume(seen, res);
    if (listening !== undefined) {
      listening.res?.end();
      begun.delete(listening.number);
    }
    listening = newExchange([], req, undefined);
    attach(listening, res);
    begin(listening);
  };

  const resume = (eventId: string, res: ServerResponse) => {
    const at = placeOf(eventId);
    const exchange = at && begun.get(at.stream);
    const missed = at && exchange?.tape.after(at.place);
    if (exchange === undefined || missed === undefined)
      return refuse(res, 400, 'Bad Request: what came after this event is no longer known');
    attach(exchange, res);
    startStream(res).flushHeaders();
    for (const { text, id } of missed) res.write(eventOf(text, id));
    if (exchange.open.size === 0 && exchange !== listening) end(exchange);
  };

  const post = (req: IncomingMessage, res: ServerResponse, body: Json | undefined) => {
    const accept = acceptOf(req);
    const takesStreams = accept.includes('text/event-stream');
    if (!takesStreams && !/\*\/\*|application\/(json|\*)/.test(accept))
      return refuse(res, 406, 'Not Acceptable: Client must accept application/json and text/event-stream');
    if (!/^application\/json\b/i.test(req.headers['content-type'] ?? ''))
      return refuse(res, 415, 'Unsupported Media Type: Content-Type must be application/json');
    const messages = Array.isArray(body) ? (body as readonly Json[]) : [body];
    const read = messages.map(readMessage);
    const bad = read.find((message) => message.kind === 'malformed');
    if (bad !== undefined || messages.length === 0 || messages.length > MAX_BATCH)
      return refuse(res, 400, 'Invalid Request: not a JSON-RPC message', RPC.invalidRequest, bad?.id);
    const ids = read.flatMap((message) => (message.kind === 'request' ? [message.id] : []));
    if (ids.some((id) => exchanges.has(id)) || new Set(ids).size < ids.length)
      return refuse(res, 400, 'Invalid Request: this id is in use', RPC.invalidRequest, ids[0]);
    if (ids.length > 1 && !takesStreams)
      return refuse(res, 406, 'Not Acceptable: several requests are answered in a stream');
    if (ids.length === 0) res.writeHead(202).end();
    else {
      const exchange = newExchange(ids, req, undefined);
      for (const id of ids) exchanges.set(id, exchange);
      const late = setTimeout(() => begin(exchange), STREAM_AFTER_MS).unref();
      attach(exchange, res);
      res.once('close', () => clearTimeout(late));
    }
    for (const message of messages) transport.onmessage?.(message as unknown as JSONRPCMessage);
  };

  const answer = async (exchange: Exchange, id: Id, text: string): Promise<void> => {
    const { res, open, takesStreams } = exchange;
    exchanges.delete(id);
    open.delete(id);
    if (!takesStreams) {
      res?.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': sessionId }).end(text);
      return;
    }
    if (open.size > 0) begin(exchange);
    else if (!exchange.streaming) {
      // Nothing came before it that the client could name: the answer alone, in one piece.
      if (res !== undefined) startStream(res).end(eventOf(text));
      return;
    }
    // Shown to who is there whole; to who comes later only that it was too large to be kept.
    if (text.length <= MAX_TAPED) await say(exchange, text);
    else if (res !== undefined) await write(res, eventOf(text));
    else await say(exchange, JSON.stringify(errorOf(id, { code: RPC.internal, message: TOO_LARGE })));
    if (open.size === 0) end(exchange);
  };

  const send = async (message: JSONRPCMessage, related: Id | undefined): Promise<void> => {
    const { id, method } = message as { id?: Id; method?: string };
    if (method === undefined) {
      const exchange = id === undefined ? undefined : exchanges.get(id);
      // Whoever asked has hung up.
      return exchange && id !== undefined ? answer(exchange, id, JSON.stringify(message)) : undefined;
    }
    const exchange = related === undefined ? undefined : exchanges.get(related);
    if (exchange !== undefined) begin(exchange);
    const target = exchange?.takesStreams ? exchange : listening;
    if (target !== undefined) await say(target, JSON.stringify(message));
  };

  const transport: HttpTransport = {
    sessionId,
    get idle() {
      return exchanges.size === 0 && listening?.res === undefined;
    },
    start: async () => undefined,
    release: (id) => {
      const exchange = exchanges.get(id);
      if (exchange === undefined) return;
      exchanges.delete(id);
      exchange.open.delete(id);
      begin(exchange);
      if (exchange.open.size > 0) return;
      // A plain answer there will never be: the connection is all that can be ended.
      if (exchange.streaming) end(exchange);
      else exchange.res?.destroy();
    },
    send: (message, options) => send(message, options?.relatedRequestId),
    handle: (req, res, body) => {
      const version = req.headers['mcp-protocol-version'];
      if (typeof version === 'string' && !SUPPORTED_PROTOCOL_VERSIONS.includes(version))
        return refuse(res, 400, `Bad Request: Unsupported protocol version: ${version.slice(0, 50)}`);
      if (closed) return refuse(res, 404, 'Session not found', -32001);
      switch (req.method) {
        case 'POST':
          return post(req, res, body);
        case 'GET':
          return listen(req, res);
        case 'DELETE':
          onDelete();
          res.writeHead(200).end();
          return void transport.close();
        default:
          res.setHeader('allow', 'GET, POST, DELETE');
          return refuse(res, 405, 'Method not allowed.');
      }
    },
    close: async () => {
      if (closed) return;
      closed = true;
      clearInterval(beat);
      for (const { res } of [...begun.values(), ...exchanges.values()]) {
        if (res?.headersSent) res.end();
        else if (res !== undefined) refuse(res, 404, 'the session has ended', -32001);
      }
      exchanges.clear();
      begun.clear();
      transport.onclose?.();
    },
  };
  return transport;
}

const TOO_LARGE = 'the answer came while the connection was gone, and was too large to be kept';

const eventOf = (json: string, id?: string) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: message\ndata: ${json}\n\n`;

const acceptOf = (req: IncomingMessage) => req.headers.accept ?? '*/*';

/** Writes and waits until it is taken; a reader that takes nothing for too long is let go. */
async function write(res: ServerResponse, text: string): Promise<void> {
  if (res.destroyed || res.writableEnded || res.write(text)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(() => res.destroy(), SLOW_READER_MS);
  const done = () => {
    clearTimeout(late);
    res.off('drain', done).off('close', done);
    resolve();
  };
  // Several messages may wait for one reader.
  res.setMaxListeners(0).once('drain', done).once('close', done);
  await promise;
}

/** The answer to a request that does not become a message. */
export function refuse(
  res: ServerResponse,
  status: number,
  message: string,
  code = -32000,
  id: Id | null = null,
): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id }));
}
