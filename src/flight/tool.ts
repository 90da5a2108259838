import { sha256 } from '../core/index.ts';
import { type Network, run } from '../sandbox/index.ts';
import { environment, type LaunchOptions, profileOf } from './engine.ts';
import type { StepContext } from './step-context.ts';

/** A program that a built-in engine needs (git, terraform), started by us and shut in as the engine would be. */
export interface ToolSpec {
  readonly argv: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly network?: Network;
  /** Shown to it besides what an engine sees. */
  readonly readonly?: readonly string[];
  readonly timeoutMs: number;
  readonly maxOutputBytes?: number;
}

export interface ToolAnswer {
  readonly text: string;
  readonly said: string;
  /** Why it did not do what it should, or null. */
  readonly problem: string | null;
}

export async function runTool(
  context: StepContext,
  options: LaunchOptions,
  spec: ToolSpec,
): Promise<ToolAnswer> {
  const { authority, workflow, step, log } = context;
  const name = step.engine;
  const answer = await authority.authorize({
    action: {
      kind: 'flight.engine',
      subject: `${workflow.value.id}/${step.id} ${name}`,
      detail: { argv: [...spec.argv], cwd: workflow.workspace },
    },
    evaluators: [
      {
        name: 'flight',
        evaluate: () => ({
          evaluator: 'flight',
          verdict: 'allow',
          rule: `${name}-step`,
          reason:
            options.mode === 'take-off'
              ? 'part of a take-off that was judged and approved'
              : 'part of a plan, which can only describe',
        }),
      },
    ],
    reasoning: `${name} step`,
    requester: log.record.requester,
    policyDigest: sha256(`${name}-step`),
    whenApprovalNeeded: 'never',
  });
  if (answer.outcome !== 'granted') return { text: '', said: '', problem: 'not granted' };
  const profile = profileOf(options, spec.network);
  const shown = spec.readonly ?? [];
  const outcome = await run(answer.writ, {
    argv: spec.argv,
    env: { ...environment(options), ...spec.env },
    cwd: workflow.workspace,
    timeoutMs: spec.timeoutMs,
    ...(spec.maxOutputBytes === undefined ? {} : { limits: { maxOutputBytes: spec.maxOutputBytes } }),
    profile:
      profile.kind === 'none' ? profile : { ...profile, readonly: [...(profile.readonly ?? []), ...shown] },
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (outcome.kind === 'not_started') return { text: '', said: '', problem: outcome.reason };
  const text = Buffer.from(outcome.output.stdout).toString('utf8');
  const said = Buffer.from(outcome.output.stderr).toString('utf8').trim();
  if (outcome.kind !== 'exited') return { text, said, problem: outcome.kind };
  if (outcome.output.stdoutTruncated) return { text, said, problem: 'it answers too much' };
  if (outcome.exitCode === 0) return { text, said, problem: null };
  return { text, said, problem: said || `exit code ${outcome.exitCode}` };
}
