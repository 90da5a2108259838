import { createHash, createPublicKey, verify } from 'node:crypto';
import * as fs from 'node:fs';
import { posix } from 'node:path';
import type { FileVerdict, PublicKeys, VerifyStatus } from '../types.ts';
import { journalsIn } from './names.ts';
import { type Evidence, readSmall } from './source.ts';
import { BadArchive, readTarList, type TarEntry, tarEvidence } from './tar-read.ts';
import { verifyJournal } from './verify-journal.ts';

const MAX_MANIFEST = 64 * 1024 * 1024;
const MAX_KEY = 4096;

interface ListedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Verifies a bundle in place. The first verdict is that of the bundle as a whole: the list in it is signed,
 * complete and right. Then every journal in it, as on disk.
 *
 * Given keys count alone. Without any, the keys in the bundle are used and the notes say so: a bundle
 * that brings its own keys proves that it is consistent, not who made it.
 */
export async function verifyBundle(path: string, keys: PublicKeys): Promise<readonly FileVerdict[]> {
  const fd = fs.openSync(path, 'r');
  try {
    let entries: readonly TarEntry[];
    try {
      entries = readTarList(fd);
    } catch (error) {
      if (!(error instanceof BadArchive)) throw error;
      return [bundleVerdict(path, 'tampered', error.message, [])];
    }
    const evidence = tarEvidence(fd, entries);
    const brought = keys.size === 0;
    const publicKeys = brought ? keysIn(evidence, entries) : keys;
    const notes = brought
      ? [...publicKeys.keys()].map(
          (id) => `checked with key ${id} from the bundle itself: compare it with its maker's`,
        )
      : [];
    const whole = judgeList(path, evidence, entries, publicKeys, notes);
    const verdicts: FileVerdict[] = [];
    for (const dir of new Set(
      entries.map((entry) => posix.dirname(entry.name)).filter((d) => /^journals(\/|$)/.test(d)),
    ))
      for (const base of journalsIn(evidence, dir))
        verdicts.push(...(await verifyJournal(base, { publicKeys, evidence })).verdicts);
    return [whole, ...verdicts.map((v) => ({ ...v, path: `${path}:${v.path.replace(/^journals\//, '')}` }))];
  } finally {
    fs.closeSync(fd);
  }
}

function judgeList(
  path: string,
  evidence: Evidence,
  entries: readonly TarEntry[],
  keys: PublicKeys,
  notes: readonly string[],
): FileVerdict {
  const manifest = readSmall(evidence, 'manifest.json', MAX_MANIFEST);
  if (!manifest) return bundleVerdict(path, 'incomplete', 'the list (manifest.json) is missing', notes);
  const list = parseList(manifest.toString('utf8'));
  if (!list) return bundleVerdict(path, 'tampered', 'manifest.json cannot be read', notes);
  const listed = new Map(list.files.map((file) => [file.name, file]));
  for (const entry of entries) {
    if (entry.name === 'manifest.json' || entry.name === 'manifest.sig') continue;
    const file = listed.get(entry.name);
    if (!file) return bundleVerdict(path, 'tampered', `${entry.name} is not in the list`, notes);
    if (file.bytes !== entry.size || file.sha256 !== digestOf(evidence, entry))
      return bundleVerdict(path, 'tampered', `${entry.name} is not the file in the list`, notes);
    listed.delete(entry.name);
  }
  const [gone] = listed.keys();
  if (gone !== undefined)
    return bundleVerdict(path, 'incomplete', `${gone} is in the list but not in the bundle`, notes);
  const signature = readSmall(evidence, 'manifest.sig', 256)?.toString('latin1');
  if (signature === undefined || list.key_id === undefined)
    return bundleVerdict(
      path,
      signature === undefined && list.key_id === undefined ? 'not_established' : 'tampered',
      'the list is not signed',
      notes,
    );
  const pem = keys.get(list.key_id);
  if (pem === undefined)
    return bundleVerdict(
      path,
      'not_established',
      `the list is signed by key ${list.key_id}, which is not known here`,
      notes,
    );
  const signed = Buffer.concat([Buffer.from('writ bundle v1\n'), manifest]);
  if (!/^[0-9a-f]{128}$/.test(signature) || !verify(null, signed, pem, Buffer.from(signature, 'hex')))
    return bundleVerdict(path, 'tampered', 'the signature of the list is wrong', notes);
  return { path, status: 'intact', records: 0, first_bad: null, notes };
}

function parseList(text: string): { files: ListedFile[]; key_id?: string } | null {
  try {
    const value = JSON.parse(text) as { v?: unknown; files?: unknown; key_id?: string };
    return value.v === 1 && Array.isArray(value.files)
      ? (value as { files: ListedFile[]; key_id?: string })
      : null;
  } catch {
    return null;
  }
}

function digestOf(evidence: Evidence, entry: TarEntry): string {
  const source = evidence.open(entry.name);
  const digest = createHash('sha256');
  const chunk = Buffer.allocUnsafe(1024 * 1024);
  for (let at = 0; source && at < entry.size; ) {
    const n = source.read(chunk, at);
    if (n === 0) break;
    digest.update(chunk.subarray(0, n));
    at += n;
  }
  return digest.digest('hex');
}

function keysIn(evidence: Evidence, entries: readonly TarEntry[]): PublicKeys {
  const keys = new Map<string, string>();
  for (const { name } of entries) {
    if (!name.startsWith('keys/')) continue;
    const pem = readSmall(evidence, name, MAX_KEY)?.toString('utf8') ?? '';
    try {
      const key = createPublicKey(pem);
      if (key.asymmetricKeyType !== 'ed25519') continue;
      keys.set(
        createHash('sha256')
          .update(key.export({ type: 'spki', format: 'der' }))
          .digest('hex'),
        pem,
      );
    } catch {
      // No key: whatever was signed with it stays unestablished.
    }
  }
  return keys;
}

function bundleVerdict(
  path: string,
  status: VerifyStatus,
  what: string,
  notes: readonly string[],
): FileVerdict {
  return { path, status, records: 0, first_bad: { line: 1, sequence: null, byte: 0, what }, notes };
}
