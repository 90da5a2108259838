import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Digest, digestOf, messageOf, sha256 } from '../core/index.ts';
import { type DocumentJudge, modelFile, onnxModel, opaServer, opaWasmPolicy } from '../policy/index.ts';
import type { Step } from './workflow.ts';

/**
 * Who judges a step: its policies, models and rule files as they are now.
 *
 * JU1 Loaded once a flight, and again as soon as the file differs: what judges is what the digest says.
 * JU2 `digest` is asked of the disk and of servers anew each time; it is part of the plan-token.
 */
export interface Judges {
  readonly documents: readonly DocumentJudge[];
  readonly rules: readonly RuleText[];
  readonly digest: Digest;
}

export interface RuleText {
  readonly file: string;
  readonly text: string | { readonly unreadable: string };
}

export interface JudgeBook {
  of(step: Step): Promise<Judges>;
}

const RULES_VERSION = 'writ-rules-1';

type Named = { readonly judge: DocumentJudge; readonly print: Digest };

export function judgeBook(folder: string): JudgeBook {
  const loaded = new Map<string, DocumentJudge>();
  const fromFile = async (key: string, load: () => DocumentJudge): Promise<Named> => {
    const known = loaded.get(key);
    if (known !== undefined && (await known.fingerprint()) === known.digest)
      return { judge: known, print: known.digest };
    const judge = load();
    loaded.set(key, judge);
    return { judge, print: judge.digest };
  };
  const fromServer = async (url: string): Promise<Named> => {
    const judge = opaServer(url);
    return { judge, print: await judge.fingerprint() };
  };
  const policy = (given: NonNullable<Step['policies']>[number], step: Step): Promise<Named> => {
    if (typeof given !== 'string' && 'opa' in given) return fromServer(given.opa);
    const path = resolve(folder, typeof given === 'string' ? given : given.path);
    const entrypoint = typeof given === 'string' ? step.entrypoint : given.entrypoint;
    return fromFile(JSON.stringify([path, entrypoint]), () =>
      opaWasmPolicy(path, entrypoint === undefined ? {} : { entrypoint }),
    );
  };
  return {
    of: async (step) => {
      const named = await Promise.all([
        ...(step.policies ?? []).map((given) => policy(given, step)),
        ...(step.models ?? []).map((given) => {
          const path = modelFile(given, folder);
          return fromFile(path, () => onnxModel(path));
        }),
      ]);
      const rules = (step.rules ?? []).map((file) => readRules(resolve(folder, file)));
      const digest = digestOf({
        version: RULES_VERSION,
        documents: named.map(({ judge, print }) => [judge.name, print]),
        rules: rules.map(({ file, text }) => [file, typeof text === 'string' ? sha256(text) : text]),
      });
      return { documents: named.map(({ judge }) => judge), rules, digest };
    },
  };
}

function readRules(file: string): RuleText {
  try {
    return { file, text: readFileSync(file, 'utf8') };
  } catch (error) {
    return { file, text: { unreadable: messageOf(error) } };
  }
}
