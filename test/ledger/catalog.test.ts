import { spawn } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testClock } from '../../src/core/testing.ts';
import {
  loadPublicKeys,
  openLedger,
  statePaths,
  usualDirs,
  verifyNamed,
  verifyState,
  worstStatus,
} from '../../src/ledger/index.ts';
import { tempDir } from './helpers.ts';

/** A project with two closed journals. */
async function project() {
  const root = tempDir();
  const [state, audit] = [join(root, '.writ'), join(root, 'audit')];
  const ledger = openLedger({ stateDir: state, clock: testClock() });
  const write = async (name: string, count: number) => {
    const journal = await ledger.openJournal({ path: join(audit, `${name}.jsonl`) });
    for (let n = 0; n < count; n++) await journal.append({ name, n });
    await journal.close();
    return journal;
  };
  await write('a', 3);
  await write('b', 2);
  const { catalog, keys } = statePaths(state);
  const check = async () => {
    const publicKeys = loadPublicKeys(keys);
    const verdicts = await verifyState(catalog, usualDirs(state, audit), { publicKeys, lookAgainMs: 0 });
    return { status: worstStatus(verdicts.map((v) => v.status)), verdicts };
  };
  const file = (name: string) => join(audit, `${name}.jsonl`);
  const remove = (name: string) => {
    rmSync(file(name));
    rmSync(`${file(name)}.checkpoint`);
  };
  return { root, state, audit, ledger, write, catalog, keys, check, file, remove };
}

describe('the catalogue', () => {
  it('[LED-22] everything a project knows of is intact, itself included', async () => {
    const { check, catalog, root } = await project();
    const { status, verdicts } = await check();
    expect(status).toBe('intact');
    expect(verdicts.map((v) => v.path.slice(root.length + 1))).toEqual([
      '.writ/ledger/catalog.jsonl',
      'audit/a.jsonl',
      'audit/b.jsonl',
    ]);
    expect(readFileSync(catalog, 'utf8')).toContain('"path":"../../audit/a.jsonl"');
  });

  it('[LED-22] a journal removed with its checkpoint is missed', async () => {
    const { check, remove, file } = await project();
    remove('b');
    const { status, verdicts } = await check();
    expect(status).toBe('incomplete');
    expect(verdicts.find((v) => v.path === file('b'))).toMatchObject({
      status: 'incomplete',
      first_bad: { what: expect.stringContaining('the catalogue remembers 2') },
    });
  });

  it('[LED-22] journals that changed places, names included, are found out', async () => {
    const { state, audit, check, file, ledger } = await project();
    // The same base name in two folders: only the catalogue can tell them apart.
    const other = join(audit, 'deep', 'a.jsonl');
    const journal = await ledger.openJournal({ path: other });
    await journal.append({ elsewhere: true });
    await journal.close();
    for (const suffix of ['', '.checkpoint']) {
      renameSync(file('a') + suffix, `${file('a')}${suffix}.tmp`);
      renameSync(other + suffix, file('a') + suffix);
      renameSync(`${file('a')}${suffix}.tmp`, other + suffix);
    }
    const { verdicts } = await check();
    expect(
      verdicts
        .filter((v) => v.status === 'tampered')
        .map((v) => v.path)
        .sort(),
    ).toEqual([file('a'), other].sort());
    const named = await verifyNamed(statePaths(state).catalog, [file('a')], {
      publicKeys: loadPublicKeys(statePaths(state).keys),
    });
    expect(named[0]?.[0]?.status).toBe('tampered');
  });

  it('[LED-22] a journal put back to an earlier state, checkpoint and all, is found out', async () => {
    const { audit, root, write, check, file } = await project();
    cpSync(audit, join(root, 'backup'), { recursive: true });
    await write('a', 4);
    expect((await check()).status).toBe('intact');
    for (const suffix of ['', '.checkpoint'])
      cpSync(join(root, 'backup', `a.jsonl${suffix}`), file('a') + suffix);
    const { verdicts } = await check();
    expect(verdicts.find((v) => v.path === file('a'))).toMatchObject({
      status: 'incomplete',
      first_bad: { sequence: 4, what: expect.stringContaining('records 4 to 7 are missing') },
    });
  });

  it('[LED-22] a catalogue that is gone, shortened or edited is found out', async () => {
    const { check, catalog, state } = await project();
    const good = readFileSync(catalog);
    writeFileSync(catalog, good.subarray(0, good.indexOf(10) + 1));
    expect((await check()).status).toBe('incomplete');
    writeFileSync(catalog, Buffer.from(good.toString().replace('audit/b', 'audit/c')));
    expect((await check()).status).toBe('tampered');
    rmSync(catalog);
    expect((await check()).status).toBe('incomplete');
    rmSync(join(state, 'ledger'), { recursive: true });
    const { status, verdicts } = await check();
    expect(status).toBe('incomplete');
    expect(verdicts[0]?.first_bad?.what).toContain('which was listed once');
  });

  it('[LED-22] nothing new is begun over a journal that was removed, until it is retired', async () => {
    const { check, write, remove, ledger, file } = await project();
    remove('b');
    await expect(write('b', 1)).rejects.toMatchObject({
      exit: 5,
      message: expect.stringContaining('that is gone'),
    });
    // The refused attempt left an empty journal, which stays refused.
    await expect(write('b', 1)).rejects.toMatchObject({ exit: 5 });
    if (existsSync(file('b'))) remove('b');
    await ledger.catalog.retire(file('b'), 'older than a year', 'somebody');
    expect((await check()).status).toBe('intact');
    await write('b', 1);
    expect((await check()).status).toBe('intact');
    await expect(ledger.catalog.retire(file('zzz'), 'x', 'y')).rejects.toMatchObject({ exit: 2 });
  });

  it('[LED-22] takes entries of many processes at once', async () => {
    const root = tempDir();
    const program = `
      import { openLedger } from ${JSON.stringify(new URL('../../src/ledger/index.ts', import.meta.url).href)};
      const ledger = openLedger({ stateDir: '.writ' });
      for (const n of [1, 2, 3]) {
        const journal = await ledger.openJournal({ path: 'audit/' + process.argv[1] + n + '.jsonl' });
        await journal.append({ n });
        await journal.close();
      }`;
    const codes = await Promise.all(
      ['a', 'b', 'c'].map(
        (name) =>
          new Promise((resolve) => {
            const child = spawn(process.execPath, ['--input-type=module', '-e', program, name], {
              cwd: root,
              stdio: ['ignore', 'ignore', 'inherit'],
            });
            child.on('close', resolve);
          }),
      ),
    );
    expect(codes).toEqual([0, 0, 0]);
    const { catalog, keys } = statePaths(join(root, '.writ'));
    const verdicts = await verifyState(catalog, usualDirs(join(root, '.writ'), join(root, 'audit')), {
      publicKeys: loadPublicKeys(keys),
    });
    expect(verdicts.map((v) => [v.status, v.records])).toEqual([
      ['intact', 18],
      ...Array.from({ length: 9 }, () => ['intact', 1]),
    ]);
  });
});
