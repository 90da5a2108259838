import type { Readable } from 'node:stream';
import { Agent, request } from 'undici';
import { type Action, messageOf, type Writ } from '../../core/index.ts';
import type { Choice } from './route.ts';

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
      readonly body: Readable;
    }
  | { readonly ok: false; readonly late: boolean; readonly reason: string };

export function createUpstream(keys: ReadonlyMap<string, string>, timeoutMs: number): Upstream {
  // Connections stay open between requests; as many as there are requests at once.
  const agent = new Agent({
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    connectTimeout: 10_000,
    keepAliveTimeout: 30_000,
  });
  return {
    send: async ({ choice, method, path, query, body, signal, carry }) => {
      const { provider } = choice;
      const url = `${provider.base_url.replace(/\/+$/, '')}${path}${query}`;
      const key = keys.get(provider.name);
      const auth =
        key === undefined
          ? {}
          : provider.protocol === 'gemini'
            ? { 'x-goog-api-key': key }
            : { authorization: `Bearer ${key}` };
      try {
        const answer = await request(url, {
          dispatcher: agent,
          method,
          signal,
          headers: {
            ...carry,
            ...auth,
            'accept-encoding': 'identity',
            ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(body === undefined ? {} : { body }),
        });
        // A body given up before it is read says so as an error; whoever reads it hears of it there.
        answer.body.on('error', () => undefined);
        const header = (name: string) => [answer.headers[name] ?? []].flat()[0];
        return {
          ok: true,
          status: answer.statusCode,
          contentType: header('content-type') ?? '',
          retryAfter: header('retry-after'),
          requestId: header('x-request-id'),
          body: answer.body,
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

/** Takes the writ's single use for this action, or throws. */
export function claimWrit(writ: Writ, action: Action): void {
  writ.use(action);
}

/** Reads a whole body up to a limit; undefined when it is larger. */
export async function readAll(body: Readable, limit: number): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) {
      body.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
