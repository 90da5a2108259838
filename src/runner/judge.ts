import type { Evaluator } from '../authority/index.ts';
import { mistakeIn } from '../core/document.ts';
import { type Action, isJsonObject, type JsonObject, messageOf } from '../core/index.ts';
import { type Finding, findCall, type LoadedPolicy, toEvaluation } from '../policy/index.ts';
import type { Ground, Judge, Tool, ToolRegistry } from '../tools/index.ts';

/** A policy ready to judge the calls of a run. */
export interface CallJudge {
  readonly policy: LoadedPolicy;
  readonly registry: ToolRegistry;
  readonly ground: Ground;
  /** Looks at what a call would touch. Facts that cannot be had are an empty object, and the call is denied. */
  prepare(tool: string, args: JsonObject): Promise<Prepared>;
  /** The finding for a call whose facts are known. Pure; `used` counts the calls allowed before. */
  find(tool: string, args: JsonObject, facts: JsonObject, used: number): Finding;
  /** The same, for authority: it judges the action it is given and nothing else. */
  evaluator(used: number): Evaluator;
}

export interface Prepared {
  readonly facts: JsonObject;
  readonly tool: Tool | undefined;
}

export function createCallJudge(policy: LoadedPolicy, registry: ToolRegistry, ground: Ground): CallJudge {
  const judges = new Map<string, Judge>();
  const judgeOf = (tool: Tool): Judge => {
    const known = judges.get(tool.name);
    if (known) return known;
    const made = tool.evaluator(policy.value.tools[tool.name], policy.value, ground);
    judges.set(tool.name, made);
    return made;
  };

  const find = (name: string, args: JsonObject, facts: JsonObject, used: number): Finding => {
    const tool = registry.get(name);
    const judge = tool && (() => judgeArguments(tool, args, facts, judgeOf(tool)));
    return findCall(policy, { tool: name, used, judge });
  };

  return {
    policy,
    registry,
    ground,
    find,
    prepare: async (name, args) => {
      const tool = registry.get(name);
      // Nothing is looked at for a tool the policy does not list.
      if (tool === undefined || policy.value.tools[name] === undefined) return { facts: {}, tool };
      const parsed = tool.args.safeParse(args);
      if (!parsed.success) return { facts: {}, tool };
      try {
        const facts = await tool.prepare(parsed.data, ground, policy.value.tools[name], policy.value);
        return { facts, tool };
      } catch (error) {
        return { facts: { problem: messageOf(error) }, tool };
      }
    },
    evaluator: (used) => ({
      name: 'policy',
      evaluate: (action) => {
        const { tool, args, facts } = callIn(action);
        return toEvaluation(policy, find(tool, args, facts, used));
      },
    }),
  };
}

function judgeArguments(tool: Tool, args: JsonObject, facts: JsonObject, judge: Judge): Finding {
  const parsed = tool.args.safeParse(args);
  if (!parsed.success) {
    const { message, suggestion } = mistakeIn(parsed.error, tool.args, args, 'the arguments');
    const reason = `the arguments do not fit ${tool.name}: ${message} (${suggestion})`;
    return { verdict: 'deny', rule: 'arguments', at: [], reason };
  }
  if (typeof facts.problem === 'string')
    return {
      verdict: 'deny',
      rule: 'error',
      at: [],
      reason: `what the call means could not be found out: ${facts.problem}`,
    };
  return judge({ args: parsed.data, facts });
}

/** The call inside a frozen action, as `toolAction` put it there. */
function callIn(action: Action): {
  readonly tool: string;
  readonly args: JsonObject;
  readonly facts: JsonObject;
} {
  const { tool, args, facts, argv, cwd } = action.detail;
  if (typeof tool !== 'string' || !isJsonObject(args) || !isJsonObject(facts))
    throw new TypeError('this is not a tool call');
  return {
    tool,
    args,
    facts: { ...facts, ...(argv === undefined ? {} : { argv }), ...(cwd === undefined ? {} : { cwd }) },
  };
}
