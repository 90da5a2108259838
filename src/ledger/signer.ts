import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { CODES, EXIT, messageOf, quoteArgv, sha256, WritError } from '../core/index.ts';
import { ensureStateDir, octal } from './state-dir.ts';
import type { PublicKeys, Signer } from './types.ts';

const PRIVATE_KEY = 'ledger.key';
const MAX_KEY_BYTES = 4096;

/**
 * The Ed25519 key of a state folder: `ledger.key` (0600) in a 0700 folder, with its public half as
 * `<key id>.pub`. Public halves of retired keys stay there, so old checkpoints remain checkable.
 */
export function loadOrCreateSigner(keysDir: string): Signer {
  ensureStateDir(keysDir);
  const path = join(keysDir, PRIVATE_KEY);
  const signer = signerOf(readPrivateKey(path) ?? createPrivateKeyFile(path, keysDir), path);
  publish(keysDir, signer);
  return signer;
}

/** The key of a state folder if it has one: for commands that must not make one. */
export function loadExistingSigner(keysDir: string): Signer | null {
  const path = join(keysDir, PRIVATE_KEY);
  const key = readPrivateKey(path);
  return key ? signerOf(key, path) : null;
}

/** A key that lives in this process only. */
export function generateSigner(): Signer {
  return signerOf(generateKeyPairSync('ed25519').privateKey, 'a new key');
}

/** Fingerprint of a public key: SHA-256 of its DER form. */
export function keyIdOf(publicKey: KeyObject): string {
  return sha256(publicKey.export({ type: 'spki', format: 'der' }));
}

/** Every `*.pub` of a folder by key id. A file that is no Ed25519 key is an error, not a gap. */
export function loadPublicKeys(keysDir: string): PublicKeys {
  const keys = new Map<string, string>();
  let names: string[];
  try {
    names = fs.readdirSync(keysDir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return keys;
    throw badKey(keysDir, `cannot be read: ${messageOf(error)}`, `ls -ld ${quoteArgv([keysDir])}`, error);
  }
  for (const name of names.filter((n) => n.endsWith('.pub')).sort()) {
    const key = readPublicKey(join(keysDir, name));
    keys.set(key.id, key.pem);
  }
  return keys;
}

export function readPublicKey(path: string): { readonly id: string; readonly pem: string } {
  const mend = `it must hold one Ed25519 public key in PEM form; remove it if it is not yours: rm ${quoteArgv([path])}`;
  try {
    const pem = readSmall(path);
    const key = createPublicKey(pem);
    if (key.asymmetricKeyType !== 'ed25519' || !pem.includes('PUBLIC KEY'))
      throw new Error('not an Ed25519 public key');
    return { id: keyIdOf(key), pem };
  } catch (error) {
    throw badKey(path, messageOf(error), mend, error);
  }
}

function readPrivateKey(path: string): KeyObject | null {
  let found: fs.Stats;
  try {
    found = fs.lstatSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw badKey(path, `cannot be read: ${messageOf(error)}`, `ls -l ${quoteArgv([path])}`, error);
  }
  if (!found.isFile()) throw badKey(path, 'is not a plain file', `ls -l ${quoteArgv([path])}`);
  const me = process.getuid?.();
  if (me !== undefined && found.uid !== me)
    throw badKey(
      path,
      `belongs to user ${found.uid}, not to you (${me})`,
      `sudo chown ${me} ${quoteArgv([path])}`,
    );
  if (me !== undefined && (found.mode & 0o077) !== 0)
    throw badKey(
      path,
      `can be read by others (mode ${octal(found.mode)}): consider it known to them`,
      `chmod 600 ${quoteArgv([path])} if only you had access, otherwise move it away and a new key is made`,
    );
  try {
    return createPrivateKey(readSmall(path));
  } catch (error) {
    throw badKey(
      path,
      `line 1: not a private key in PEM form (${messageOf(error)})`,
      `restore it from a backup, or move it away and a new key is made: mv ${quoteArgv([path])} ${quoteArgv([`${path}.broken`])}`,
      error,
    );
  }
}

function createPrivateKeyFile(path: string, keysDir: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = join(keysDir, `.${PRIVATE_KEY}.${randomBytes(6).toString('hex')}`);
  try {
    writeDurably(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    try {
      // A link fails when the name is taken, so of two processes that start together one key wins.
      fs.linkSync(draft, path);
    } finally {
      fs.unlinkSync(draft);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      throw badKey(path, `cannot be written: ${messageOf(error)}`, `ls -ld ${quoteArgv([keysDir])}`, error);
  }
  const winner = readPrivateKey(path);
  if (!winner) throw badKey(path, 'vanished while it was made', 'start again');
  return winner;
}

function publish(keysDir: string, signer: Signer): void {
  const path = join(keysDir, `${signer.keyId}.pub`);
  if (fs.existsSync(path)) {
    const found = readPublicKey(path);
    if (found.id === signer.keyId) return;
    throw badKey(path, 'holds another key than its name says', `rm ${quoteArgv([path])}`);
  }
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  writeDurably(draft, signer.publicKeyPem);
  fs.renameSync(draft, path);
}

function writeDurably(path: string, text: string): void {
  const fd = fs.openSync(path, 'wx', 0o600);
  try {
    fs.writeFileSync(fd, text);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function signerOf(privateKey: KeyObject, where: string): Signer {
  if (privateKey.asymmetricKeyType !== 'ed25519')
    throw badKey(
      where,
      `is a ${privateKey.asymmetricKeyType} key, not Ed25519`,
      'move it away and a new key is made',
    );
  const publicKey = createPublicKey(privateKey);
  return Object.freeze({
    keyId: keyIdOf(publicKey),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    sign: (data: Uint8Array) => sign(null, data, privateKey),
  });
}

function readSmall(path: string): string {
  const { size } = fs.statSync(path);
  if (size > MAX_KEY_BYTES) throw new Error(`${size} bytes is too long for a key`);
  return fs.readFileSync(path, 'utf8');
}

function badKey(path: string, what: string, suggestion: string, cause?: unknown): WritError {
  return new WritError(CODES.invalid_config, `${path}: ${what}`, {
    suggestion,
    context: { path },
    exit: EXIT.usage,
    cause,
  });
}
