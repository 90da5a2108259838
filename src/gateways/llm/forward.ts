import { Agent } from 'undici';
import { type Action, messageOf, type Writ } from '../../core/index.ts';
import { type AnswerBody, IncomingAnswer } from './answer-body.ts';
import type { Provider } from './config.ts';
import type { Choice } from './route.ts';
import { unpacked } from './unpack.ts';

/**
 * The only way out to a provider.
 *
 * F1 Nothing is sent without a writ for exactly this request: its use is taken before the first attempt.
 * F2 The provider's key is put on here and nowhere else; of the caller's headers only its trace goes along.
 * F3 Redirects are not followed: a provider is where the configuration says it is.
 */
export interface Upstream {
  send(out: Outgoing): Promise<Answered>;
  close(): Promise<void>;
}

export interface Outgoing {
  readonly choice: Choice;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: string;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  /** Headers that carry the trace on. */
  readonly carry: Readonly<Record<string, string>>;
}

export type Answered =
  | {
      readonly ok: true;
      readonly status: number;
      readonly contentType: string;
      readonly retryAfter: string | undefined;
      /** The provider's own name for the request, for its support. */
      readonly requestId: string | undefined;
      readonly body: AnswerBody;
    }
  | { readonly ok: false; readonly late: boolean; readonly reason: string };

/** Where a provider is and what every request to it carries, worked out once. */
interface Way {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function createUpstream(
  providers: readonly Provider[],
  keys: ReadonlyMap<string, string>,
  timeoutMs: number,
): Upstream {
  // Connections stay open between requests; as many as there are requests at once.
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connectTimeout: 10_000,
    keepAliveTimeout: 30_000,
  });
  const ways = new Map(providers.map((provider) => [provider.name, wayTo(provider, keys)]));
  return {
    send: async ({ choice, method, path, query, body: sent, signal, carry }) => {
      const way = ways.get(choice.provider.name);
      if (way === undefined) throw new TypeError(`no provider ${choice.provider.name}`);
      const incoming = new IncomingAnswer(signal);
      try {
        signal.throwIfAborted();
        agent.dispatch(
          {
            origin: way.origin,
            path: `${way.path}${path}${query}`,
            method,
            headers: {
              ...carry,
              ...way.headers,
              ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
            },
            ...(sent === undefined ? {} : { body: sent }),
          },
          incoming,
        );
        const { status, headers } = await incoming.head;
        const header = (name: string) => [headers[name] ?? []].flat()[0];
        const body = unpacked(incoming, header('content-encoding') ?? '');
        if (body === undefined) {
          incoming.destroy();
          return { ok: false, late: false, reason: 'the answer has an encoding that is not known here' };
        }
        return {
          ok: true,
          status,
          contentType: header('content-type') ?? '',
          retryAfter: header('retry-after'),
          requestId: header('x-request-id'),
          body,
        };
      } catch (error) {
        // The reason is for the record; addresses and keys of providers are no business of callers.
        const code = (error as { code?: unknown }).code;
        const late = code === 'UND_ERR_HEADERS_TIMEOUT' || code === 'UND_ERR_BODY_TIMEOUT';
        return { ok: false, late, reason: messageOf(error) };
      }
    },
    close: () => agent.destroy(),
  };
}

function wayTo({ name, protocol, base_url }: Provider, keys: ReadonlyMap<string, string>): Way {
  const { origin, pathname } = new URL(base_url);
  const key = keys.get(name);
  const auth =
    key === undefined
      ? {}
      : protocol === 'gemini'
        ? { 'x-goog-api-key': key }
        : { authorization: `Bearer ${key}` };
  return {
    origin,
    path: pathname.replace(/\/+$/, ''),
    headers: { ...auth, 'accept-encoding': 'identity' },
  };
}

/** Takes the writ's single use for this action, or throws. */
export function claimWrit(writ: Writ, action: Action): void {
  writ.use(action);
}
