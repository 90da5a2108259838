import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { artifact, engine, Invalid, text } from './contract.ts';

/**
 * `git`: a branch and one commit from a patch. The plan holds the patch and the commit it applies to; take-off
 * is done by git itself, launched by the orchestrator with the words of the plan.
 *
 * config: { branch: NAME, message: TEXT, patch: TEXT | patch_file: PATH, author?: "Name <mail>" }
 */
engine('writ/git', {
  plan: ({ config }, at) => {
    const branch = text(config.branch, 'config.branch');
    if (
      !/^(?!.*(?:\.\.|\/\/|@\{|\.lock(?:\/|$)))[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(branch) ||
      branch.endsWith('/') ||
      branch.endsWith('.')
    )
      throw new Invalid(`config.branch ${branch} is not a branch name`);
    const message = text(config.message, 'config.message');
    const patch =
      config.patch === undefined
        ? readFileSync(join(at.workspace, text(config.patch_file, 'config.patch or patch_file')), 'utf8')
        : text(config.patch, 'config.patch');
    const targets = [...patch.matchAll(/^(?:---|\+\+\+) (?:[ab]\/)?([^\t\n]+)/gm)]
      .map((m) => m[1] ?? '')
      .filter((t) => t !== '/dev/null');
    if (targets.length === 0) throw new Invalid('the patch names no file');
    for (const target of targets)
      if (target.startsWith('/') || target.split('/').some((p) => p === '..' || p === '.git'))
        throw new Invalid(`the patch touches ${target}`);
    const base = headOf(join(at.workspace, '.git'));
    const author =
      config.author === undefined ? 'Writ <writ@localhost>' : text(config.author, 'config.author');
    if (!/^[^<>\n]+ <[^<>\n]+>$/.test(author)) throw new Invalid('config.author is not "Name <mail>"');
    const metadata = { base, branch, preconditions: [{ head: base }] };
    return [
      artifact(
        at.artifacts,
        'patch',
        'state',
        { artifact_type: 'patch', action: 'apply', mime: 'text/x-diff', metadata },
        patch.endsWith('\n') ? patch : `${patch}\n`,
      ),
      artifact(
        at.artifacts,
        'commit',
        'state',
        { artifact_type: 'git-commit', action: 'create', mime: 'application/json', metadata },
        JSON.stringify({ base, branch, message, author }),
      ),
    ];
  },
  takeOff: () => {
    throw new Error('git is launched by the orchestrator');
  },
});

/** The commit HEAD names, read from files: nothing is started for a plan. */
function headOf(git: string): string {
  if (!existsSync(join(git, 'HEAD'))) throw new Invalid('the workspace is not a git repository');
  const head = readFileSync(join(git, 'HEAD'), 'utf8').trim();
  if (/^[0-9a-f]{40,64}$/.test(head)) return head;
  const ref = head.replace(/^ref: /, '');
  if (!/^refs\/[\w./-]+$/.test(ref) || ref.includes('..')) throw new Invalid('HEAD is not understood');
  if (existsSync(join(git, ref))) return readFileSync(join(git, ref), 'utf8').trim();
  const packed = existsSync(join(git, 'packed-refs')) ? readFileSync(join(git, 'packed-refs'), 'utf8') : '';
  const found = packed
    .split('\n')
    .find((line) => line.endsWith(` ${ref}`))
    ?.split(' ')[0];
  if (found === undefined) throw new Invalid('the repository has no commit yet');
  return found;
}
