import { spawnSync } from 'node:child_process';
import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRunStores } from '../../src/runner/index.ts';
import { project } from './project.ts';

/** Folders, disks and files that are not as one would like them. */
const home = project();
afterAll(home.remove);
const POLICY = 'tools: { no.op: {}, fs.read: { allow_paths: ["./**"] } }';
const PLAN = 'version: "1.0"\nsteps:\n  - { tool: fs.read, args: { path: plan.yaml } }\n';
let runId: string;

beforeAll(async () => {
  home.file('plan.yaml', PLAN);
  home.file('policy.yaml', 'tools: { fs.read: { allow_paths: ["./**"] } }');
  runId = (await home.run(PLAN, POLICY)).run_id;
});

describe('a store that cannot be reached', () => {
  it('[RUN-44] held by another process or newer than the program, it is never called tampered', async () => {
    const other = new DatabaseSync(home.dbPath);
    other.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    try {
      expect(await home.verify()).toMatchObject({
        status: 'not_established',
        first_bad: { what: expect.stringContaining('another process is writing') },
      });
    } finally {
      other.close();
    }
    const db = new DatabaseSync(home.dbPath);
    db.exec("INSERT INTO schema_migrations VALUES ('runner', 99, 'x')");
    expect(await home.verify()).toMatchObject({
      status: 'not_established',
      first_bad: { what: expect.stringContaining('version 99') },
    });
    db.exec('DELETE FROM schema_migrations WHERE version = 99');
    db.close();
    expect((await home.verify()).status).toBe('intact');
  }, 30_000);

  const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;
  it.skipIf(!canMount)(
    '[RUN-44] in a read-only folder it is read and verified; what writes says what is wrong and changes nothing',
    () => {
      const writ = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));
      const script = `
        mount --bind .writ .writ && mount -o remount,bind,ro .writ || exit 99
        for command in "report ${runId}" "list-runs" "show-run ${runId}" "audit verify" "replay ${runId}" "run plan.yaml -p policy.yaml"; do
          "$@" $command --json 2> /dev/null > got.json
          echo "$command" $? >> codes
          cat got.json >> documents
        done`;
      for (const suffix of ['-wal', '-shm']) rmSync(`${home.dbPath}${suffix}`, { force: true });
      const got = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', process.execPath, writ], {
        cwd: home.path,
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect([got.status, got.stderr]).toEqual([0, '']);
      const codes = home.read('codes').trimEnd().split('\n');
      expect(codes.map((line) => Number(line.split(' ').at(-1)))).toEqual([0, 0, 0, 0, 1, 1]);
      const documents = home.read('documents').trimEnd().split('\n');
      const [report, list, shown, verified, replay, run] = documents.map((text) => JSON.parse(text));
      expect(report.run.run_id).toBe(runId);
      expect(list.runs).toHaveLength(1);
      expect(shown.steps).toHaveLength(1);
      expect(verified.status).toBe('intact');
      for (const { error } of [replay, run])
        expect(error).toMatchObject({ code: 5001, suggestion: expect.stringContaining('ls -l') });
    },
    70_000,
  );
});

describe('a store in the place of another', () => {
  const aside = join(home.path, 'aside.db');
  const removed = () => {
    for (const suffix of ['', '.checkpoint', '-wal', '-shm'])
      rmSync(`${home.dbPath}${suffix}`, { force: true });
  };

  it('[RUN-45] does not hide that the other is gone', async () => {
    copyFileSync(home.dbPath, aside);
    copyFileSync(`${home.dbPath}.checkpoint`, `${aside}.checkpoint`);
    removed();
    await home.run(PLAN, POLICY);
    expect(await home.verify()).toMatchObject({
      status: 'incomplete',
      first_bad: { what: expect.stringContaining('another store stood here, with 1 runs') },
    });
    removed();
    renameSync(aside, home.dbPath);
    renameSync(`${aside}.checkpoint`, `${home.dbPath}.checkpoint`);
    // The first is back; now it is the second that is missed.
    expect((await home.verify()).status).toBe('incomplete');
  });

  it('[RUN-45] is fine once the other was retired; a retired one may be missing, and is checked while it is there', async () => {
    const retire = () => home.writ('audit', 'retire', '.writ/writ.db', '--reason', 'retention', '--json');
    expect(retire().json()).toEqual({ path: '.writ/writ.db', retired: true });
    expect((await home.verify()).status).toBe('intact');
    expect(findRunStores(home.state)).toEqual([home.dbPath]);
    removed();
    expect(findRunStores(home.state)).toEqual([]);
    expect(home.writ('audit', 'verify', '--json').code).toBe(0);
    await home.run(PLAN, POLICY);
    expect((await home.verify()).status).toBe('intact');
    removed();
    expect(home.writ('audit', 'verify', '--json')).toMatchObject({ code: 5 });
  });
});
