import { resolve } from 'node:path';
import { z } from 'zod';
import type { Evaluator } from '../authority/index.ts';
import type { Digest } from '../core/index.ts';
import { type DocumentJudge, evaluationOf, opaServer, opaWasmPolicy } from '../policy/index.ts';

/** Policies outside the configuration file: compiled Rego in this process, or an OPA server. */
export const policySchema = z.union([
  z.strictObject({ opa_wasm: z.string().min(1), entrypoint: z.string().min(1).optional() }),
  z.strictObject({ opa_url: z.url({ protocol: /^https?$/ }) }),
]);
export type PolicyEntry = z.output<typeof policySchema>;

export interface LoadedPolicies {
  readonly evaluators: readonly Evaluator[];
  /** Part of what an approval is bound to: another policy file, another digest. */
  readonly digests: readonly Digest[];
}

/** They see `{action: {kind, subject, detail}}`; what goes wrong in one of them is its denial. */
export function loadPolicies(entries: readonly PolicyEntry[], baseDir: string): LoadedPolicies {
  const judges = entries.map((entry): DocumentJudge => {
    if ('opa_url' in entry) return opaServer(entry.opa_url);
    const path = resolve(baseDir, entry.opa_wasm);
    return opaWasmPolicy(path, entry.entrypoint === undefined ? {} : { entrypoint: entry.entrypoint });
  });
  return {
    evaluators: judges.map((judge) => ({
      name: judge.name,
      evaluate: async ({ kind, subject, detail }) =>
        evaluationOf(judge, await judge.evaluate({ action: { kind, subject, detail } })),
    })),
    digests: judges.map((judge) => judge.digest),
  };
}
