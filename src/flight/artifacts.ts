import { lstatSync, opendirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, posix, relative } from 'node:path';
import { type Digest, sha256 } from '../core/index.ts';
import {
  type ArtifactDocument,
  artifactSchema,
  firstIssue,
  type Read,
  type ReceiptArtifact,
  type Role,
} from './protocol.ts';
import { readStrictJson } from './strict-json.ts';
import { fileHash } from './workspace-hash.ts';

/**
 * What an engine left in its artifacts folder, against what its receipt says of it.
 *
 * AR1 Every file on disk belongs to one artifact of the receipt, every named file is on disk; nothing besides.
 * AR2 Plain files with one name only: no symlinks, no hard links, no devices, no folders in their place.
 * AR3 Names stay inside, are printable, and differ in more than case or Unicode form.
 * AR4 Hash and size are taken from the disk and compared; the receipt is a claim, never a source.
 */
export interface Artifact {
  readonly name: string;
  readonly role: Role;
  readonly document: ArtifactDocument;
  /** Digest of artifact.json's bytes, and of the body file's when there is one. */
  readonly metadataHash: Digest;
  readonly bodyHash: Digest | null;
  /** Of the body file when there is one, of artifact.json otherwise. */
  readonly hash: Digest;
  readonly size: number;
  readonly bodyPath: string | null;
}

const MAX_DOCUMENT_BYTES = 8 * 1024 * 1024;
const MAX_TOTAL_BYTES = 1024 * 1024 * 1024;
const MAX_ENTRIES = 5000;

export function readArtifacts(folder: string, claims: readonly ReceiptArtifact[]): Read<readonly Artifact[]> {
  try {
    const seen = new Map<string, string>();
    const artifacts: Artifact[] = [];
    const files = new Set<string>();
    for (const claim of claims) {
      const mistake = nameMistake(claim.name);
      if (mistake !== null) return bad(`artifact name ${quoted(claim.name)} ${mistake}`);
      const key = claim.name.normalize('NFKC').toLowerCase();
      const other = seen.get(key);
      if (other !== undefined)
        return bad(`two artifacts are called ${quoted(claim.name)} and ${quoted(other)}`);
      seen.set(key, claim.name);
      const artifact = readOne(folder, claim);
      if (typeof artifact === 'string') return bad(`artifact ${quoted(claim.name)}: ${artifact}`);
      artifacts.push(artifact);
      const { body_file } = artifact.document;
      for (const file of ['artifact.json', ...(body_file === undefined ? [] : [body_file])]) {
        const path = posix.join(claim.name, file);
        if (files.has(path)) return bad(`${quoted(path)} belongs to two artifacts`);
        files.add(path);
      }
    }
    const stray = strayEntry(folder, files);
    if (stray !== null) return bad(stray);
    if (artifacts.reduce((sum, a) => sum + a.size, 0) > MAX_TOTAL_BYTES)
      return bad(`the artifacts are larger than ${MAX_TOTAL_BYTES} bytes together`);
    return { ok: true, value: artifacts.sort(byNameThenRole) };
  } catch (error) {
    return bad(error instanceof Error ? error.message : String(error));
  }
}

function readOne(folder: string, claim: ReceiptArtifact): Artifact | string {
  const jsonPath = join(folder, claim.name, 'artifact.json');
  const wrong = fileMistake(folder, `${claim.name}/artifact.json`);
  if (wrong !== null) return wrong;
  if (lstatSync(jsonPath).size > MAX_DOCUMENT_BYTES)
    return `artifact.json is larger than ${MAX_DOCUMENT_BYTES} bytes`;
  const bytes = readFileSync(jsonPath);
  const json = readStrictJson(bytes);
  if (!json.ok) return `artifact.json ${json.reason}`;
  const read = artifactSchema.safeParse(json.value);
  if (!read.success) return `artifact.json: ${firstIssue(read.error)}`;
  const document = read.data;
  // The folder, or a file of the artifact in it, from the artifacts folder or in full.
  const path = (isAbsolute(claim.path) ? relative(folder, claim.path) : claim.path).replace(/^\.\/|\/$/g, '');
  const places = [
    '',
    '/artifact.json',
    ...(document.body_file === undefined ? [] : [`/${document.body_file}`]),
  ];
  if (!places.some((place) => path === `${claim.name}${place}`))
    return `path is ${quoted(claim.path)}, it must be the artifact's own folder ${quoted(claim.name)}`;
  let bodyPath: string | null = null;
  let bodyHash: Digest | null = null;
  let size = bytes.length;
  if (document.body_file !== undefined) {
    const mistake = nameMistake(document.body_file);
    if (mistake !== null) return `body_file ${quoted(document.body_file)} ${mistake}`;
    if (document.body_file === 'artifact.json') return 'body_file is artifact.json itself';
    const name = posix.join(claim.name, document.body_file);
    const missing = fileMistake(folder, name);
    if (missing !== null) return missing;
    bodyPath = join(folder, name);
    bodyHash = fileHash(bodyPath);
    size = lstatSync(bodyPath).size;
  }
  const metadataHash = sha256(bytes);
  const hash = bodyHash ?? metadataHash;
  if (claim.hash.replace(/^sha256:/, '') !== hash)
    return `hash is ${hash} on disk, the receipt says ${claim.hash}`;
  if (claim.size !== undefined && claim.size !== size)
    return `size is ${size} on disk, the receipt says ${claim.size}`;
  return { name: claim.name, role: claim.role, document, metadataHash, bodyHash, hash, size, bodyPath };
}

/** Control and format characters, what is drawn as nothing or as another space, and the other slash. */
const HIDES = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\\]|(?! )\p{Zs}/u;

/** Why a name may not be used, or null. */
export function nameMistake(name: string): string | null {
  if (name === '' || name.length > 255) return 'is empty or longer than 255 characters';
  if (!name.isWellFormed() || HIDES.test(name)) return 'holds characters that hide or steer';
  if (posix.isAbsolute(name)) return 'is not relative';
  for (const part of name.split('/'))
    if (part === '' || part === '.' || part === '..') return 'has an empty part, "." or ".."';
  return null;
}

/** Every folder on the way must be a real one, the file a plain one (AR2). */
function fileMistake(folder: string, name: string): string | null {
  const parts = name.split('/');
  for (let i = 1; i <= parts.length; i++) {
    const part = parts.slice(0, i).join('/');
    const stat = lstatSync(join(folder, part), { throwIfNoEntry: false });
    if (stat === undefined) return `${quoted(name)} is missing`;
    if (stat.isSymbolicLink()) return `${quoted(part)} is a symbolic link`;
    if (i < parts.length && !stat.isDirectory()) return `${quoted(part)} is not a folder`;
    if (i === parts.length && !stat.isFile()) return `${quoted(part)} is not a plain file`;
    if (i === parts.length && stat.nlink !== 1) return `${quoted(part)} has another name (a hard link)`;
  }
  return null;
}

function strayEntry(folder: string, files: ReadonlySet<string>): string | null {
  const folders = new Set<string>();
  for (const file of files)
    for (let dir = posix.dirname(file); dir !== '.'; dir = posix.dirname(dir)) folders.add(dir);
  let count = 0;
  const walk = (dir: string): string | null => {
    const handle = opendirSync(join(folder, dir));
    try {
      for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
        if (++count > MAX_ENTRIES) return `the artifacts folder holds more than ${MAX_ENTRIES} entries`;
        const name = dir === '' ? entry.name : `${dir}/${entry.name}`;
        if (entry.isDirectory() && folders.has(name)) {
          const inside = walk(name);
          if (inside !== null) return inside;
        } else if (!(entry.isFile() && files.has(name)))
          return `${quoted(name)} is in the artifacts folder but in no receipt`;
      }
      return null;
    } finally {
      handle.closeSync();
    }
  };
  return walk('');
}

/** By code point, so that the order is the same everywhere. */
function byNameThenRole(a: Artifact, b: Artifact): number {
  return (
    Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) ||
    Buffer.compare(Buffer.from(a.role), Buffer.from(b.role))
  );
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 300));
}

function bad(reason: string): Read<never> {
  return { ok: false, reason };
}
