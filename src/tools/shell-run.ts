import { z } from 'zod';
import { CODES, type JsonObject, messageOf, WritError } from '../core/index.ts';
import { compileCommand, type Finding, inspectCommand, PASSED, shellRules } from '../policy/index.ts';
import { baseEnvironment, run } from '../sandbox/index.ts';
import { callOf } from './action.ts';
import { commandFacts, readCommandFacts } from './shell-facts.ts';
import { commandGround } from './shell-ground.ts';
import { commandView } from './shell-view.ts';
import { defineTool, failed, type ToolOutput } from './tool.ts';

const seconds = z.number().positive().max(86_400).optional();
const word = z
  .string()
  .max(128 * 1024)
  .refine((text) => !text.includes('\0'), 'an argument may not hold a NUL byte');
const args = z.strictObject({
  /** Program and arguments; never a command line. */
  cmd: z.array(word).min(1).max(10_000),
  cwd: z.string().max(4096).default('.'),
  env: z.record(z.string().max(200), word).default({}),
  stdin: z.string().optional(),
  /** Can only shorten the policy's. */
  timeout_seconds: seconds,
  timeout: seconds,
});

/** Enough for a parallel build, too few to take the machine down before the time is over. */
const MAX_PROCESSES = 512;

/** git runs what a repository's settings name; these settings of ours come after and win. */
const GIT_SETTINGS = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.editor': 'true',
  'protocol.ext.allow': 'never',
};

export const shellRun = defineTool({
  name: 'shell.run',
  description: 'runs a program with arguments, shut in',
  effect: 'external',
  args,
  rules: shellRules,
  prepare: (call, ground) =>
    commandFacts(
      { cmd: call.cmd, cwd: call.cwd, env: call.env, stdin: call.stdin !== undefined },
      ground.workingDir,
    ),
  evaluator: (rules, policy, ground) => {
    const judge = compileCommand(rules, commandGround(rules, policy, ground.workingDir));
    return ({ args: call, facts }) => {
      const found = readCommandFacts(facts);
      const finding = judge(found, inspectCommand(call.cmd, call.stdin !== undefined));
      if (finding?.verdict === 'deny') return finding;
      if (found.state !== 'directory') return missingFolder(call.cwd);
      return finding ?? PASSED;
    };
  },
  execute: async (writ, context) => {
    const { args: wanted, facts } = callOf(writ, { name: 'shell.run', args });
    const { rules, ground, signal } = context;
    const own = Math.min(
      ...[wanted.timeout_seconds, wanted.timeout].map((s) => s ?? Number.POSITIVE_INFINITY),
    );
    const timeoutMs = Math.ceil(Math.min(context.timeoutMs, rules.timeout_seconds * 1000, own * 1000));
    const argv = facts.argv as readonly string[];
    const cwd = facts.cwd as string;
    const profile = commandView(rules, context.policy, ground, [argv[0] as string, cwd]);
    if ('problem' in profile)
      return failed(
        CODES.tool_failed,
        `what the policy denies cannot be hidden from the command: ${profile.problem}`,
        'give shell.run its own allow_paths, deny_paths and allow_hidden, or keep denied files in one folder',
      );
    try {
      const outcome = await run(writ, {
        argv,
        cwd,
        env: {
          ...baseEnvironment({}, {}),
          HOME: '/nonexistent',
          TERM: 'dumb',
          ...gitEnvironment(),
          ...wanted.env,
        },
        timeoutMs,
        signal,
        limits: { maxOutputBytes: rules.max_output_bytes, processes: MAX_PROCESSES },
        profile,
        ...(wanted.stdin === undefined ? {} : { stdin: wanted.stdin }),
      });
      return resultOf(outcome, wanted.cmd[0] ?? '', timeoutMs);
    } catch (error) {
      if (error instanceof WritError) return failed(error.code, error.message, error.suggestion);
      return failed(CODES.tool_failed, `the program could not be run: ${messageOf(error)}`);
    }
  },
});

function resultOf(outcome: Awaited<ReturnType<typeof run>>, program: string, timeoutMs: number): ToolOutput {
  switch (outcome.kind) {
    case 'exited': {
      const { output } = outcome;
      const data: JsonObject = {
        exit_code: outcome.exitCode,
        stdout: decode(output.stdout),
        stderr: decode(output.stderr),
        truncated: output.stdoutTruncated || output.stderrTruncated,
        duration_ms: Math.round(outcome.durationMs),
      };
      return { status: 'success', data };
    }
    case 'timeout':
      return failed(
        CODES.tool_timeout,
        `${program} was stopped after ${timeoutMs / 1000} s`,
        'raise timeout_seconds in the policy',
      );
    case 'aborted':
      return failed(
        CODES.tool_timeout,
        `${program} was stopped: the time of the run is over`,
        'raise global_timeout_seconds',
      );
    case 'not_started':
      return outcome.exitCode === 127
        ? failed(CODES.program_missing, `${program}: not found`, `install ${program}, or name its full path`)
        : failed(CODES.tool_failed, `${program} cannot be started: ${outcome.reason}`);
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
}

function gitEnvironment(): Record<string, string> {
  const entries = Object.entries(GIT_SETTINGS);
  return {
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(
      entries.flatMap(([key, value], i) => [
        [`GIT_CONFIG_KEY_${i}`, key],
        [`GIT_CONFIG_VALUE_${i}`, value],
      ]),
    ),
  };
}

function missingFolder(cwd: string): Finding {
  return { verdict: 'deny', rule: 'cwd', at: [], reason: `${cwd}: there is no such folder` };
}
