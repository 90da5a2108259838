import type { ServerResponse } from 'node:http';
import type { Json, JsonObject } from '../../core/index.ts';
import { errorBody, type Protocol, type Usage } from './protocol.ts';

/** How an answer ended. `finish` lets the caller's connection go, after the record is durable. */
export interface Delivered {
  readonly ok: boolean;
  readonly status: number;
  readonly code: string | undefined;
  readonly usage: Usage | undefined;
  readonly record: JsonObject;
  finish(): void;
}

/** Why a caller gets no answer, in words that do not depend on the protocol. */
export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly extra?: JsonObject;
  readonly retryAfter?: string | undefined;
  /** The provider's own error, already in the words of the protocol. */
  readonly body?: JsonObject | undefined;
  /** The rest of the request will not be read. */
  readonly hangUp?: boolean;
}

export function approvalRequired(what: string, approvalId: string): Failure {
  return {
    status: 403,
    code: 'approval_required',
    message: `${what} waits for a person (${approvalId}); send the request again, unchanged, once it is approved`,
    extra: { approval_id: approvalId },
  };
}

/** What every answer says about itself. */
export function answerHeaders(
  call: { readonly requestId: string },
  answer?: { readonly requestId: string | undefined },
): Record<string, string> {
  const theirs = answer?.requestId;
  return {
    'x-writ-request-id': call.requestId,
    ...(theirs !== undefined && /^[\w.:-]{1,200}$/.test(theirs) ? { 'x-request-id': theirs } : {}),
  };
}

/** Answers to the caller, in the words of its protocol. */
export function replyText(
  res: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (res.headersSent || res.destroyed) return;
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'x-content-type-options': 'nosniff',
    ...headers,
  });
  res.end(text);
}

export function replyError(
  res: ServerResponse,
  protocol: Protocol,
  failure: Failure,
  headers: Readonly<Record<string, string>> = {},
): void {
  const { status, retryAfter } = failure;
  replyText(res, status, JSON.stringify(bodyOf(protocol, failure)), {
    ...headers,
    // A refusal does not change by asking again; clients that would retry by themselves are told not to.
    ...(status < 500 && retryAfter === undefined ? { 'x-should-retry': 'false' } : {}),
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    ...(failure.hangUp ? { connection: 'close' } : {}),
  });
}

/** In the middle of a stream an error is an event, and the last one. */
export function streamError(res: ServerResponse, protocol: Protocol, failure: Failure): void {
  if (!res.destroyed) res.end(`data: ${JSON.stringify(bodyOf(protocol, failure))}\n\n`);
}

function bodyOf(protocol: Protocol, { status, code, message, extra, body }: Failure): Json {
  return body ?? errorBody(protocol, status, code, message, extra);
}
