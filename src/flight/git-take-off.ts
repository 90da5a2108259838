import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { sha256, type Writ } from '../core/index.ts';
import { run } from '../sandbox/index.ts';
import type { Artifact } from './artifacts.ts';
import { environment, type Launched, type LaunchOptions, profileOf } from './engine.ts';
import { PROTOCOL_VERSION } from './protocol.ts';
import type { StepContext } from './step-context.ts';

/**
 * The take-off of a `git` step: branch, apply, commit, each git shut in like an engine, without hooks and
 * without anybody's configuration. What fails leaves the branch it came from checked out.
 */
const commit = z.strictObject({
  base: z.string(),
  branch: z.string(),
  message: z.string(),
  author: z.string(),
});
const QUIET = [
  '-c',
  'core.hooksPath=/dev/null',
  '-c',
  'core.fsmonitor=false',
  '-c',
  'commit.gpgSign=false',
  '-c',
  'safe.directory=*',
];

export async function performGit(
  context: StepContext,
  writ: Writ,
  options: LaunchOptions,
  artifacts: readonly Artifact[],
): Promise<Launched> {
  const patch = artifacts.find((a) => a.name === 'patch')?.bodyPath;
  const file = artifacts.find((a) => a.name === 'commit')?.bodyPath;
  if (patch == null || file == null) return { ok: false, reason: 'the plan has no patch or no commit' };
  const { base, branch, message, author } = commit.parse(JSON.parse(readFileSync(file, 'utf8')));
  const [, name = '', mail = ''] = /^(.+) <(.+)>$/.exec(author) ?? [];
  const who = ['-c', `user.name=${name}`, '-c', `user.email=${mail}`];
  // The one use of the writ covers the list below: each word comes from the approved plan.
  writ.use(writ.action);
  const git = (words: readonly string[]) => runGit(context, options, ['git', ...QUIET, ...words]);
  const head = await git(['rev-parse', 'HEAD']);
  if (head.text.trim() !== base)
    return {
      ok: false,
      reason: `HEAD is ${head.text.trim() || head.problem}, the plan was made for ${base}`,
    };
  // The index remembers owners and inodes as they look outside; what it says about content stays.
  await git(['update-index', '-q', '--refresh']);
  const steps: readonly (readonly string[])[] = [
    ['apply', '--check', '--index', patch],
    ['checkout', '-q', '-b', branch],
    ['apply', '--index', patch],
    [...who, 'commit', '-q', '--no-verify', '-m', message],
  ];
  for (const [i, words] of steps.entries()) {
    const { problem } = await git(words);
    if (problem === null) continue;
    if (i > 1)
      for (const undo of [
        ['reset', '-q', '--hard', base],
        ['checkout', '-q', '-'],
        ['branch', '-q', '-D', branch],
      ])
        await git(undo);
    return { ok: false, reason: `git ${words.find((w) => !w.startsWith('-')) ?? ''}: ${problem}` };
  }
  return {
    ok: true,
    receipt: {
      protocol_version: PROTOCOL_VERSION,
      engine_id: 'writ/git',
      mode: 'take-off',
      receipt_id: `${context.log.record.flightId}/${context.step.id}/take-off`,
      status: 'success',
    },
  };
}

/** Whether the commit is there: on the branch, on top of the base. */
export async function probeGit(
  context: StepContext,
  options: LaunchOptions,
  artifacts: readonly Artifact[],
): Promise<'done' | 'not_done' | 'unknown'> {
  const file = artifacts.find((a) => a.name === 'commit')?.bodyPath;
  if (file == null) return 'unknown';
  const { base, branch } = commit.parse(JSON.parse(readFileSync(file, 'utf8')));
  const git = (words: readonly string[]) =>
    runGit(context, { ...options, mode: 'flight-plan' }, ['git', ...QUIET, ...words]);
  const parent = await git(['rev-parse', '-q', '--verify', `refs/heads/${branch}^`]);
  if (parent.problem === null && parent.text.trim() === base) return 'done';
  const tip = await git(['rev-parse', '-q', '--verify', `refs/heads/${branch}`]);
  const dirty = await git(['status', '--porcelain', '--untracked-files=no']);
  return tip.problem !== null && dirty.problem === null && dirty.text === '' ? 'not_done' : 'unknown';
}

async function runGit(
  context: StepContext,
  options: LaunchOptions,
  argv: readonly string[],
): Promise<{ readonly text: string; readonly problem: string | null }> {
  const { authority, workflow, step, log } = context;
  const answer = await authority.authorize({
    action: {
      kind: 'flight.engine',
      subject: `${workflow.value.id}/${step.id} git`,
      detail: { argv: [...argv], cwd: workflow.workspace },
    },
    evaluators: [
      {
        name: 'flight',
        evaluate: () => ({
          evaluator: 'flight',
          verdict: 'allow',
          rule: 'git-step',
          reason: 'part of a take-off that was judged and approved',
        }),
      },
    ],
    reasoning: 'git step',
    requester: log.record.requester,
    policyDigest: sha256('git-step'),
    whenApprovalNeeded: 'never',
  });
  if (answer.outcome !== 'granted') return { text: '', problem: 'not granted' };
  const outcome = await run(answer.writ, {
    argv,
    env: { ...environment(options), GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
    cwd: workflow.workspace,
    timeoutMs: 120_000,
    profile: profileOf(options),
  });
  if (outcome.kind === 'not_started') return { text: '', problem: outcome.reason };
  const text = Buffer.from(outcome.output.stdout).toString('utf8');
  const said = Buffer.from(outcome.output.stderr).toString('utf8').trim();
  if (outcome.kind !== 'exited') return { text, problem: outcome.kind };
  return { text, problem: outcome.exitCode === 0 ? null : said || `exit code ${outcome.exitCode}` };
}
