import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { artifact, engine, Invalid, onlyKeys, type Place, text } from './contract.ts';

/**
 * `git`: a branch and one commit from a patch. The plan holds the patch and the commit it applies to; take-off
 * is done by git itself, launched by the orchestrator with the words of the plan.
 *
 * config: { branch: NAME, message: TEXT, patch: TEXT | patch_file: PATH, author?: "Name <mail>", checkout?: false }
 */
const MAX_PATCH = 64 * 1024 * 1024;

engine('writ/git', {
  plan: ({ config }, at) => {
    onlyKeys(config, ['branch', 'message', 'patch', 'patch_file', 'author', 'checkout'], 'config');
    const branch = text(config.branch, 'config.branch');
    if (
      !/^(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[A-Za-z0-9][A-Za-z0-9._/-]*$/.test(branch) ||
      branch.endsWith('/') ||
      branch.endsWith('.') ||
      branch.length > 200
    )
      throw new Invalid(`config.branch ${branch} is not a branch name`);
    const message = text(config.message, 'config.message');
    const checkout = config.checkout ?? true;
    if (typeof checkout !== 'boolean') throw new Invalid('config.checkout is not true or false');
    const patch =
      config.patch === undefined ? patchFile(at, config.patch_file) : text(config.patch, 'config.patch');
    const targets = targetsOf(patch);
    if (targets.length === 0) throw new Invalid('the patch names no file');
    for (const target of targets)
      if (target.startsWith('/') || target.split('/').some((p) => p === '..' || p.toLowerCase() === '.git'))
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
        { artifact_type: 'patch', action: 'apply', mime: 'text/x-diff', metadata: { ...metadata, targets } },
        patch.endsWith('\n') ? patch : `${patch}\n`,
      ),
      artifact(
        at.artifacts,
        'commit',
        'state',
        { artifact_type: 'git-commit', action: 'create', mime: 'application/json', metadata },
        JSON.stringify({ base, branch, message, author, checkout }),
      ),
    ];
  },
  takeOff: () => {
    throw new Error('git is launched by the orchestrator');
  },
});

/** A file of the workspace, reached without leaving it. */
function patchFile(at: Place, given: unknown): string {
  const name = text(given, 'config.patch or patch_file');
  const path = join(at.workspace, name);
  if (!existsSync(path)) throw new Invalid(`${name} does not exist`);
  if (!realpathSync(path).startsWith(`${at.workspace}/`))
    throw new Invalid(`${name} is outside the workspace`);
  const { size } = statSync(path);
  if (size > MAX_PATCH) throw new Invalid(`${name} is larger than ${MAX_PATCH} bytes`);
  return readFileSync(path, 'utf8');
}

/** Every path the patch speaks of: changed, renamed, copied, binary. */
function targetsOf(patch: string): readonly string[] {
  const name = String.raw`("(?:[^"\\\n]|\\.)+"|[^\t\n"]+)`;
  const places = [
    // Both lines of a file's head together: a removed line that begins with two dashes is not one.
    new RegExp(String.raw`^--- ${name}[^\n]*\n\+\+\+ ${name}`, 'gm'),
    new RegExp(`^(?:rename|copy) (?:from|to) ${name}`, 'gm'),
    new RegExp(`^diff --git ${name} "?b/`, 'gm'),
  ];
  const found = places.flatMap((place) =>
    [...patch.matchAll(place)].flatMap(([, ...names]) => names.map((n) => plain(n))),
  );
  return [...new Set(found)].filter((t) => t !== '' && t !== '/dev/null').sort();
}

/** Git puts names with unusual bytes in quotes, the bytes as octal numbers. */
function plain(name: string): string {
  const bare = name.startsWith('"')
    ? Buffer.from(
        name
          .slice(1, -1)
          .replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
          .replace(/\\(.)/g, '$1'),
        'latin1',
      ).toString('utf8')
    : name;
  return bare.trimEnd().replace(/^[ab]\//, '');
}

/** The commit HEAD names, read from files: nothing is started for a plan. */
function headOf(git: string): string {
  if (lstatSync(git, { throwIfNoEntry: false })?.isDirectory() !== true || !existsSync(join(git, 'HEAD')))
    throw new Invalid('the workspace is not the top folder of a git repository');
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
