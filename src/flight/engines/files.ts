import { lstatSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize } from 'node:path';
import { artifact, engine, type Input, Invalid, type Place, sha256, text } from './contract.ts';

/**
 * `files`: create, replace in or delete files of the workspace. The plan holds the finished content and the
 * digest of what is there now; take-off writes exactly that, and only over exactly that.
 *
 * config: { changes: [ { create: PATH, content: TEXT } | { patch: PATH, find: TEXT, replace: TEXT } | { delete: PATH } ] }
 */
interface Change {
  readonly path: string;
  readonly action: 'create' | 'update' | 'delete';
  /** Digest of the file before and after; null when there is none. */
  readonly before: string | null;
  readonly after: string | null;
}

const MAX_CHANGES = 200;

engine('writ/files', {
  plan: (input, at) => {
    const changes = wanted(input, at);
    const paths = changes.map((c) => c.path);
    if (new Set(paths).size !== paths.length) throw new Invalid('a path is named twice');
    const state = changes.map((c, i) => {
      const document = {
        artifact_type: 'file',
        action: c.action,
        target: c.path,
        mime: 'text/plain',
        metadata: { before: c.before, after: c.after, preconditions: [{ file: c.path, sha256: c.before }] },
      };
      return artifact(at.artifacts, name(i), 'state', document, c.content ?? '');
    });
    const diff = changes.map((c) => unified(c.path, c.old, c.content)).join('');
    const evidence = artifact(
      at.artifacts,
      'diff',
      'evidence',
      { artifact_type: 'diff', action: 'show', mime: 'text/x-diff' },
      diff,
    );
    return [...state, evidence];
  },
  takeOff: (_, at) => {
    const changes = planned(at);
    for (const c of changes) {
      const now = read(at.workspace, c.path);
      if ((now === null ? null : sha256(now)) !== c.before)
        throw new Error(`${c.path} is not as it was planned`);
    }
    for (const [i, c] of changes.entries()) {
      const path = inside(at.workspace, c.path);
      if (c.action === 'delete') {
        rmSync(path);
        continue;
      }
      mkdirSync(dirname(path), { recursive: true });
      // Whole or not at all: a reader never sees half a file.
      writeFileSync(`${path}.writ-new`, readFileSync(join(at.artifacts, name(i), 'body.data')));
      renameSync(`${path}.writ-new`, path);
    }
  },
  probe: (_, at) => {
    const now = planned(at).map((c) => {
      const bytes = read(at.workspace, c.path);
      const hash = bytes === null ? null : sha256(bytes);
      return hash === c.after ? 'after' : hash === c.before ? 'before' : 'other';
    });
    if (now.every((s) => s === 'after')) return true;
    return now.every((s) => s === 'before') ? false : undefined;
  },
});

function wanted(
  input: Input,
  at: Place,
): readonly (Change & { readonly old: string | null; readonly content: string | null })[] {
  const { changes } = input.config;
  if (!Array.isArray(changes) || changes.length === 0 || changes.length > MAX_CHANGES)
    throw new Invalid(`config.changes is not a list of 1 to ${MAX_CHANGES} changes`);
  return changes.map((change: Readonly<Record<string, unknown>>, i) => {
    const kind = ['create', 'patch', 'delete'].find((k) => Object.hasOwn(change, k));
    if (kind === undefined) throw new Invalid(`changes.${i}: write create, patch or delete`);
    const path = normalize(text(change[kind], `changes.${i}.${kind}`));
    const bytes = read(at.workspace, path);
    const old = bytes === null ? null : bytes.toString('utf8');
    const before = bytes === null ? null : sha256(bytes);
    if (kind === 'create') {
      const content = typeof change.content === 'string' ? change.content : '';
      return {
        path,
        action: old === null ? 'create' : 'update',
        before,
        after: sha256(content),
        old,
        content,
      };
    }
    if (old === null) throw new Invalid(`changes.${i}: ${path} does not exist`);
    if (kind === 'delete') return { path, action: 'delete', before, after: null, old, content: null };
    const find = text(change.find, `changes.${i}.find`);
    if (old.split(find).length !== 2)
      throw new Invalid(`changes.${i}: the text to replace is not there exactly once`);
    const content = old.split(find).join(typeof change.replace === 'string' ? change.replace : '');
    return { path, action: 'update', before, after: sha256(content), old, content };
  });
}

function planned(at: Place): readonly Change[] {
  const changes: Change[] = [];
  for (let i = 0; ; i++) {
    const file = join(at.artifacts, name(i), 'artifact.json');
    if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return changes;
    const { target, action, metadata } = JSON.parse(readFileSync(file, 'utf8'));
    changes.push({ path: target, action, before: metadata.before, after: metadata.after });
  }
}

function name(i: number): string {
  return `change-${String(i).padStart(3, '0')}`;
}

function read(workspace: string, path: string): Buffer | null {
  const full = inside(workspace, path);
  const stat = lstatSync(full, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (!stat.isFile()) throw new Invalid(`${path} is not a plain file`);
  return readFileSync(full);
}

/** The path in the workspace, reached without symlinks; anything else is a mistake. */
function inside(workspace: string, path: string): string {
  if (isAbsolute(path) || path.split('/').includes('..') || path === '.')
    throw new Invalid(`${path} is outside the workspace`);
  const full = join(workspace, path);
  for (let dir = dirname(full); dir.length > workspace.length; dir = dirname(dir))
    if (lstatSync(dir, { throwIfNoEntry: false }) !== undefined && realpathSync(dir) !== dir)
      throw new Invalid(`${path} goes through a symlink`);
  return full;
}

/** One hunk from the first line that differs to the last, with three lines around it. */
function unified(path: string, old: string | null, now: string | null): string {
  const a = old === null || old === '' ? [] : old.replace(/\n$/, '').split('\n');
  const b = now === null || now === '' ? [] : now.replace(/\n$/, '').split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let tail = 0;
  while (tail < a.length - start && tail < b.length - start && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const from = Math.max(0, start - 3);
  const [endA, endB] = [Math.min(a.length, a.length - tail + 3), Math.min(b.length, b.length - tail + 3)];
  const lines = [
    ...a.slice(from, start).map((l) => ` ${l}`),
    ...a.slice(start, a.length - tail).map((l) => `-${l}`),
    ...b.slice(start, b.length - tail).map((l) => `+${l}`),
    ...a.slice(a.length - tail, endA).map((l) => ` ${l}`),
  ];
  const at = (length: number) => `${length === 0 ? 0 : from + 1},${length}`;
  const head = `--- ${old === null ? '/dev/null' : `a/${path}`}\n+++ ${now === null ? '/dev/null' : `b/${path}`}\n`;
  return `${head}@@ -${at(endA - from)} +${at(endB - from)} @@\n${lines.join('\n')}\n`;
}
