import { resolve } from 'node:path';
import { z } from 'zod';
import type { Evaluator } from '../authority/index.ts';
import { type Action, type Digest, digestOf, isJsonObject, type Json } from '../core/index.ts';
import {
  type DocumentJudge,
  evaluationOf,
  modelFile,
  onnxModel,
  opaServer,
  opaWasmPolicy,
} from '../policy/index.ts';
import { anyMatches } from './names.ts';

/** Asked only about requests of these kinds: methods of MCP, operations of models. */
const kinds = { kinds: z.array(z.string().min(1)).min(1).optional() };

/** Policies outside the configuration file: compiled Rego in this process, an OPA server, or a classifier. */
export const policySchema = z.union([
  z.strictObject({ opa_wasm: z.string().min(1), entrypoint: z.string().min(1).optional(), ...kinds }),
  z.strictObject({ opa_url: z.url({ protocol: /^https?$/ }), ...kinds }),
  z.strictObject({
    /** A file, or `builtin:injection`, `builtin:secrets`. */
    onnx: z.string().min(1),
    /** What it would ask a person about is only noted. What it denies, or cannot judge, stays denied. */
    warn_only: z.boolean().default(false),
    ...kinds,
  }),
]);
export type PolicyEntry = z.output<typeof policySchema>;

export interface LoadedPolicies {
  readonly evaluators: readonly Evaluator[];
  /** Part of what an approval is bound to: another policy file, another digest. */
  readonly digests: readonly Digest[];
}

/** They see `{action: {kind, subject, detail}}`; what goes wrong in one of them is its denial. */
export function loadPolicies(entries: readonly PolicyEntry[], baseDir: string): LoadedPolicies {
  const asked = entries.map((entry) => ({
    judge: judgeOf(entry, baseDir),
    kinds: entry.kinds,
    reads: 'onnx' in entry ? written : wholeAction,
    warnOnly: 'onnx' in entry && entry.warn_only,
  }));
  return {
    evaluators: asked.map(({ judge, kinds, reads, warnOnly }) => ({
      name: judge.name,
      evaluate: async (action) => {
        if (kinds !== undefined && !anyMatches(kinds, kindOf(action)))
          return {
            evaluator: judge.name,
            verdict: 'allow',
            rule: 'kinds',
            reason: 'not asked about this kind',
          };
        const said = evaluationOf(judge, await judge.evaluate(reads(action)));
        if (!warnOnly || said.verdict !== 'require_approval') return said;
        const { requiredRole: _, ...noted } = said;
        return { ...noted, verdict: 'warn' };
      },
    })),
    digests: asked.map(({ judge, warnOnly }) =>
      warnOnly ? digestOf({ judge: judge.digest, warn_only: true }) : judge.digest,
    ),
  };
}

function wholeAction({ kind, subject, detail }: Action): Json {
  return { action: { kind, subject, detail } };
}

/** For a classifier of text: what somebody wrote, without our own words and digests around it. */
function written({ detail }: Action): Json {
  return isJsonObject(detail)
    ? Object.fromEntries(Object.entries(detail).filter(([name]) => !OURS.test(name)))
    : detail;
}

const OURS = /^(caller|server|method|operation|name)$|_(digest|sha256)$/;

function judgeOf(entry: PolicyEntry, baseDir: string): DocumentJudge {
  if ('opa_url' in entry) return opaServer(entry.opa_url);
  if ('onnx' in entry) return onnxModel(modelFile(entry.onnx, baseDir));
  const path = resolve(baseDir, entry.opa_wasm);
  return opaWasmPolicy(path, entry.entrypoint === undefined ? {} : { entrypoint: entry.entrypoint });
}

function kindOf({ detail }: Action): string {
  const kind = isJsonObject(detail) ? (detail.method ?? detail.operation) : undefined;
  return typeof kind === 'string' ? kind : '';
}
