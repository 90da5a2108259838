import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { messageOf } from '../../core/index.ts';
import {
  failure,
  type Id,
  type Message,
  notificationOf,
  type Params,
  type Reply,
  RPC,
  readMessage,
  requestOf,
} from './message.ts';

/**
 * One connection to a server, for one session.
 *
 * P1 Request ids are ours: what a client or another server chose never reaches this server, so answers
 *    cannot be confused.
 * P2 Every request ends: by an answer, a timeout, a cancellation or the end of the server.
 */
export interface Peer {
  readonly name: string;
  readonly alive: boolean;
  request(method: string, params: Params, options: PeerOptions): Promise<Reply>;
  notify(method: string, params: Params): Promise<void>;
  /** Answers a request of the server. */
  answer(message: Parameters<Transport['send']>[0]): Promise<void>;
  /** The server keeps going: a long call's time starts again. */
  touch(clientId: Id): void;
  setProtocolVersion(version: string): void;
  close(): Promise<void>;
}

export interface PeerOptions {
  readonly timeoutMs: number;
  /** Its reason is told to the server. */
  readonly signal?: AbortSignal;
  readonly clientId?: Id;
}

export interface PeerEvents {
  /** `related` is the client's request it came with: known over HTTP, else the newest that is open. */
  message(message: FromServer, related: Id | undefined): Promise<void>;
  closed(): void;
}

export type FromServer = Extract<Message, { kind: 'request' | 'notification' }>;

interface Pending {
  readonly clientId: Id | undefined;
  finish(reply: Reply): void;
  touch(): void;
}

const CANCELLED = failure(RPC.internal, 'cancelled');

export async function openPeer(name: string, transport: Transport, on: PeerEvents): Promise<Peer> {
  const pending = new Map<Id, Pending>();
  let next = 0;
  let alive = true;
  const ended = () => failure(RPC.serverGone, `the server ${name} has ended`);
  const gone = () => {
    if (!alive) return;
    alive = false;
    for (const call of [...pending.values()]) call.finish(ended());
    on.closed();
  };
  const newest = () => [...pending.values()].findLast((call) => call.clientId !== undefined)?.clientId;

  transport.onclose = gone;
  transport.onerror = () => undefined;
  // The promise goes back to the transport, which reads on when it is done.
  transport.onmessage = ((raw: unknown, extra?: { readonly relatedRequestId?: Id }) => {
    const message = readMessage(raw);
    switch (message.kind) {
      case 'result':
        pending.get(message.id)?.finish({ ok: true, result: message.result });
        return undefined;
      case 'error':
        if (message.id !== undefined) pending.get(message.id)?.finish({ ok: false, error: message.error });
        return undefined;
      case 'malformed':
        return undefined;
      case 'request':
      case 'notification': {
        const came = extra?.relatedRequestId;
        const related = came === undefined ? newest() : pending.get(came)?.clientId;
        return on.message(message, related).catch(() => undefined);
      }
    }
  }) as NonNullable<Transport['onmessage']>;
  await transport.start();

  const request = (
    method: string,
    params: Params,
    { timeoutMs, signal, clientId }: PeerOptions,
  ): Promise<Reply> => {
    if (!alive) return Promise.resolve(ended());
    if (signal?.aborted) return Promise.resolve(CANCELLED);
    const id = ++next;
    return new Promise<Reply>((resolve) => {
      const give = (reason: string) => {
        const params = { requestId: id, reason };
        void transport.send(notificationOf('notifications/cancelled', params)).catch(() => undefined);
      };
      const expire = () => {
        give('timeout');
        finish(failure(RPC.internal, `the server ${name} gave no answer in time`));
      };
      const abort = () => {
        give(typeof signal?.reason === 'string' ? signal.reason : 'cancelled');
        finish(CANCELLED);
      };
      const timer = setTimeout(expire, timeoutMs);
      const finish = (reply: Reply) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        pending.delete(id);
        resolve(reply);
      };
      pending.set(id, { clientId, finish, touch: () => void timer.refresh() });
      signal?.addEventListener('abort', abort, { once: true });
      transport.send(requestOf(id, method, params)).catch((error) => {
        const why = messageOf(error).slice(0, 200);
        finish(failure(RPC.serverGone, `the server ${name} cannot be reached: ${why}`));
      });
    });
  };

  return {
    name,
    get alive() {
      return alive;
    },
    request,
    notify: (method, params) => transport.send(notificationOf(method, params)),
    answer: (message) => transport.send(message),
    touch: (clientId) => {
      for (const call of pending.values()) if (call.clientId === clientId) call.touch();
    },
    setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
    close: async () => {
      await transport.close().catch(() => undefined);
      gone();
    },
  };
}
