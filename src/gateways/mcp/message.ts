import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';

/** JSON-RPC messages, read from whatever arrived. */
export type Id = string | number;

export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Params }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Params }
  | { readonly kind: 'result'; readonly id: Id; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly id: Id | undefined; readonly error: RpcError }
  | { readonly kind: 'malformed'; readonly id: Id | undefined };

/** Absent stays absent: some servers take an empty object for a mistake, and others its absence. */
export type Params = JsonObject | undefined;

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Ours: refused by policy, and a server that is gone. */
  denied: -32003,
  serverGone: -32000,
  resourceNotFound: -32002,
} as const;

/** Total: whatever is no message is `malformed`, with the id it should be answered under if it has one. */
export function readMessage(value: unknown): Message {
  if (!isJsonObject(value)) return { kind: 'malformed', id: undefined };
  const { id: given, method, params } = value;
  const id = isId(given) ? given : undefined;
  if (value.jsonrpc !== '2.0') return { kind: 'malformed', id };
  if (typeof method === 'string') {
    // An id that is none (null, a list) is a broken request, not a notification.
    if ((params !== undefined && !isJsonObject(params)) || (given !== undefined && id === undefined))
      return { kind: 'malformed', id };
    return id === undefined
      ? { kind: 'notification', method, params }
      : { kind: 'request', id, method, params };
  }
  if (isJsonObject(value.error)) return { kind: 'error', id, error: readError(value.error) };
  if (id === undefined || value.result === undefined) return { kind: 'malformed', id };
  return isJsonObject(value.result)
    ? { kind: 'result', id, result: value.result }
    : { kind: 'error', id, error: { code: RPC.internal, message: 'the answer is not an object' } };
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

function readError({ code, message, data }: JsonObject): RpcError {
  return {
    code: typeof code === 'number' ? code : RPC.internal,
    message: typeof message === 'string' ? message : 'error',
    ...(data === undefined ? {} : { data }),
  };
}

export function requestOf(id: Id, method: string, params: Params): JSONRPCMessage {
  return (params === undefined
    ? { jsonrpc: '2.0', id, method }
    : { jsonrpc: '2.0', id, method, params }) as unknown as JSONRPCMessage;
}

export function notificationOf(method: string, params: Params): JSONRPCMessage {
  return (params === undefined
    ? { jsonrpc: '2.0', method }
    : { jsonrpc: '2.0', method, params }) as unknown as JSONRPCMessage;
}

export function resultOf(id: Id, result: JsonObject): JSONRPCMessage {
  return { jsonrpc: '2.0', id, result } as JSONRPCMessage;
}

/** Without an id for what could not be told apart: JSON-RPC wants `null` there. */
export function errorOf(id: Id | null, error: RpcError): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error } as unknown as JSONRPCMessage;
}

/** An answer to a request, as a value. */
export type Reply =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError };

export function failure(code: number, message: string, data?: Json): Reply {
  return { ok: false, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
