import { isJsonObject, type Json, type JsonObject, sha256 } from '../../core/index.ts';
import { redact, redactJson } from '../../redact/index.ts';
import type { McpConfig } from './config.ts';
import { failure, type Reply, RPC } from './message.ts';

/** An answer after its checks, and what is kept of it. Changes are told in `_meta`, never silent. */
export interface GovernedReply {
  readonly reply: Reply;
  readonly record: JsonObject;
}

export function governResponse(config: McpConfig, reply: Reply): GovernedReply {
  const { max_bytes, redact: redacts, deny_contains } = config.responses;
  if (!reply.ok) {
    const { code, message } = reply.error;
    return { reply, record: { error: { code, message: redact(message.slice(0, 500).toWellFormed()).text } } };
  }
  const text = JSON.stringify(reply.result);
  const record = { bytes: text.length, response_sha256: sha256(text), verdict: 'allow' };
  if (text.length > max_bytes) {
    const reason = `the answer has ${text.length} characters, ${max_bytes} are allowed`;
    return { reply: failure(RPC.denied, reason), record: { ...record, verdict: 'deny', reason } };
  }
  const said = deny_contains.length === 0 ? '' : textsOf(reply.result).toLowerCase();
  const hit = deny_contains.find((words) => said.includes(words.toLowerCase()));
  if (hit !== undefined) {
    const reason = 'the answer holds words that are not let through';
    return { reply: failure(RPC.denied, reason), record: { ...record, verdict: 'deny', reason } };
  }
  if (!redacts) return { reply, record };
  const clean = redactResult(reply.result);
  if (clean.count === 0) return { reply, record };
  const meta = isJsonObject(clean.value._meta) ? clean.value._meta : {};
  const result = { ...clean.value, _meta: { ...meta, 'writ/redactions': clean.count } };
  return { reply: { ok: true, result }, record: { ...record, redactions: clean.count } };
}

/** Texts and structured data of a result; images, audio and blobs are bytes and stay as they are. */
function redactResult(result: JsonObject): { readonly value: JsonObject; readonly count: number } {
  let count = 0;
  const walk = (node: Json, key: string): Json => {
    if (key === 'structuredContent') {
      const clean = redactJson(node);
      count += clean.count;
      return clean.value;
    }
    if (typeof node === 'string') {
      if (key !== 'text' && key !== 'description') return node;
      const clean = redact(node);
      count += clean.count;
      return clean.text;
    }
    if (Array.isArray(node)) return (node as readonly Json[]).map((item) => walk(item, key));
    if (!isJsonObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([name, member]) => [name, walk(member, name)]));
  };
  return { value: walk(result, '') as JsonObject, count };
}

function textsOf(value: Json): string {
  const texts: string[] = [];
  const stack: Json[] = [value];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') texts.push(node);
    else if (Array.isArray(node)) stack.push(...(node as readonly Json[]));
    else if (isJsonObject(node)) stack.push(...Object.values(node));
  }
  return texts.join('\n');
}
