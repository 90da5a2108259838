import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Writ } from '../core/index.ts';
import type { Artifact } from './artifacts.ts';
import type { Launched, LaunchOptions } from './engine.ts';
import { PROTOCOL_VERSION } from './protocol.ts';
import type { StepContext } from './step-context.ts';
import { runTool, type ToolAnswer } from './tool.ts';

/**
 * The take-off of a `git` step: one commit on a new branch, each git shut in like an engine, without hooks and
 * without anybody's configuration.
 *
 * GT1 The commit is made beside the working tree, in an index of its own: what somebody is working on is neither
 *     committed nor touched, and until the branch is there nothing has happened.
 * GT2 The branch is made by one atomic step, and only if there is none of that name.
 * GT3 Checking it out needs a clean tree; when it fails the branch goes again.
 */
const commit = z.strictObject({
  base: z.string(),
  branch: z.string(),
  message: z.string(),
  author: z.string(),
  checkout: z.boolean(),
});
const QUIET = [
  ...['-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', '-c', 'commit.gpgSign=false'],
  ...['-c', 'safe.directory=*', '-c', 'submodule.recurse=false'],
];
const NOBODY = '0'.repeat(40);

type Git = (...words: readonly string[]) => Promise<ToolAnswer>;

export async function performGit(
  context: StepContext,
  writ: Writ,
  options: LaunchOptions,
  artifacts: readonly Artifact[],
): Promise<Launched> {
  const patch = artifacts.find((a) => a.name === 'patch')?.bodyPath;
  const planned = readCommit(artifacts);
  if (patch == null || planned === undefined)
    return { ok: false, reason: 'the plan has no patch or no commit' };
  // The one use of the writ covers the list below: each word comes from the approved plan.
  writ.use(writ.action);
  const problem = await makeCommit(context, options, planned, patch);
  if (problem !== null) return { ok: false, reason: problem };
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

/** Why it could not be made, or null. */
async function makeCommit(
  context: StepContext,
  options: LaunchOptions,
  { base, branch, message, author, checkout }: z.infer<typeof commit>,
  patch: string,
): Promise<string | null> {
  const [, name = '', mail = ''] = /^(.+) <(.+)>$/.exec(author) ?? [];
  const git = gitIn(context, options);
  const beside = gitIn(context, options, {
    GIT_INDEX_FILE: join(options.folders.temp, 'index'),
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: mail,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: mail,
  });
  const head = await git('rev-parse', 'HEAD');
  if (head.text.trim() !== base)
    return `HEAD is ${head.text.trim() || head.problem}, the plan was made for ${base}`;
  if (checkout) {
    // The index remembers owners and inodes as they look outside; what it says about content stays.
    await git('update-index', '-q', '--refresh');
    const dirty = await git('status', '--porcelain', '--untracked-files=no', '--ignore-submodules=none');
    if (dirty.problem !== null) return `git status: ${dirty.problem}`;
    if (dirty.text !== '')
      return 'the working tree has changes that are not committed: commit them, or say checkout: false';
  }
  for (const words of [
    ['read-tree', base],
    ['apply', '--cached', patch],
  ]) {
    const { problem } = await beside(...words);
    if (problem !== null) return `git ${words[0]}: ${problem}`;
  }
  const tree = await beside('write-tree');
  if (tree.problem !== null) return `git write-tree: ${tree.problem}`;
  const made = await beside('commit-tree', tree.text.trim(), '-p', base, '-m', message);
  if (made.problem !== null) return `git commit-tree: ${made.problem}`;
  const ref = `refs/heads/${branch}`;
  const placed = await git('update-ref', ref, made.text.trim(), NOBODY);
  if (placed.problem !== null) return `git update-ref: ${placed.problem}`;
  const switched = checkout ? await git('checkout', '-q', branch) : null;
  if (switched?.problem == null) return null;
  await git('update-ref', '-d', ref, made.text.trim());
  return `git checkout: ${switched.problem}; the branch has been removed again`;
}

/** Whether the commit is there: on the branch, on top of the base, and checked out where that was wanted. */
export async function probeGit(
  context: StepContext,
  options: LaunchOptions,
  artifacts: readonly Artifact[],
): Promise<'done' | 'not_done' | 'unknown'> {
  const planned = readCommit(artifacts);
  if (planned === undefined) return 'unknown';
  const git = gitIn(context, { ...options, mode: 'flight-plan' });
  const ref = `refs/heads/${planned.branch}`;
  const tip = await git('rev-parse', '-q', '--verify', ref);
  // The branch is the first thing that changes (GT1).
  if (tip.problem !== null) return (await git('rev-parse', 'HEAD')).problem === null ? 'not_done' : 'unknown';
  const parent = await git('rev-parse', '-q', '--verify', `${ref}^`);
  const head = await git('symbolic-ref', '-q', 'HEAD');
  const there = !planned.checkout || head.text.trim() === ref;
  return there && parent.text.trim() === planned.base ? 'done' : 'unknown';
}

function readCommit(artifacts: readonly Artifact[]): z.infer<typeof commit> | undefined {
  const file = artifacts.find((a) => a.name === 'commit')?.bodyPath;
  return file == null ? undefined : commit.parse(JSON.parse(readFileSync(file, 'utf8')));
}

function gitIn(
  context: StepContext,
  options: LaunchOptions,
  env: Readonly<Record<string, string>> = {},
): Git {
  return (...words) =>
    runTool(context, options, {
      argv: ['git', ...QUIET, ...words],
      env: { GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', ...env },
      timeoutMs: 120_000,
    });
}
