import type { ServerResponse } from 'node:http';
import type { Json, JsonObject } from '../../core/index.ts';
import { errorBody, type Protocol } from './protocol.ts';

/** Answers to the caller, in the words of its protocol. */
export function replyJson(
  res: ServerResponse,
  status: number,
  body: Json,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (res.headersSent || res.destroyed) return;
  const text = JSON.stringify(body);
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  res.end(text);
}

export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly extra?: JsonObject;
  readonly retryAfter?: string | undefined;
}

export function replyError(res: ServerResponse, protocol: Protocol, failure: Failure): void {
  const { status, code, message, extra, retryAfter } = failure;
  replyJson(res, status, errorBody(protocol, status, code, message, extra), {
    // A refusal does not change by asking again; clients that would retry by themselves are told not to.
    ...(status < 500 && retryAfter === undefined ? { 'x-should-retry': 'false' } : {}),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  });
}

/** In the middle of a stream an error is an event, and the last one. */
export function streamError(res: ServerResponse, protocol: Protocol, failure: Failure): void {
  const { status, code, message, extra } = failure;
  if (!res.destroyed)
    res.end(`data: ${JSON.stringify(errorBody(protocol, status, code, message, extra))}\n\n`);
}
