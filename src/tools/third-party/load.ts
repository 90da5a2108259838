import { realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import {
  CODES,
  EXIT,
  isJsonObject,
  type Json,
  type JsonObject,
  messageOf,
  WritError,
} from '../../core/index.ts';
import {
  commonRules,
  compilePaths,
  type Finding,
  type FsRules,
  PASSED,
  seenFiles,
} from '../../policy/index.ts';
import type { Profile } from '../../sandbox/index.ts';
import { callOf } from '../action.ts';
import { failed, type Tool, type ToolOutput } from '../tool.ts';
import { askingWrit, callHost, fileDigest, hostArgv } from './call-host.ts';
import { description, outcome, verdict } from './protocol.ts';
import { callView, describingView } from './view.ts';

/** Keys of a third-party tool's block that the host keeps to, whatever the tool thinks of them. */
const hostRules = {
  network: z.enum(['none', 'host']).default('none'),
  /** Folders the tool may write, relative to the working folder. */
  writable: z.array(z.string().min(1).max(1024)).max(100).default([]),
  timeout_seconds: z.number().positive().max(3600).default(30),
  max_output_bytes: z
    .int()
    .min(0)
    .max(64 * 1024 * 1024)
    .default(1024 * 1024),
  require_approval: z.boolean().default(false),
  /** Files of the working folder it does not see, beside those that fs.read denies. */
  ...seenFiles,
  ...commonRules,
};
const hostSchema = z.object(hostRules);
type HostRules = z.infer<typeof hostSchema>;

const ASK_MS = 20_000;
const ASK_BYTES = 1024 * 1024;

/**
 * Loads tools by the paths of their files. A file that is no tool stops the program, with what is wrong. While a
 * tool describes itself the folders in `empty` are empty to it.
 */
export async function loadThirdPartyTools(
  files: readonly string[],
  empty: readonly string[],
): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  for (const file of files) tools.push(await loadTool(file, empty));
  return tools;
}

async function loadTool(path: string, empty: readonly string[]): Promise<Tool> {
  const fail = (what: string) =>
    new WritError(CODES.invalid_config, `${path}: ${what}`, {
      suggestion: 'writ tool new my.tool writes one that works',
      exit: EXIT.usage,
      context: { file: path },
    });
  let file: string;
  try {
    file = realpathSync(path);
  } catch (error) {
    throw fail(`the tool cannot be read: ${messageOf(error)}`);
  }
  const answer = await ask(file, { do: 'describe' }, '/', describingView(file, [dirname(file), ...empty]));
  if (!answer.ok) throw fail(`the tool does not describe itself: ${answer.reason}`);
  const parsed = description.safeParse(answer.value);
  if (!parsed.success)
    throw fail(
      `the tool's description is not valid: ${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`,
    );
  const { name, description: about } = parsed.data;
  const argsSchema = schemaOf(parsed.data.args);
  const ownRules = schemaOf(parsed.data.rules);
  if (argsSchema === undefined || ownRules === undefined)
    throw fail('args and rules must be made with z.strictObject');
  const taken = Object.keys(ownRules.shape).find((key) => key in hostRules);
  if (taken !== undefined) throw fail(`the rule "${taken}" is Writ's own: give it another name`);
  return thirdPartyTool({
    file,
    name,
    about,
    args: argsSchema,
    rules: ownRules.extend(hostRules),
    own: Object.keys(ownRules.shape),
  });
}

function schemaOf(json: JsonObject): z.ZodObject | undefined {
  try {
    const schema = z.fromJSONSchema(withoutPatterns(json) as Parameters<typeof z.fromJSONSchema>[0]);
    return schema instanceof z.ZodObject ? schema : undefined;
  } catch {
    return undefined;
  }
}

/** A tool's expressions are tried in its own process only: one that never ends would stop ours. */
function withoutPatterns(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map((item: Json) => withoutPatterns(item));
  if (!isJsonObject(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) =>
      key === 'patternProperties' || (key === 'pattern' && typeof value === 'string')
        ? []
        : [[key, withoutPatterns(value)]],
    ),
  );
}

async function ask(
  file: string,
  request: Parameters<typeof callHost>[1]['request'],
  cwd: string,
  profile: Profile,
) {
  return callHost(await askingWrit(file, cwd, request.do), {
    file,
    request,
    cwd,
    timeoutMs: ASK_MS,
    maxOutputBytes: ASK_BYTES,
    profile,
  });
}

interface Loaded {
  readonly file: string;
  readonly name: string;
  readonly about: string;
  readonly args: z.ZodObject;
  readonly rules: z.ZodObject;
  /** Keys of the block that are the tool's own. */
  readonly own: readonly string[];
}

function thirdPartyTool(loaded: Loaded): Tool {
  const { file, name } = loaded;
  return {
    name,
    description: loaded.about,
    effect: 'external',
    args: loaded.args,
    rules: loaded.rules,
    prepare: async (args, ground, rules, policy): Promise<JsonObject> => {
      const grant = { ...hostSchema.parse(rules), network: 'none', writable: [] } as const;
      const view = callView(file, grant, policy, ground);
      if ('problem' in view)
        throw new Error(`what the policy denies cannot be hidden from it: ${view.problem}`);
      const request = {
        do: 'judge',
        args,
        rules: ownPart(rules, loaded.own),
        working_dir: ground.workingDir,
      } as const;
      const answer = await ask(file, request, ground.workingDir, view);
      const parsed = answer.ok ? verdict.safeParse(answer.value) : undefined;
      const said = parsed?.success
        ? parsed.data
        : { verdict: 'deny', rule: 'error', reason: answer.ok ? 'it gave no verdict' : answer.reason };
      return { argv: [...hostArgv(file)], cwd: ground.workingDir, file, sha256: fileDigest(file), said };
    },
    evaluator: (rules, policy, ground) => {
      const writes = policy.tools['fs.write'] as FsRules | undefined;
      const judgeWrite = writes && compilePaths(writes, ground.workingDir);
      const reachable =
        judgeWrite?.({ asked: file, lexical: file, real: file }) === undefined && judgeWrite !== undefined;
      return ({ facts }) => judge(facts, rules as HostRules, reachable);
    },
    execute: async (writ, { rules, policy, ground, signal, timeoutMs }): Promise<ToolOutput> => {
      const { args, facts } = callOf(writ, { name, args: loaded.args });
      if (fileDigest(file) !== facts.sha256)
        return failed(CODES.tool_failed, `${file} was changed after it was judged`, 'run the step again');
      const host = hostSchema.parse(rules);
      const limit = Math.ceil(Math.min(timeoutMs, host.timeout_seconds * 1000));
      const profile = callView(file, host, policy, ground);
      if ('problem' in profile)
        return failed(CODES.tool_failed, `what the policy denies cannot be hidden: ${profile.problem}`);
      const answer = await callHost(writ, {
        file,
        request: { do: 'execute', args, rules: ownPart(rules, loaded.own), working_dir: ground.workingDir },
        cwd: ground.workingDir,
        timeoutMs: limit,
        maxOutputBytes: host.max_output_bytes,
        profile,
        signal,
      });
      if (!answer.ok)
        return failed(answer.timeout ? CODES.tool_timeout : CODES.tool_failed, `${name}: ${answer.reason}`);
      const parsed = outcome.safeParse(answer.value);
      if (!parsed.success) return failed(CODES.tool_failed, `${name} gave an answer of another form`);
      if (!parsed.data.ok) return failed(CODES.tool_failed, parsed.data.error);
      const { data } = parsed.data;
      return { status: 'success', data: isJsonObject(data) ? data : { value: data } };
    },
  };
}

function judge(facts: JsonObject, rules: HostRules, reachable: boolean): Finding {
  if (reachable)
    return {
      verdict: 'deny',
      rule: 'tools',
      at: [],
      reason: 'its file lies where the plan may write, so it could be anything',
    };
  const said = verdict.safeParse(facts.said);
  if (!said.success) return { verdict: 'deny', rule: 'error', at: [], reason: 'it gave no verdict' };
  if (said.data.verdict !== 'allow')
    return {
      verdict: said.data.verdict,
      rule: said.data.rule,
      at: [said.data.rule],
      reason: said.data.reason,
    };
  if (rules.require_approval)
    return {
      verdict: 'require_approval',
      rule: 'require_approval',
      at: ['require_approval'],
      reason: 'every call needs a yes',
      mend: { op: 'set', at: ['require_approval'], value: false },
    };
  return PASSED;
}

/** The keys of a block that are the tool's own. */
function ownPart(rules: unknown, own: readonly string[]): JsonObject {
  const block = isJsonObject(rules) ? rules : {};
  return Object.fromEntries(own.flatMap((key) => (block[key] === undefined ? [] : [[key, block[key]]])));
}
