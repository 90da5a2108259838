import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { type JsonObject, messageOf } from '../../core/index.ts';
import {
  failure,
  type Id,
  type Message,
  notificationOf,
  type Reply,
  RPC,
  readMessage,
  requestOf,
} from './message.ts';

/**
 * One server's line, for one session.
 *
 * P1 Request ids are ours: what a client or another server chose never reaches this server, so answers
 *    cannot be confused.
 * P2 Every request ends: by an answer, a timeout, a cancellation or the end of the server.
 */
export interface Peer {
  readonly name: string;
  readonly alive: boolean;
  request(method: string, params: JsonObject, options: PeerOptions): Promise<Reply>;
  notify(method: string, params: JsonObject): Promise<void>;
  /** Answers a request of the server. */
  answer(message: Parameters<Transport['send']>[0]): Promise<void>;
  /** The server keeps going: a long call's time starts again. */
  touch(clientId: Id): void;
  setProtocolVersion(version: string): void;
  /** The client request this server is most likely working on. */
  current(): Id | undefined;
  close(): Promise<void>;
}

export interface PeerOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly clientId?: Id;
}

interface Pending {
  readonly clientId: Id | undefined;
  finish(reply: Reply): void;
  touch(): void;
}

export async function openPeer(
  name: string,
  transport: Transport,
  on: { message(message: Message): Promise<void>; closed(): void },
): Promise<Peer> {
  const pending = new Map<number, Pending>();
  let next = 0;
  let alive = true;
  const gone = () => {
    if (!alive) return;
    alive = false;
    for (const call of [...pending.values()])
      call.finish(failure(RPC.serverGone, `the server ${name} has ended`));
    on.closed();
  };
  transport.onclose = gone;
  transport.onerror = () => undefined;
  // The promise goes back to the transport, which reads on when it is done.
  transport.onmessage = ((raw: unknown) => {
    const message = readMessage(raw);
    if (message === undefined) return undefined;
    if (message.kind === 'result' || message.kind === 'error') {
      const call = typeof message.id === 'number' ? pending.get(message.id) : undefined;
      call?.finish(
        message.kind === 'result'
          ? { ok: true, result: message.result }
          : { ok: false, error: message.error },
      );
      return undefined;
    }
    return on.message(message).catch(() => undefined);
  }) as NonNullable<Transport['onmessage']>;
  await transport.start();

  return {
    name,
    get alive() {
      return alive;
    },
    request: (method, params, { timeoutMs, signal, clientId }) => {
      if (!alive) return Promise.resolve(failure(RPC.serverGone, `the server ${name} has ended`));
      if (signal?.aborted) return Promise.resolve(failure(RPC.internal, 'cancelled'));
      const id = ++next;
      return new Promise<Reply>((resolve) => {
        const give = (reason: string) => {
          void transport
            .send(notificationOf('notifications/cancelled', { requestId: id, reason }))
            .catch(() => undefined);
        };
        const expire = () => {
          give('timeout');
          finish(failure(RPC.internal, `the server ${name} gave no answer in time`));
        };
        const abort = () => {
          give('cancelled by the client');
          finish(failure(RPC.internal, 'cancelled'));
        };
        let timer = setTimeout(expire, timeoutMs);
        const finish = (reply: Reply) => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', abort);
          pending.delete(id);
          resolve(reply);
        };
        pending.set(id, {
          clientId,
          finish,
          touch: () => {
            clearTimeout(timer);
            timer = setTimeout(expire, timeoutMs);
          },
        });
        signal?.addEventListener('abort', abort, { once: true });
        transport.send(requestOf(id, method, params)).catch((error) => {
          finish(
            failure(
              RPC.serverGone,
              `the server ${name} cannot be reached: ${messageOf(error).slice(0, 200)}`,
            ),
          );
        });
      });
    },
    notify: (method, params) => transport.send(notificationOf(method, params)),
    answer: (message) => transport.send(message),
    touch: (clientId) => {
      for (const call of pending.values()) if (call.clientId === clientId) call.touch();
    },
    setProtocolVersion: (version) => transport.setProtocolVersion?.(version),
    current: () => [...pending.values()].findLast((call) => call.clientId !== undefined)?.clientId,
    close: async () => {
      await transport.close().catch(() => undefined);
      gone();
    },
  };
}
