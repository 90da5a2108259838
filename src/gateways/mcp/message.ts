import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { isJsonObject, type Json, type JsonObject } from '../../core/index.ts';

/** JSON-RPC messages, read from whatever arrived. */
export type Id = string | number;

export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject }
  | { readonly kind: 'result'; readonly id: Id; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly id: Id | undefined; readonly error: RpcError };

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

export const RPC = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** Ours: refused by policy, and a server that is gone. */
  denied: -32003,
  serverGone: -32000,
  resourceNotFound: -32002,
} as const;

export function readMessage(value: unknown): Message | undefined {
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return undefined;
  const { id, method } = value;
  const params = isJsonObject(value.params) ? value.params : {};
  const known = typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));
  if (typeof method === 'string')
    return known ? { kind: 'request', id, method, params } : { kind: 'notification', method, params };
  if (isJsonObject(value.error)) {
    const { code, message, data } = value.error;
    const error = {
      code: typeof code === 'number' ? code : RPC.internal,
      message: typeof message === 'string' ? message : 'error',
      ...(data === undefined ? {} : { data }),
    };
    return { kind: 'error', id: known ? id : undefined, error };
  }
  if (known && isJsonObject(value.result)) return { kind: 'result', id, result: value.result };
  return undefined;
}

export function requestOf(id: Id, method: string, params: JsonObject): JSONRPCMessage {
  // `params` is left out when empty: some servers take an empty object for a mistake.
  const body = Object.keys(params).length === 0 ? {} : { params };
  return { jsonrpc: '2.0', id, method, ...body } as JSONRPCMessage;
}

export function notificationOf(method: string, params: JsonObject): JSONRPCMessage {
  const body = Object.keys(params).length === 0 ? {} : { params };
  return { jsonrpc: '2.0', method, ...body } as JSONRPCMessage;
}

export function resultOf(id: Id, result: JsonObject): JSONRPCMessage {
  return { jsonrpc: '2.0', id, result } as JSONRPCMessage;
}

export function errorOf(id: Id, error: RpcError): JSONRPCMessage {
  return { jsonrpc: '2.0', id, error } as unknown as JSONRPCMessage;
}

/** An answer to a request, as a value. */
export type Reply =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly error: RpcError };

export function failure(code: number, message: string, data?: Json): Reply {
  return { ok: false, error: { code, message, ...(data === undefined ? {} : { data }) } };
}
