import { chmodSync, copyFileSync, cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { project, type RunDocument } from './project.ts';

/** A replay refers to the rows it replayed: what that must not cost. */
const POLICY =
  'tools: { no.op: {}, fs.read: { allow_paths: ["./**"] }, fs.write: { allow_paths: ["./out/**"], require_approval: ["./out/guarded/**"] } }';
const steps = (...list: readonly string[]) =>
  `version: "1.0"\nsteps:\n${list.map((step) => `  - ${step}\n`).join('')}`;

describe('the rows of a replay', () => {
  const home = project();
  afterAll(home.remove);
  const sql = <T>(work: (db: DatabaseSync) => T): T => {
    const db = new DatabaseSync(home.dbPath);
    try {
      return work(db);
    } finally {
      db.close();
    }
  };
  const PLAN = steps(
    '{ tool: no.op, id: a, args: { n: 1 } }',
    '{ tool: fs.read, args: { path: big.txt } }',
    '{ tool: fs.read, args: { path: /etc/passwd } }',
  );
  let original: RunDocument;
  let first: RunDocument;
  let second: RunDocument;
  const good = () => `${home.dbPath}.good`;

  beforeAll(async () => {
    home.file('big.txt', 'text '.repeat(2000));
    original = await home.run(PLAN, POLICY);
    first = await home.replay(original.run_id);
    second = await home.replay(first.run_id);
    copyFileSync(home.dbPath, good());
  });
  const restore = () => {
    for (const suffix of ['-wal', '-shm']) rmSync(`${home.dbPath}${suffix}`, { force: true });
    copyFileSync(good(), home.dbPath);
  };

  it('[RUN-41] are those of the run it replayed, also for the replay of a replay; SQL finds them in run_steps', () => {
    const rows = sql((db) => ({
      calls: db.prepare('SELECT DISTINCT run_id FROM tool_calls').all(),
      results: db.prepare('SELECT DISTINCT run_id FROM tool_results').all(),
      told: db.prepare("SELECT run_id, detail_json FROM run_events WHERE event = 'replayed'").all(),
      view: [original, first, second].map(({ run_id }) =>
        db
          .prepare('SELECT tool_name, status, output_hash FROM run_steps WHERE run_id = ? ORDER BY call_id')
          .all(run_id),
      ),
    }));
    expect(rows.calls).toEqual([{ run_id: original.run_id }]);
    expect(rows.results).toEqual([{ run_id: original.run_id }]);
    const told = rows.told.map(({ detail_json }) => JSON.parse(String(detail_json)));
    expect(told[0]).toEqual({
      of: original.run_id,
      through: expect.any(Number),
      calls: 3,
      results: 3,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(told[1]).toEqual(told[0]);
    expect(rows.view[0]).toHaveLength(3);
    expect(rows.view[1]).toEqual(rows.view[0]);
    expect(rows.view[2]).toEqual(rows.view[0]);
  });

  it('[RUN-41] readers show them under the replay: show-run, report in every form, list-runs, policy diff', () => {
    home.file('other.yaml', 'tools: { fs.read: { allow_paths: ["./**", "/etc/passwd"] } }');
    expect(home.writ('show-run', first.run_id, '--json').json().steps).toEqual(original.steps);
    const report = home.writ('report', second.run_id, '--json').json();
    expect(report.steps.map((step: { call_id: string }) => step.call_id)).toEqual(
      [0, 1, 2].map((i) => `${second.run_id}.00000${i}`),
    );
    expect(home.writ('report', second.run_id).stdout).toContain('/etc/passwd');
    expect(home.writ('report', second.run_id, '--format', 'html').stdout).toContain('/etc/passwd');
    const diff = home.writ('policy', 'diff', second.run_id, '--policy', 'other.yaml', '--json').json();
    expect(diff.changed[0]).toMatchObject({ run_id: second.run_id, step: 2, before: 'deny', after: 'allow' });
  });

  const id = () => `${original.run_id}.000001`;
  const DAMAGE: Record<string, () => string> = {
    'a time': () => `UPDATE tool_results SET ended_at = '2020' WHERE call_id = '${id()}'`,
    'a fact': () => `UPDATE tool_calls SET facts_json = '{}' WHERE call_id = '${id()}'`,
    'a result': () => `DELETE FROM tool_results WHERE call_id = '${id()}'`,
    'the last step': () =>
      `DELETE FROM tool_calls WHERE call_id = '${original.run_id}.000002'; DELETE FROM tool_results WHERE call_id = '${original.run_id}.000002'`,
    'every trace of the original': () =>
      ['tool_results', 'tool_calls', 'run_events', 'runs']
        .map((table) => `DELETE FROM ${table} WHERE run_id = '${original.run_id}'`)
        .join(';'),
  };
  it.each(Object.keys(DAMAGE))('[RUN-42] damage to them shows in the replay: %s', async (what) => {
    restore();
    sql((db) => db.exec((DAMAGE[what] as () => string)()));
    expect(() => home.document(first.run_id)).toThrow(original.run_id);
    await expect(home.replay(first.run_id)).rejects.toMatchObject({ code: 4001 });
    expect((await home.verify()).status).toBe('tampered');
    // A replay that failed has left nothing behind.
    const count = sql((db) => db.prepare("SELECT COUNT(*) AS n FROM runs WHERE mode = 'replay'").get()?.n);
    expect(count).toBe(2);
    restore();
    expect((await home.verify()).status).toBe('intact');
  });

  it('[RUN-42] commands that show a damaged replay print one error and nothing else', () => {
    restore();
    sql((db) => db.exec((DAMAGE['a time'] as () => string)()));
    for (const command of ['show-run', 'report']) {
      const got = home.writ(command, first.run_id, '--json');
      expect([got.code, got.json().error.code]).toEqual([5, 5004]);
      expect(got.json().error.suggestion).toContain('audit verify');
    }
    restore();
  });

  it('[RUN-42] a changed or missing long text names the step that has it', async () => {
    for (const damage of ["UPDATE payloads SET body = body || ' '", 'DELETE FROM payloads']) {
      restore();
      sql((db) => db.exec(damage));
      for (const { run_id } of [original, first])
        await expect(home.replay(run_id)).rejects.toMatchObject({ code: 4001, context: { step: 1 } });
      expect(() => home.document(first.run_id)).toThrow(/the text/);
    }
    restore();
  });

  it('[RUN-42] the verifier checks what a replay says of its rows, also when the chain was rebuilt around it', async () => {
    const { scanStore, readIdentity } = await import('../../src/runner/store/scan.ts');
    const { rowHash } = await import('../../src/runner/store/format-v1.ts');
    restore();
    sql((db) => {
      const identity = readIdentity(db);
      if (!identity) throw new Error('no identity');
      expect(scanStore(db, identity, new Set()).bad).toBeUndefined();
      const event = db
        .prepare("SELECT * FROM run_events WHERE event = 'replayed' ORDER BY chain_seq DESC")
        .get();
      const seq = Number(event?.chain_seq);
      // The last replay now says that one step less was there; every hash after it is made anew.
      const detail = String(event?.detail_json).replace('"calls":3', '"calls":2');
      let prev = String(
        db.prepare('SELECT row_hash FROM run_events WHERE chain_seq = ?').get(seq - 1)?.row_hash,
      );
      db.prepare('UPDATE run_events SET detail_json = ? WHERE chain_seq = ?').run(detail, seq);
      for (const row of db
        .prepare('SELECT * FROM run_events WHERE chain_seq >= ? ORDER BY chain_seq')
        .all(seq)) {
        const cells = ['run_id', 'event', 'at', 'detail_json', 'run_json'].map((name) => String(row[name]));
        prev = rowHash('run_events', Number(row.chain_seq), prev, cells);
        db.prepare('UPDATE run_events SET row_hash = ? WHERE chain_seq = ?').run(prev, Number(row.chain_seq));
      }
      db.prepare('UPDATE run_store_head SET hash = ?').run(prev);
      expect(scanStore(db, identity, new Set()).bad).toMatchObject({
        seq,
        what: expect.stringContaining(second.run_id),
      });
    });
    restore();
  });
});

describe('the replay of a run that waits', () => {
  const home = project();
  afterAll(home.remove);
  const PLAN = steps(
    '{ tool: no.op, args: { n: 1 } }',
    '{ tool: fs.write, args: { path: out/guarded/x.txt, content: x } }',
    '{ tool: no.op, args: { n: 2 } }',
  );

  it('[RUN-28] shows what was there, byte for byte, and still does when the run has gone on', async () => {
    const parked = await home.run(PLAN, POLICY);
    expect(parked.steps.map((step) => step.status)).toEqual(['success', 'waiting', 'skipped']);
    const before = await home.replay(parked.run_id);
    expect(before.steps).toEqual(parked.steps);
    const queue = home.queue();
    const approval = parked.steps[1]?.decision?.approval_id ?? '';
    await queue.respond(approval, { approved: true, approver: 'alice', assertedBy: 'alice' });
    await queue.close();
    const done = await home.resume(parked.run_id, PLAN, POLICY);
    expect(done.status).toBe('completed');
    expect(home.document(before.run_id)).toEqual(before);
    expect((await home.replay(before.run_id)).steps).toEqual(parked.steps);
    expect((await home.replay(parked.run_id)).steps).toEqual(done.steps);
    await expect(home.resume(before.run_id, PLAN, POLICY)).rejects.toMatchObject({ exit: 2 });
    expect((await home.verify()).status).toBe('intact');
  });
});

describe('a store of version 1', () => {
  const GOLDEN = fileURLToPath(new URL('golden/store-v1/', import.meta.url));
  const home = project();
  afterAll(home.remove);
  const wanted = JSON.parse(readFileSync(join(GOLDEN, 'replay.json'), 'utf8')) as RunDocument & {
    replay_of: string;
  };

  beforeAll(() => {
    cpSync(GOLDEN, home.state, { recursive: true });
    for (const folder of ['.', 'keys', 'ledger']) chmodSync(join(home.state, folder), 0o700);
    const db = new DatabaseSync(home.dbPath);
    db.exec(readFileSync(join(GOLDEN, 'writ.db.sql'), 'utf8'));
    db.exec('PRAGMA journal_mode = WAL');
    db.close();
    for (const file of ['writ.db', 'writ.db.checkpoint']) chmodSync(join(home.state, file), 0o600);
  });
  const version = () => {
    const db = new DatabaseSync(home.dbPath, { readOnly: true });
    const row = db
      .prepare("SELECT MAX(version) AS version FROM schema_migrations WHERE room = 'runner'")
      .get();
    db.close();
    return row?.version;
  };

  it('[RUN-43] is read and verified as it is, with the rows its replays repeated', async () => {
    expect((await home.verify()).status).toBe('intact');
    const {
      mode,
      replay_of,
      verified: _verified,
      ...document
    } = wanted as typeof wanted & Record<string, unknown>;
    expect(home.document(wanted.run_id)).toEqual(document);
    const shown = home.writ('show-run', wanted.run_id, '--json').json();
    expect(shown).toMatchObject({ mode, replay_of, steps: wanted.steps });
    expect(home.writ('list-runs', '--json').json().runs).toHaveLength(2);
    expect(version()).toBe(1);
  });

  it('[RUN-43] is brought up to date by the first replay, of a run and of a replay with rows of its own', async () => {
    for (const run of [wanted.replay_of, wanted.run_id])
      expect((await home.replay(run)).steps).toEqual(wanted.steps);
    expect(version()).toBe(2);
    expect(home.document(wanted.run_id).steps).toEqual(wanted.steps);
    expect((await home.verify()).status).toBe('intact');
  });
});
