import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { project, type RunDocument } from './project.ts';

const home = project();
afterAll(home.remove);
const ref = (text: string) => `$\{${text}}`;
const PLAN = `version: "1.0"
steps:
  - { tool: fs.write, id: a, args: { path: out/a.txt, content: "héllo" } }
  - { tool: fs.read, id: b, args: { path: out/a.txt } }
  - { tool: shell.run, id: c, args: { cmd: [date, "+%N"] } }
  - { tool: no.op, args: { text: "${ref('b.data.content')} at ${ref('c.data.stdout')} $${ref('x')}" } }
  - { tool: fs.read, args: { path: /etc/passwd } }
`;
const POLICY =
  'tools: { no.op: {}, fs.read: { allow_paths: ["./**"] }, fs.write: { allow_paths: ["./out/**"] }, shell.run: { allow_executables: [date] } }';
let original: RunDocument;

beforeAll(async () => {
  original = await home.run(PLAN, POLICY);
});

describe('replay', () => {
  it('[RUN-28] is a new run with the same steps byte for byte, also again and of a replay', async () => {
    expect(original.steps.map((s) => s.status)).toEqual([
      'success',
      'success',
      'success',
      'success',
      'denied',
    ]);
    expect(original.steps[3]?.output).toMatchObject({
      args: { text: expect.stringMatching(/^héllo at \d+\n \$\{x\}$/) },
    });
    const first = await home.replay(original.run_id);
    const second = await home.replay(first.run_id);
    for (const replayed of [first, second]) {
      expect(JSON.stringify(replayed.steps)).toBe(JSON.stringify(original.steps));
      const { run_id: _a, ...mine } = replayed;
      const { run_id: _b, ...theirs } = original;
      expect(mine).toEqual(theirs);
    }
    const db = new DatabaseSync(home.dbPath, { readOnly: true });
    expect(db.prepare('SELECT mode, replay_of FROM runs WHERE run_id = ?').get(first.run_id)).toMatchObject({
      mode: 'replay',
      replay_of: original.run_id,
    });
    db.close();
    expect((await home.verify()).status).toBe('intact');
  });

  it('[RUN-29] a plan, policy or argument that differs is a mismatch that names the first step', async () => {
    const cases: readonly (readonly [{ plan?: string; policy?: string }, number])[] = [
      [{ plan: PLAN.replace('+%N', '+%s') }, 2],
      [{ plan: PLAN.replace('héllo', 'hello') }, 0],
      [{ plan: `${PLAN}  - { tool: no.op }\n` }, 5],
      [{ plan: PLAN.split('\n').slice(0, -2).join('\n') }, 4],
      [{ policy: POLICY.replace('./out/**', './other/**') }, 0],
      [{ policy: POLICY.replace('[date]', '[]') }, 2],
      [{ policy: POLICY.replace('["./**"]', '["./**", "/etc/passwd"]') }, 4],
    ];
    for (const [given, step] of cases) {
      const error = await home.replay(original.run_id, given).catch((e) => e);
      expect(error).toMatchObject({ code: 4001, context: { step }, suggestion: expect.any(String) });
      expect(error.message).toContain(`step ${step}`);
    }
    expect((await home.replay(original.run_id, { plan: PLAN, policy: POLICY })).steps).toEqual(
      original.steps,
    );
    const { runs } = home.writ('list-runs', '--json').json();
    // Nothing of a replay that diverged is kept.
    expect(runs.every((run: { status: string }) => run.status !== 'running')).toBe(true);
    expect((await home.verify()).status).toBe('intact');
  });

  it('[RUN-30] a changed input, output or row stops it; --verify says so with exit 5', async () => {
    for (const suffix of ['-wal', '-shm']) rmSync(`${home.dbPath}${suffix}`, { force: true });
    const good = readFileSync(home.dbPath);
    const damage = async (sql: string) => {
      for (const suffix of ['-wal', '-shm']) rmSync(`${home.dbPath}${suffix}`, { force: true });
      writeFileSync(home.dbPath, good);
      const db = new DatabaseSync(home.dbPath);
      db.exec(sql);
      db.close();
    };
    const second = `${original.run_id}.000001`;
    await damage(
      `UPDATE tool_calls SET args_json = replace(args_json, 'a.txt', 'b.txt') WHERE call_id = '${second}'`,
    );
    await expect(home.replay(original.run_id)).rejects.toMatchObject({ code: 4001, context: { step: 1 } });
    await damage(
      `UPDATE tool_results SET output_json = replace(output_json, 'h', 'H') WHERE call_id = '${second}'`,
    );
    await expect(home.replay(original.run_id)).rejects.toMatchObject({ code: 4001, context: { step: 1 } });
    await damage(`UPDATE tool_results SET ended_at = '2020' WHERE call_id = '${second}'`);
    const verified = home.writ('replay', original.run_id, '--verify', '--json');
    expect(verified.code).toBe(5);
    expect(verified.json().error).toMatchObject({ code: 5004 });
    writeFileSync(home.dbPath, good);
    for (const suffix of ['-wal', '-shm']) rmSync(`${home.dbPath}${suffix}`, { force: true });
    expect(home.writ('replay', original.run_id, '--verify', '--json').code).toBe(0);
    expect(home.writ('replay', 'run_nope').code).toBe(2);
  });

  const bubblewrap = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0;
  it.skipIf(!bubblewrap)(
    '[RUN-31] has no effect: it works without network, on a disk that is read-only but for the store',
    () => {
      const writ = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));
      const args = [
        '--ro-bind',
        '/',
        '/',
        '--dev',
        '/dev',
        '--proc',
        '/proc',
        '--unshare-net',
        '--unshare-pid',
        '--die-with-parent',
        '--bind',
        home.state,
        home.state,
        '--chdir',
        home.path,
        process.execPath,
        writ,
        'replay',
        original.run_id,
        '--verify',
        '--json',
      ];
      rmSync(join(home.path, 'out'), { recursive: true });
      const got = spawnSync('bwrap', args, { encoding: 'utf8', timeout: 30_000 });
      expect([got.status, got.stderr]).toEqual([0, '']);
      expect(JSON.parse(got.stdout).steps).toEqual(original.steps);
      expect(JSON.parse(got.stdout)).toMatchObject({
        mode: 'replay',
        replay_of: original.run_id,
        verified: true,
      });
    },
  );
});
