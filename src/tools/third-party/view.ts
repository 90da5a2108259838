import { realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compilePaths, type Policy } from '../../policy/index.ts';
import type { Profile } from '../../sandbox/index.ts';
import { findClosed } from '../denied-files.ts';
import { closingOf } from '../file-closing.ts';
import { isPlain, protectedFrom } from '../real-path.ts';
import { fileRules, readablePaths } from '../shell-ground.ts';
import type { Ground } from '../tool.ts';

/**
 * What a third-party tool sees of the disk. Nobody looks through its arguments, so it is held by what is there.
 *
 * V1 Homes and the state folder are empty. The system, the tool's own file and Writ's program are there.
 * V2 While it describes itself no policy is known yet: the working folder is empty too.
 * V3 In the working folder, what the policy denies and hidden names it does not allow are not there.
 * V4 Nothing is writable but what the policy gives, and of that nothing `fs.write` denies.
 */
export interface ToolGrant {
  readonly network: 'none' | 'host';
  /** Folders the tool may write, relative to the working folder. */
  readonly writable: readonly string[];
  readonly deny_paths?: readonly string[] | undefined;
  readonly allow_hidden?: boolean | undefined;
}

/** To describe itself. */
export function describingView(file: string, empty: readonly string[]): Profile {
  return {
    kind: 'bubblewrap',
    network: 'none',
    readonly: ownFiles(file),
    masked: [...homes(), ...empty.filter((path) => path !== sep)],
  };
}

/** To judge a call (`grant` then gives nothing) or to execute it. */
export function callView(
  file: string,
  grant: ToolGrant,
  policy: Policy,
  ground: Ground,
): Profile | { readonly problem: string } {
  const base = ground.workingDir;
  const { read, write } = fileRules(policy);
  const ours = protectedFrom(ground.masked);
  const writable = grant.writable
    .map((folder) => resolve(base, folder))
    .filter((path) => isPlain(path) && ours(path) === undefined);
  const hidden = grant.allow_hidden ?? [read, write].some((rules) => rules?.allow_hidden);
  const closing = closingOf({
    base,
    deny: [...(read?.deny_paths ?? []), ...(grant.deny_paths ?? [])],
    fixed: write?.deny_paths ?? [],
    readable: hidden ? undefined : visibleNames(policy, base),
    kept: [file, ...writable],
  });
  const closed = closing ? findClosed([base, ...writable], closing) : { masked: [], readonly: [] };
  if ('problem' in closed) return closed;
  const shown = [base, ...ownFiles(file)].filter((path) => !writable.includes(path));
  return {
    kind: 'bubblewrap',
    network: grant.network,
    writable,
    readonly: [...new Set([...shown.filter(isPlain), ...closed.readonly])],
    masked: [...homes().filter((home) => home !== base), ...ground.masked, ...closed.masked],
  };
}

/** What fs.read and fs.write spell out, or, when the policy does not have them, every name that is not hidden. */
function visibleNames(policy: Policy, base: string) {
  const { read, write } = fileRules(policy);
  return read === undefined && write === undefined
    ? compilePaths({ allow_paths: ['./**'], deny_paths: [], allow_hidden: false }, base)
    : readablePaths({}, read, write, base);
}

/** The tool, this program, the library it hands to the tool, and the runtime, wherever they are installed. */
function ownFiles(file: string): readonly string[] {
  const zod = packageFolder(fileURLToPath(import.meta.resolve('zod')));
  return [...new Set([file, packageFolder(fileURLToPath(import.meta.url)), zod, process.execPath])].filter(
    isPlain,
  );
}

function packageFolder(inside: string): string {
  let folder = dirname(realpathSync(inside));
  while (!isPlain(resolve(folder, 'package.json')) && folder !== sep) folder = dirname(folder);
  return folder;
}

function homes(): readonly string[] {
  return [...new Set([userInfo().homedir, '/home', '/root'])].filter(isPlain);
}
