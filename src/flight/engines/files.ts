import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { artifact, engine, type Input, Invalid, onlyKeys, type Place, sha256, text } from './contract.ts';
import { asText, unified } from './diff.ts';
import { type Change, perform, readFile } from './file-changes.ts';

/**
 * `files`: create, replace in or delete files of the workspace. The plan holds the finished content and the
 * digest of what is there now; take-off writes exactly that, and only over exactly that, all of it or nothing.
 *
 * config: { changes: [ { create: PATH, content: TEXT | content_base64: TEXT, executable?: true }
 *                    | { patch: PATH, find: TEXT, replace: TEXT } | { delete: PATH } ] }
 */
const MAX_CHANGES = 200;
const KEYS = {
  create: ['create', 'content', 'content_base64', 'executable'],
  patch: ['patch', 'find', 'replace'],
  delete: ['delete'],
} as const;

engine('writ/files', {
  plan: (input, at) => {
    const changes = wanted(input, at);
    const paths = changes.map((c) => c.path);
    if (new Set(paths).size !== paths.length) throw new Invalid('a path is named twice');
    const state = changes.map((c, i) => {
      const { path, action, before, after, executable } = c;
      const document = {
        artifact_type: 'file',
        action,
        target: path,
        mime: asText(c.content ?? c.old) === null ? 'application/octet-stream' : 'text/plain',
        metadata: { before, after, executable, preconditions: [{ file: path, sha256: before }] },
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
    for (const c of changes)
      if (digest(readFile(at.workspace, c.path)) !== c.before)
        throw new Error(`${c.path} is not as it was planned`);
    perform(at.workspace, changes, (i) => readFileSync(join(at.artifacts, name(i), 'body.data')));
  },
  probe: (_, at) => {
    const now = planned(at).map((c) => {
      const hash = digest(readFile(at.workspace, c.path));
      return hash === c.after ? 'after' : hash === c.before ? 'before' : 'other';
    });
    if (now.every((s) => s === 'after')) return true;
    return now.every((s) => s === 'before') ? false : undefined;
  },
});

interface Wanted extends Change {
  readonly old: Buffer | null;
  readonly content: Buffer | null;
}

function wanted(input: Input, at: Place): readonly Wanted[] {
  const { changes } = input.config;
  if (!Array.isArray(changes) || changes.length === 0 || changes.length > MAX_CHANGES)
    throw new Invalid(`config.changes is not a list of 1 to ${MAX_CHANGES} changes`);
  return changes.map((change: Readonly<Record<string, unknown>>, i) => {
    const where = `changes.${i}`;
    const kinds = (['create', 'patch', 'delete'] as const).filter((k) => Object.hasOwn(Object(change), k));
    const [kind] = kinds;
    if (kind === undefined || kinds.length > 1)
      throw new Invalid(`${where}: write one of create, patch and delete`);
    onlyKeys(change, KEYS[kind], where);
    const path = normalize(text(change[kind], `${where}.${kind}`));
    const old = readFile(at.workspace, path);
    const base = { path, before: digest(old), old };
    if (kind === 'create') {
      const content = contentOf(change, where);
      const action = old === null ? 'create' : 'update';
      return { ...base, action, after: sha256(content), content, executable: change.executable === true };
    }
    if (old === null) throw new Invalid(`${where}: ${path} does not exist`);
    if (kind === 'delete')
      return { ...base, action: 'delete', after: null, content: null, executable: false };
    const content = replaced(old, change, where, path);
    return { ...base, action: 'update', after: sha256(content), content, executable: false };
  });
}

function contentOf(change: Readonly<Record<string, unknown>>, where: string): Buffer {
  const { content, content_base64: encoded } = change;
  if (typeof content === 'string' && encoded === undefined) return Buffer.from(content);
  if (typeof encoded === 'string' && content === undefined && /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(encoded))
    return Buffer.from(encoded, 'base64');
  throw new Invalid(`${where}: write content (a text) or content_base64`);
}

/** Bytes that are no text would not survive being read and written as one. */
function replaced(
  old: Buffer,
  change: Readonly<Record<string, unknown>>,
  where: string,
  path: string,
): Buffer {
  const before = asText(old);
  if (before === null) throw new Invalid(`${where}: ${path} is not text; give its whole content with create`);
  const find = text(change.find, `${where}.find`);
  if (typeof change.replace !== 'string') throw new Invalid(`${where}.replace is not a text`);
  if (change.replace === find) throw new Invalid(`${where}: find and replace are the same`);
  const parts = before.split(find);
  if (parts.length !== 2) throw new Invalid(`${where}: the text to replace is not there exactly once`);
  return Buffer.from(parts.join(change.replace));
}

/** The plan as it was written: one artifact a change, numbered without gaps. */
function planned(at: Place): readonly Change[] {
  const changes: Change[] = [];
  for (let i = 0; i < MAX_CHANGES; i++) {
    const file = readFile(at.artifacts, join(name(i), 'artifact.json'));
    if (file === null) break;
    const { target, action, metadata } = JSON.parse(file.toString('utf8'));
    const { before, after, executable } = metadata;
    changes.push({ path: target, action, before, after, executable });
  }
  return changes;
}

function name(i: number): string {
  return `change-${String(i).padStart(3, '0')}`;
}

function digest(bytes: Buffer | null): string | null {
  return bytes === null ? null : sha256(bytes);
}
