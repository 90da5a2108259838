import type { z } from 'zod';
import { type Place, readDocument } from '../core/document.ts';
import { CODES, type Digest, digestOf, type Evaluation, type JsonObject, messageOf } from '../core/index.ts';
import type { Finding } from './finding.ts';
import { type Policy, policySchema } from './schema.ts';

/** A policy that has been read: its rules, what they are bound to, and where each of them is written. */
export interface LoadedPolicy {
  readonly file: string;
  readonly value: Policy;
  /** What decides, without the cases that test it. */
  readonly json: JsonObject;
  readonly digest: Digest;
  place(path: readonly (string | number)[]): Place | undefined;
}

const MAX_POLICY_BYTES = 1024 * 1024;

/** Reads a policy from text. Anything wrong with it throws, with file, line, column and what to write. */
export function loadPolicy(
  text: string,
  file: string,
  otherTools: Readonly<Record<string, z.ZodType>> = {},
): LoadedPolicy {
  const document = readDocument(text, policySchema(otherTools), {
    file,
    code: CODES.invalid_policy,
    maxBytes: MAX_POLICY_BYTES,
  });
  const places = new Map<string, Place>();
  return {
    ...fromValue(document.value, file),
    place: (path) => {
      const key = path.join('\u0000');
      const known = places.get(key);
      if (known) return known;
      const place = document.place(path);
      places.set(key, place);
      return place;
    },
  };
}

/** A policy kept as JSON (a recorded run's). It has no lines to point to. */
export function policyFromJson(
  json: unknown,
  file: string,
  otherTools: Readonly<Record<string, z.ZodType>> = {},
): LoadedPolicy {
  return { ...loadPolicy(JSON.stringify(json), file, otherTools), place: () => undefined };
}

function fromValue(value: Policy, file: string): Omit<LoadedPolicy, 'place'> {
  const { cases: _cases, ...rules } = value;
  const json = JSON.parse(JSON.stringify(rules)) as JsonObject;
  return { file, value, json, digest: digestOf(json) };
}

export interface CallToDecide {
  readonly tool: string;
  /** Calls of this tool that were allowed before. */
  readonly used: number;
  /** The tool's own rules over this call; undefined when there is no such tool. */
  readonly judge: (() => Finding) | undefined;
}

/**
 * O1 The order is fixed: tool listed → allow list → deny list → quota → approval. The first failure denies.
 * O2 An error inside a check is a denial.
 */
export function findCall(policy: LoadedPolicy, call: CallToDecide): Finding {
  const { tool } = call;
  const block = policy.value.tools[tool];
  if (block === undefined)
    return {
      verdict: 'deny',
      rule: 'tools',
      at: ['tools'],
      reason: `${tool} is not listed under tools, so it is denied`,
      ...(call.judge && { mend: { op: 'set', at: ['tools', tool], value: {} } }),
    };
  if (call.judge === undefined)
    return { verdict: 'deny', rule: 'tools', at: ['tools', tool], reason: `there is no tool named ${tool}` };
  const finding = judged(call.judge);
  const spent = finding.verdict === 'deny' ? undefined : quota(policy, call, block);
  return spent ?? within(tool, finding);
}

function judged(judge: () => Finding): Finding {
  try {
    return judge();
  } catch (error) {
    return { verdict: 'deny', rule: 'error', at: [], reason: `the check failed: ${messageOf(error)}` };
  }
}

/** From the tool's block, or the one the rule is written in, to the whole policy. */
function within(tool: string, { block, ...finding }: Finding): Finding {
  const front = ['tools', block ?? tool];
  const { mend } = finding;
  return {
    ...finding,
    rule: `${block ?? tool}.${finding.rule}`,
    at: [...front, ...finding.at],
    ...(mend && { mend: { ...mend, at: [...front, ...mend.at] } }),
  };
}

function quota(policy: LoadedPolicy, call: CallToDecide, block: unknown): Finding | undefined {
  const own = (block as { readonly max_calls?: number }).max_calls;
  const all = policy.value.max_calls_per_tool;
  const spent = (limit: number, rule: string, at: readonly string[]): Finding => ({
    verdict: 'deny',
    rule,
    at,
    reason: `${call.tool} may be called ${limit} times and has been`,
    mend: { op: 'set', at, value: call.used + 1 },
  });
  if (own !== undefined && call.used >= own)
    return spent(own, `${call.tool}.max_calls`, ['tools', call.tool, 'max_calls']);
  if (all !== undefined && call.used >= all) return spent(all, 'max_calls_per_tool', ['max_calls_per_tool']);
  return undefined;
}

export function decideCall(policy: LoadedPolicy, call: CallToDecide): Evaluation {
  return toEvaluation(policy, findCall(policy, call));
}

export function toEvaluation(policy: LoadedPolicy, finding: Finding): Evaluation {
  const place = policy.place(finding.at);
  return {
    evaluator: 'policy',
    verdict: finding.verdict,
    rule: finding.rule,
    reason: finding.reason,
    file: policy.file,
    ...(place && { line: place.line }),
  };
}
