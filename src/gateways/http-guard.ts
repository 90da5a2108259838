import type { IncomingMessage } from 'node:http';

/**
 * What an HTTP request must show before anything of it is read.
 *
 * H1 Its Host is one of ours: a name that a foreign page was made to resolve to this machine is refused.
 * H2 A browser's Origin is refused unless it is our own or listed.
 * H3 Bodies are read up to a limit and no further.
 */
export interface GuardOptions {
  /** Host names (without port) that are us, beside loopback. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

export function guardMistake(request: IncomingMessage, options: GuardOptions): string | undefined {
  const host = request.headers.host;
  if (host === undefined) return 'the request has no Host header';
  const name = host.replace(/:\d{1,5}$/, '').toLowerCase();
  if (!LOOPBACK.has(name) && !options.allowedHosts.includes(name)) return 'this host name is not served here';
  const origin = request.headers.origin;
  // Our own origin is no stranger: the Host it names has just been checked.
  const own = origin === `http://${host}` || origin === `https://${host}`;
  if (origin !== undefined && !own && !options.allowedOrigins.includes(origin))
    return 'requests from this origin are not accepted';
  return undefined;
}

export type Body =
  | { readonly ok: true; readonly bytes: Buffer }
  | { readonly ok: false; readonly why: 'too_large' | 'broken' };

export function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    if (Number(request.headers['content-length'] ?? 0) > limit) {
      resolve({ ok: false, why: 'too_large' });
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        request.pause();
        resolve({ ok: false, why: 'too_large' });
      }
    });
    request.once('end', () =>
      resolve({ ok: true, bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) }),
    );
    for (const event of ['error', 'aborted', 'close'] as const)
      request.once(event, () => resolve({ ok: false, why: 'broken' }));
  });
}

/** `Authorization: Bearer`, or the header Gemini clients send. Never the query string: those end up in logs. */
export function tokenOf(request: IncomingMessage): string | undefined {
  const bearer = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const google = request.headers['x-goog-api-key'];
  return bearer ?? (typeof google === 'string' ? google : undefined);
}
