import { dirname, join } from 'node:path';
import type { Profile } from './types.ts';

/**
 * Which paths a shut-in child sees, and how. Pure: what is on disk comes in through `look`.
 *
 * M1 The root is read-only; only what the caller names is writable.
 * M2 The deepest path wins, so a writable folder may lie inside a masked one. On the same path the caller
 *    wins over the host's masks, and the strictest of the caller's wishes wins.
 * M3 A writable or read-only path that goes through a symlink is refused: whoever can swap the link could
 *    choose what gets bound.
 * M4 Folders between a writable one and something protected inside it are mounts of their own: a mount cannot be
 *    renamed, so what is protected cannot be moved away and something else put in its place.
 * M5 The root, and the kernel's own file systems, are never writable.
 */
export type Access = 'writable' | 'readonly' | 'masked';
export interface Mount {
  readonly path: string;
  readonly access: Access;
  readonly file: boolean;
  readonly from: 'caller' | 'host';
}

/** What lies at a path: its real path and kind, or undefined when there is nothing. */
export type Look = (path: string) => { readonly real: string; readonly file: boolean } | undefined;

export type MountPlan =
  | { readonly ok: true; readonly mounts: readonly Mount[]; readonly cwd: string }
  | { readonly ok: false; readonly reason: string };

export type BubblewrapProfile = Extract<Profile, { kind: 'bubblewrap' }>;

export interface Wanted {
  readonly profile: BubblewrapProfile;
  readonly cwd: string;
  /** Absolute path of the program. */
  readonly program: string;
  /** Paths the host hides from every child: temporary folders, sockets, credentials. */
  readonly hostMasks: readonly string[];
}

const NEVER_WRITABLE = ['/', '/proc', '/sys', '/dev'];
const strictness: Record<Access, number> = { writable: 0, readonly: 1, masked: 2 };

export function planMounts(wanted: Wanted, look: Look): MountPlan {
  const byPath = new Map<string, Mount>();
  for (const path of wanted.hostMasks) {
    const seen = look(path);
    if (seen) byPath.set(seen.real, { path: seen.real, access: 'masked', file: seen.file, from: 'host' });
  }
  const wishes = new Map<string, Mount>();
  for (const access of ['writable', 'readonly', 'masked'] as const) {
    for (const path of wanted.profile[access] ?? []) {
      const mount = wish(path, access, wanted.profile.writable ?? [], look);
      if (mount === undefined) continue;
      if ('reason' in mount) return { ok: false, reason: mount.reason };
      const before = wishes.get(mount.path);
      if (before && strictness[before.access] >= strictness[access]) continue;
      wishes.set(mount.path, mount);
    }
  }
  for (const [path, mount] of wishes) byPath.set(path, mount);
  const cwd = look(wanted.cwd);
  if (!cwd || cwd.file) return { ok: false, reason: `${wanted.cwd}: no such folder` };
  const program = programPlace(wanted.program, look);
  // Names are looked up through a file that often lives in /run.
  const names = wanted.profile.network === 'host' ? look('/etc/resolv.conf') : undefined;
  for (const needed of names ? [cwd, program, names] : [cwd, program]) {
    const covering = effective([...byPath.values()], needed.real);
    if (covering?.access !== 'masked') continue;
    // A folder under /tmp is hidden by the host's masks: what runs and where it runs come back, read-only.
    if (covering.from === 'caller') {
      if (needed === names) continue;
      return { ok: false, reason: `${needed.real} is masked` };
    }
    if (covering.path === needed.real) continue;
    byPath.set(needed.real, { path: needed.real, access: 'readonly', file: needed.file, from: 'host' });
  }
  // What the host hides inside something hidden needs no mount of its own.
  for (const { path, access, from } of [...byPath.values()])
    if (
      access === 'masked' &&
      from === 'host' &&
      effective([...byPath.values()], dirname(path))?.access === 'masked'
    )
      byPath.delete(path);
  for (const mount of [...byPath.values()])
    for (const held of between(mount, byPath, look)) byPath.set(held.path, held);
  const mounts = [...byPath.values()].sort((a, b) => depth(a.path) - depth(b.path) || order(a.path, b.path));
  return { ok: true, mounts, cwd: cwd.real };
}

function wish(
  path: string,
  access: Access,
  writable: readonly string[],
  look: Look,
): Mount | { readonly reason: string } | undefined {
  if (!path.startsWith('/') || path.includes('\0')) return { reason: `${path}: not an absolute path` };
  const seen = look(path);
  const plain = join(path).replace(/(?<=.)\/$/, '');
  if (!seen) {
    if (access !== 'masked') return { reason: `${path}: ${access} path does not exist` };
    // Nothing to hide, but inside a writable folder the child could put something there for us to trust.
    const reachable = writable.some((parent) => isWithin(plain, join(parent)));
    return reachable ? { path: firstMissing(plain, look), access, file: false, from: 'caller' } : undefined;
  }
  if (access !== 'masked' && seen.real !== plain)
    return { reason: `${path}: goes through a symlink; name the real path ${seen.real}` };
  if (
    access === 'writable' &&
    NEVER_WRITABLE.some((p) => p === seen.real || (p !== '/' && isWithin(seen.real, p)))
  )
    return { reason: `${path}: can never be writable` };
  if (access === 'masked' && seen.real === '/') return { reason: '/: cannot be masked' };
  return { path: seen.real, access, file: seen.file, from: 'caller' };
}

/** The topmost part of a path that is not there. bubblewrap makes it, as an empty folder, to mount on. */
function firstMissing(path: string, look: Look): string {
  let missing = path;
  while (dirname(missing) !== missing && !look(dirname(missing))) missing = dirname(missing);
  return missing;
}

/** Folders above a protected path that the child could rename (M4). */
function between(mount: Mount, byPath: ReadonlyMap<string, Mount>, look: Look): readonly Mount[] {
  if (mount.access === 'writable') return [];
  const held: Mount[] = [];
  for (let path = dirname(mount.path); path !== dirname(path); path = dirname(path)) {
    if (byPath.has(path)) break;
    if (effective([...byPath.values()], path)?.access !== 'writable') break;
    if (look(path)?.real === path) held.push({ path, access: 'writable', file: false, from: 'host' });
  }
  return held;
}

/** The program's place keeps its own name (programs act by it) in a folder without symlinks. */
function programPlace(program: string, look: Look): { readonly real: string; readonly file: boolean } {
  const folder = look(dirname(program));
  return { real: folder ? join(folder.real, program.slice(dirname(program).length)) : program, file: true };
}

/** The mount that decides what a path looks like. */
export function effective(mounts: readonly Mount[], path: string): Mount | undefined {
  return mounts
    .filter((m) => isWithin(path, m.path))
    .reduce<Mount | undefined>((a, b) => (a && depth(a.path) >= depth(b.path) ? a : b), undefined);
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function depth(path: string): number {
  return path === '/' ? 0 : path.split('/').length - 1;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
