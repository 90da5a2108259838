import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Person } from '../../src/ghost/events.ts';
import { loadSession, newSessionId, saveSession, sessionPath } from '../../src/ghost/session.ts';
import { newSession } from '../../src/ghost/session-v1.ts';
import { chooseSession } from '../../src/ghost/startup.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'writ-session-'));
const session = (auditDir: string) =>
  newSession({
    sessionId: 'ghost_20260115_143000',
    createdAt: '2026-01-15T14:30:00.000Z',
    brain: 'playbook',
    model: 'playbook',
    auditDir,
  });
const answering = (letter: string): Person => ({
  present: true,
  choose: async () => letter,
  line: async () => '',
});

describe('the session file', () => {
  it('[GHOST-20] comes back as it was, is private, and carries a checksum', () => {
    const dir = folder();
    saveSession(session(dir));
    const path = sessionPath(dir, 'ghost_20260115_143000');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path, 'utf8'))._checksum).toMatch(/^[0-9a-f]{64}$/);
    expect(loadSession(dir, 'ghost_20260115_143000')).toEqual({ kind: 'loaded', session: session(dir) });
  });

  it('[GHOST-21] any change to a value is noticed', () => {
    const dir = folder();
    saveSession({ ...session(dir), turn_count: 7, symptom: 'web is slow' });
    const path = sessionPath(dir, 'ghost_20260115_143000');
    const text = readFileSync(path, 'utf8');
    fc.assert(
      fc.property(fc.nat(text.length - 2), fc.constantFrom('x', '0', '"', '}', ' ', '\n'), (at, char) => {
        const changed = text.slice(0, at) + char + text.slice(at + 1);
        writeFileSync(path, changed);
        const loaded = loadSession(dir, 'ghost_20260115_143000');
        // Only white space between tokens may change without changing the data.
        if (loaded.kind === 'loaded') expect(JSON.parse(changed)).toEqual(JSON.parse(text));
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['{', 'corrupt'],
    ['[]', 'corrupt'],
    ['{"session_id":"ghost_other"}', 'corrupt'],
    ['{"session_id":"ghost_20260115_143000","hypothesis_log":[7]}', 'corrupt'],
  ])('[GHOST-22] %s is %s, never a crash', (text, kind) => {
    const dir = folder();
    writeFileSync(sessionPath(dir, 'ghost_20260115_143000'), text);
    expect(loadSession(dir, 'ghost_20260115_143000').kind).toBe(kind);
  });

  it('ids of the same second differ', () => {
    const taken = new Set(['ghost_20260115_143000']);
    expect(newSessionId(new Date('2026-01-15T14:30:00Z'), (id) => taken.has(id))).toBe(
      'ghost_20260115_143000_2',
    );
  });
});

describe('resuming', () => {
  const tampered = () => {
    const dir = folder();
    saveSession(session(dir));
    const path = sessionPath(dir, 'ghost_20260115_143000');
    writeFileSync(path, readFileSync(path, 'utf8').replace('"turn_count": 0', '"turn_count": 3'));
    return dir;
  };

  it('[GHOST-23] an altered file: continue keeps a warning for the report, fresh starts anew, abort stops', async () => {
    const warnings: string[] = [];
    const choose = (letter: string) =>
      chooseSession(
        tampered(),
        'ghost_20260115_143000',
        answering(letter),
        (e) => e.type === 'warning' && warnings.push(e.text),
      );
    expect(await choose('c')).toMatchObject({
      kind: 'resume',
      session: { turn_count: 3, integrity_warnings: [expect.stringContaining('checksum mismatch')] },
    });
    expect(await choose('f')).toEqual({ kind: 'fresh', resumedFrom: 'ghost_20260115_143000' });
    expect(await choose('a')).toMatchObject({ kind: 'abort' });
    expect(warnings[0]).toContain('checksum mismatch');
  });

  it('[GHOST-24] a corrupt file offers fresh or abort; a missing one stops with its name', async () => {
    const dir = folder();
    writeFileSync(sessionPath(dir, 'ghost_20260115_143000'), 'not json');
    expect(await chooseSession(dir, 'ghost_20260115_143000', answering('f'), () => undefined)).toMatchObject({
      kind: 'fresh',
    });
    expect(await chooseSession(dir, 'ghost_20260115_143000', answering('a'), () => undefined)).toMatchObject({
      kind: 'abort',
    });
    expect(await chooseSession(dir, 'ghost_gone', answering('f'), () => undefined)).toMatchObject({
      kind: 'abort',
      reason: expect.stringContaining('ghost_gone'),
    });
  });
});
