import { digestOf, type Json, messageOf, parseJson, sha256 } from '../../core/index.ts';
import { type DocumentJudge, denial, readDecision } from './decision-document.ts';

const TIMEOUT_MS = 4000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/**
 * A decision document of a running OPA server: `POST URL {"input": …}` → `{"result": …}`.
 * No answer in time, another status, a redirect or a malformed body denies.
 */
export function opaServer(url: string, options: { readonly timeoutMs?: number } = {}): DocumentJudge {
  const name = `opa:${url}`;
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS;
  return {
    name,
    source: 'opa',
    digest: sha256(url),
    evaluate: async (input: Json) => {
      try {
        const body = await ask(url, timeoutMs, JSON.stringify({ input }));
        const { result } = body as { readonly result?: unknown };
        return readDecision(result, name);
      } catch (error) {
        return denial(`${name}: failed: ${messageOf(error)}`);
      }
    },
    // What is in force is what the server holds, not what it is called.
    fingerprint: async () => {
      try {
        const listed = (await ask(new URL('/v1/policies', url).href, timeoutMs)) as {
          readonly result?: readonly { readonly id?: unknown; readonly raw?: unknown }[];
        };
        const modules = (listed.result ?? []).map(({ id, raw }) => [String(id), String(raw)]).sort();
        return digestOf({ url, modules });
      } catch (error) {
        return digestOf({ url, unreachable: messageOf(error) });
      }
    },
  };
}

async function ask(url: string, timeoutMs: number, body?: string): Promise<object> {
  const response = await fetch(url, {
    method: body === undefined ? 'GET' : 'POST',
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
  });
  const text = await bounded(response);
  if (response.status !== 200) throw new Error(`the server answered ${response.status}`);
  const parsed = parseJson(text);
  if (!parsed.ok || typeof parsed.value !== 'object' || parsed.value === null)
    throw new Error('the server did not answer with a JSON object');
  return parsed.value;
}

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
