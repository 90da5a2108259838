import { isJsonObject, type Json, type JsonObject } from '../core/index.ts';
import {
  asPattern,
  type Edit,
  type Finding,
  findFlip,
  type LoadedPolicy,
  policyFromJson,
  sayEdit,
} from '../policy/index.ts';
import type { Ground, ToolRegistry } from '../tools/index.ts';
import { createCallJudge } from './judge.ts';

/** Which rule decided a call, where it is written, why, and the smallest change that would decide otherwise. */
export interface Explanation {
  readonly tool: string;
  readonly args: JsonObject;
  readonly decision: Finding['verdict'];
  readonly rule: string;
  readonly file: string;
  readonly line: number | null;
  readonly reason: string;
  readonly change: {
    readonly to: Finding['verdict'];
    readonly edits: readonly { readonly say: string; readonly edit: Json }[];
  } | null;
}

export async function explainCall(
  call: { readonly tool: string; readonly args: JsonObject },
  policy: LoadedPolicy,
  registry: ToolRegistry,
  ground: Ground,
): Promise<Explanation> {
  const { tool, args } = call;
  // Facts as they would be if the tool were listed, so that an edited policy can be judged too.
  const known = registry.get(tool);
  const parsed = known?.args.safeParse(args);
  const facts =
    known && parsed?.success
      ? await known.prepare(parsed.data, ground, policy.value.tools[tool] ?? {}, policy.value)
      : {};
  const findUnder = (edited: LoadedPolicy) =>
    createCallJudge(edited, registry, ground).find(tool, args, facts, 0);
  const finding = findUnder(policy);
  const flip = findFlip(
    policy.json,
    (json) => findUnder(policyFromJson(json, policy.file, registry.otherRules)),
    tightenings(tool, facts, policy, ground),
  );
  return {
    tool,
    args,
    decision: finding.verdict,
    rule: finding.rule,
    file: policy.file,
    line: policy.place(finding.at)?.line ?? null,
    reason: finding.reason,
    change:
      flip === undefined
        ? null
        : {
            to: flip.to,
            edits: flip.edits.map((edit) => ({ say: sayEdit(edit), edit: edit as unknown as Json })),
          },
  };
}

/** Edits that could deny an allowed call, smallest first. Each is tried before it is proposed. */
function tightenings(tool: string, facts: JsonObject, policy: LoadedPolicy, ground: Ground): readonly Edit[] {
  const block = ['tools', tool];
  const edits: Edit[] = [];
  if (
    (tool === 'fs.read' || tool === 'fs.write') &&
    isJsonObject(facts.path) &&
    typeof facts.path.lexical === 'string'
  )
    edits.push({
      op: 'add',
      at: [...block, 'deny_paths'],
      value: asPattern(facts.path.lexical, ground.workingDir),
    });
  if (tool === 'http.get' && typeof facts.url === 'string')
    edits.push({ op: 'add', at: [...block, 'deny_domains'], value: new URL(facts.url).hostname });
  const executables = (
    policy.value.tools[tool] as { readonly allow_executables?: readonly string[] } | undefined
  )?.allow_executables;
  for (const i of executables?.keys() ?? [])
    edits.push({ op: 'remove', at: [...block, 'allow_executables', i] });
  return [...edits, { op: 'remove', at: block }];
}
