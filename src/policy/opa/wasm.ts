import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { type Json, messageOf, sha256 } from '../../core/index.ts';
import { type DocumentJudge, denial, readDecision } from './decision-document.ts';

const ENTRYPOINT = 'writ/preflight';
const MAX_WASM_BYTES = 64 * 1024 * 1024;

/** The part of a loaded policy that is used here. */
interface Loaded {
  evaluate(input: unknown, entrypoint?: string): readonly { readonly result?: unknown }[] | null;
  readonly entrypoints: Readonly<Record<string, number>>;
}

/**
 * A policy compiled to WebAssembly (`opa build -t wasm -e writ/preflight`), run in this process.
 * It has no clock, no network and no files: the same input always gives the same answer.
 */
export function opaWasmPolicy(path: string, options: { readonly entrypoint?: string } = {}): DocumentJudge {
  const name = `opa:${basename(path)}`;
  const entrypoint = options.entrypoint ?? ENTRYPOINT;
  const file = read(path);
  const digest = sha256(file.ok ? file.bytes : `unreadable: ${file.reason}`);
  let loading: Promise<Loaded> | undefined;
  const load = async (bytes: Uint8Array): Promise<Loaded> => {
    const opa = await import('@open-policy-agent/opa-wasm');
    return (await opa.loadPolicy(bytes)) as unknown as Loaded;
  };
  return {
    name,
    source: 'opa',
    digest,
    fingerprint: async () => {
      const now = read(path);
      return sha256(now.ok ? now.bytes : `unreadable: ${now.reason}`);
    },
    evaluate: async (input: Json) => {
      if (!file.ok) return denial(`${name}: cannot be loaded: ${file.reason}`);
      try {
        loading ??= load(file.bytes);
        const policy = await loading;
        if (!Object.hasOwn(policy.entrypoints, entrypoint))
          return denial(`${name}: has no entrypoint ${entrypoint}`);
        const results = policy.evaluate(input, entrypoint);
        return readDecision(results?.[0]?.result, name);
      } catch (error) {
        return denial(`${name}: failed: ${messageOf(error)}`);
      }
    },
  };
}

function read(path: string): { ok: true; bytes: Uint8Array } | { ok: false; reason: string } {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MAX_WASM_BYTES) return { ok: false, reason: `larger than ${MAX_WASM_BYTES} bytes` };
    return { ok: true, bytes };
  } catch (error) {
    return { ok: false, reason: messageOf(error) };
  }
}
