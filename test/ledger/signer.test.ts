import { generateKeyPairSync, verify } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CODES, WritError } from '../../src/core/index.ts';
import {
  ensureStateDir,
  loadExistingSigner,
  loadOrCreateSigner,
  loadPublicKeys,
} from '../../src/ledger/index.ts';
import { tempDir } from './helpers.ts';

const refused = (work: () => unknown): WritError => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(WritError);
    expect((error as WritError).suggestion).toBeTruthy();
    return error as WritError;
  }
  return expect.unreachable('it was not refused');
};
const mode = (path: string) => statSync(path).mode & 0o777;

describe('the key of a state folder', () => {
  it('[LED-30] is made once, 0600 in a 0700 folder, and signs so that its public half verifies', () => {
    const dir = join(tempDir(), 'keys');
    const made = loadOrCreateSigner(dir);
    const loaded = loadOrCreateSigner(dir);
    expect(loaded.keyId).toBe(made.keyId);
    expect([mode(dir), mode(join(dir, 'ledger.key'))]).toEqual([0o700, 0o600]);
    const data = Buffer.from('hello');
    expect(verify(null, data, loadPublicKeys(dir).get(made.keyId)!, loaded.sign(data))).toBe(true);
    expect(readdirSync(dir).sort()).toEqual([`${made.keyId}.pub`, 'ledger.key'].sort());
    expect(JSON.stringify(made)).not.toContain('PRIVATE');
  });

  it('[LED-30] is refused when others can read it, when it is no key, or not Ed25519: file, reason, what to type', () => {
    const dir = join(tempDir(), 'keys');
    loadOrCreateSigner(dir);
    const file = join(dir, 'ledger.key');
    chmodSync(file, 0o640);
    const open = refused(() => loadOrCreateSigner(dir));
    expect(open.message).toContain(file);
    expect(open.message).toContain('0640');
    expect(open).toMatchObject({ exit: 2 });
    chmodSync(file, 0o600);
    writeFileSync(file, 'not a key');
    expect(refused(() => loadOrCreateSigner(dir)).message).toContain(`${file}: line 1`);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    writeFileSync(file, rsa.export({ type: 'pkcs8', format: 'pem' }));
    expect(refused(() => loadOrCreateSigner(dir)).message).toContain('rsa');
    writeFileSync(file, 'x'.repeat(100_000));
    expect(refused(() => loadOrCreateSigner(dir)).message).toContain('too long');
    expect(readFileSync(file, 'utf8').length).toBe(100_000);
  });

  it('[LED-30] keeps the public halves of keys that were retired', () => {
    const dir = join(tempDir(), 'keys');
    const first = loadOrCreateSigner(dir);
    writeFileSync(join(dir, 'old.key'), readFileSync(join(dir, 'ledger.key')), { mode: 0o600 });
    symlinkSync('old.key', join(dir, 'link'));
    chmodSync(join(dir, 'ledger.key'), 0o600);
    writeFileSync(join(dir, 'ledger.key'), '');
    expect(refused(() => loadOrCreateSigner(dir)).suggestion).toContain('mv ');
    const other = join(tempDir(), 'keys');
    const second = loadOrCreateSigner(other);
    writeFileSync(join(other, `${first.keyId}.pub`), first.publicKeyPem);
    expect([...loadPublicKeys(other).keys()].sort()).toEqual([first.keyId, second.keyId].sort());
    writeFileSync(join(other, 'broken.pub'), 'nonsense');
    expect(refused(() => loadPublicKeys(other)).message).toContain('broken.pub');
    expect(loadExistingSigner(join(tempDir(), 'none'))).toBeNull();
  });
});

describe('a state folder', () => {
  it('[LED-31] is made 0700, with its parents', () => {
    const dir = join(tempDir(), 'a', 'b');
    ensureStateDir(dir);
    expect(mode(dir)).toBe(0o700);
    ensureStateDir(dir);
  });

  it('[LED-31] is refused when another user can write it, with what to type', () => {
    const dir = tempDir();
    for (const bits of [0o720, 0o702, 0o777]) {
      chmodSync(dir, bits);
      const error = refused(() => ensureStateDir(dir));
      expect(error.code).toBe(CODES.unsafe_state_dir);
      expect(error.exit).toBe(2);
      expect(error.suggestion).toBe(`chmod go-w ${dir}`);
    }
    chmodSync(dir, 0o755);
    ensureStateDir(dir);
  });

  it('[LED-31] is refused when it is a link or a file, or belongs to somebody else', () => {
    const dir = tempDir();
    mkdirSync(join(dir, 'real'));
    symlinkSync(join(dir, 'real'), join(dir, 'link'));
    expect(refused(() => ensureStateDir(join(dir, 'link'))).message).toContain('symbolic link');
    writeFileSync(join(dir, 'file'), '');
    refused(() => ensureStateDir(join(dir, 'file')));
    if (process.getuid?.() !== 0)
      expect(refused(() => ensureStateDir('/usr')).message).toContain('belongs to user 0');
  });
});
