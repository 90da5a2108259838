import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JSONRPCMessage, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import type { Json } from '../../core/index.ts';
import { type Id, RPC, readMessage } from './message.ts';
import type { ClientTransport } from './session.ts';

/**
 * Streamable HTTP from a client: one session.
 *
 * HU1 A client that takes streams gets one for every request, as the SDK's own servers give it; it begins with
 *     the first thing there is to say, or after a while. Others get the answer as plain JSON and nothing else.
 * HU2 Who reads slowly is waited for; who does not read at all loses the stream, and nothing piles up.
 * HU3 What belongs to no request goes to the listening stream. A second one takes over from the first: the
 *     first may be a connection nobody holds any more.
 */
export interface HttpTransport extends ClientTransport {
  readonly sessionId: string;
  /** Answers one HTTP request of this session. The body has been read and parsed. */
  handle(req: IncomingMessage, res: ServerResponse, body: Json | undefined): void;
  /** Nothing is under way and nobody listens. */
  readonly idle: boolean;
}

/** The streams of this session, by the requests they are for. */
interface Exchange {
  readonly res: ServerResponse;
  readonly open: Set<Id>;
  streaming: boolean;
  readonly takesStreams: boolean;
}

const MAX_BATCH = 100;
const STREAM_AFTER_MS = 5000;
const KEEP_ALIVE_MS = 15_000;
const SLOW_READER_MS = 30_000;

export function httpUpstream(sessionId: string, onDelete: () => void): HttpTransport {
  const exchanges = new Map<Id, Exchange>();
  let listening: ServerResponse | undefined;
  let closed = false;
  const beat = setInterval(() => {
    for (const res of streams()) if (!res.writableNeedDrain) res.write(': keep-alive\n\n');
  }, KEEP_ALIVE_MS).unref();
  const streams = () =>
    new Set([...exchanges.values()].filter((e) => e.streaming).map((e) => e.res)).union(
      new Set(listening === undefined ? [] : [listening]),
    );

  const startStream = (res: ServerResponse) =>
    res.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'mcp-session-id': sessionId,
    });

  const stream = (exchange: Exchange) => {
    if (!exchange.takesStreams || exchange.res.headersSent || exchange.res.destroyed) return;
    exchange.streaming = true;
    startStream(exchange.res).flushHeaders();
  };

  const listen = (req: IncomingMessage, res: ServerResponse) => {
    if (!(req.headers.accept ?? '').includes('text/event-stream'))
      return refuse(res, 406, 'Not Acceptable: Client must accept text/event-stream');
    listening?.end();
    listening = res;
    startStream(res).flushHeaders();
    res.once('close', () => {
      if (listening === res) listening = undefined;
    });
  };

  const post = (req: IncomingMessage, res: ServerResponse, body: Json | undefined) => {
    const accept = req.headers.accept ?? '*/*';
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
      const exchange = { res, open: new Set(ids), streaming: false, takesStreams };
      for (const id of ids) exchanges.set(id, exchange);
      const late = setTimeout(() => stream(exchange), STREAM_AFTER_MS).unref();
      res.once('close', () => {
        clearTimeout(late);
        for (const id of exchange.open) exchanges.delete(id);
        if (exchange.open.size > 0) transport.onleft?.([...exchange.open]);
      });
    }
    for (const message of messages) transport.onmessage?.(message as unknown as JSONRPCMessage);
  };

  const answer = async (exchange: Exchange, id: Id, text: string): Promise<void> => {
    const { res, open, takesStreams } = exchange;
    exchanges.delete(id);
    open.delete(id);
    if (!takesStreams) {
      res.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': sessionId }).end(text);
      return;
    }
    if (open.size > 0) {
      stream(exchange);
      return write(res, eventOf(text));
    }
    if (!res.headersSent) startStream(res);
    res.end(eventOf(text));
  };

  const send = async (message: JSONRPCMessage, related: Id | undefined): Promise<void> => {
    const { id, method } = message as { id?: Id; method?: string };
    if (method === undefined) {
      const exchange = id === undefined ? undefined : exchanges.get(id);
      // Whoever asked has hung up.
      return exchange && id !== undefined ? answer(exchange, id, JSON.stringify(message)) : undefined;
    }
    const exchange = related === undefined ? undefined : exchanges.get(related);
    if (exchange !== undefined) stream(exchange);
    const res = exchange?.takesStreams ? exchange.res : listening;
    if (res !== undefined) await write(res, eventOf(JSON.stringify(message)));
  };

  const transport: HttpTransport = {
    sessionId,
    get idle() {
      return exchanges.size === 0 && listening === undefined;
    },
    start: async () => undefined,
    release: (id) => {
      const exchange = exchanges.get(id);
      if (exchange === undefined) return;
      exchanges.delete(id);
      exchange.open.delete(id);
      stream(exchange);
      if (exchange.open.size > 0) return;
      // A plain answer there will never be: the connection is all that can be ended.
      if (exchange.streaming) exchange.res.end();
      else exchange.res.destroy();
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
      listening?.end();
      for (const { res } of exchanges.values()) {
        if (res.headersSent) res.end();
        else refuse(res, 404, 'the session has ended', -32001);
      }
      exchanges.clear();
      transport.onclose?.();
    },
  };
  return transport;
}

const eventOf = (json: string) => `event: message\ndata: ${json}\n\n`;

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
