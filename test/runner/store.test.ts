import { spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { project } from './project.ts';

const home = project();
afterAll(home.remove);
const POLICY = 'tools: { no.op: {}, fs.read: { allow_paths: ["./**"] } }';
const PLAN = `version: "1.0"\nsteps:\n  - { tool: no.op, args: { n: 1 } }\n  - { tool: fs.read, args: { path: big.txt } }\n  - { tool: no.op, args: { n: 2 } }\n`;
const FILES = ['writ.db', 'writ.db.checkpoint', 'ledger/runs.jsonl', 'ledger/catalog.jsonl'];
const runs: string[] = [];
let replay = '';

beforeAll(async () => {
  home.file('big.txt', 'text '.repeat(2000));
  for (let i = 0; i < 3; i++) {
    runs.push((await home.run(PLAN, POLICY)).run_id);
    if (i === 1) replay = (await home.replay(runs[0] as string)).run_id;
  }
  for (const file of FILES) copyFileSync(join(home.state, file), join(home.state, `${file}.good`));
});

/** The store as it was, with something done to it, verified. */
async function damaged(damage: (db: DatabaseSync) => void) {
  restore();
  const db = new DatabaseSync(home.dbPath);
  damage(db);
  db.close();
  return home.verify();
}
function restore() {
  for (const suffix of ['-wal', '-shm']) rmSync(`${home.dbPath}${suffix}`, { force: true });
  for (const file of FILES) copyFileSync(join(home.state, `${file}.good`), join(home.state, file));
}

describe('the run store', () => {
  it('[RUN-13] is intact when nobody touched it, and has the tables and columns of the contract', async () => {
    expect(await damaged(() => {})).toMatchObject({ status: 'intact', first_bad: null });
    const db = new DatabaseSync(home.dbPath, { readOnly: true });
    const columns = (table: string) =>
      db
        .prepare(`SELECT name FROM pragma_table_info('${table}')`)
        .all()
        .map((row) => row.name);
    expect(columns('runs')).toEqual(
      expect.arrayContaining([
        'run_id',
        'created_at',
        'completed_at',
        'plan_hash',
        'policy_hash',
        'plan_json',
        'policy_json',
        'mode',
        'status',
        'total_steps',
        'completed_steps',
        'denied_steps',
        'failed_steps',
      ]),
    );
    expect(columns('tool_calls')).toEqual(
      expect.arrayContaining(['call_id', 'run_id', 'step_index', 'tool_name', 'args_json', 'created_at']),
    );
    expect(columns('tool_results')).toEqual(
      expect.arrayContaining([
        'call_id',
        'run_id',
        'status',
        'output_json',
        'error',
        'policy_decision_json',
        'started_at',
        'ended_at',
        'input_hash',
        'output_hash',
      ]),
    );
    expect(db.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
    db.close();
  });

  it('[RUN-14] any cell of any row, changed, is noticed', async () => {
    restore();
    const db = new DatabaseSync(home.dbPath, { readOnly: true });
    const tables = [
      'runs',
      'run_events',
      'tool_calls',
      'tool_results',
      'payloads',
      'run_store',
      'run_store_head',
    ];
    const cells = tables.flatMap((table) =>
      db
        .prepare(`SELECT name, type FROM pragma_table_info('${table}')`)
        .all()
        .map((column) => ({ table, column: String(column.name), type: String(column.type) })),
    );
    db.close();
    for (const { table, column, type } of cells) {
      const verdict = await damaged((store) => {
        store.exec('PRAGMA ignore_check_constraints = ON');
        const value = type === 'INTEGER' ? `COALESCE(${column}, 0) + 1000` : `COALESCE(${column}, '') || 'x'`;
        const first = store.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get();
        const target =
          table === 'run_store_head' || table === 'run_store'
            ? ''
            : `WHERE ${column} IS (SELECT ${column} FROM ${table} LIMIT 1 OFFSET ${Number(first?.n) >> 1})`;
        store.exec(`UPDATE OR IGNORE ${table} SET ${column} = ${value} ${target}`);
      });
      expect([table, column, verdict.status]).toEqual([table, column, 'tampered']);
      expect(verdict.first_bad?.what).toBeTypeOf('string');
    }
  });

  it('[RUN-15] a removed row, the last row, a whole run, an added row, rows in another order: all noticed', async () => {
    const damage: Record<string, (db: DatabaseSync) => void> = {
      'a result': (db) =>
        db.exec('DELETE FROM tool_results WHERE call_id = (SELECT call_id FROM tool_results LIMIT 1)'),
      'a call': (db) =>
        db.exec('DELETE FROM tool_calls WHERE call_id = (SELECT call_id FROM tool_calls LIMIT 1)'),
      'the last event': (db) =>
        db.exec('DELETE FROM run_events WHERE chain_seq = (SELECT MAX(chain_seq) FROM run_events)'),
      'the row of a run': (db) => db.exec(`DELETE FROM runs WHERE run_id = '${runs[1]}'`),
      'a whole run': (db) => {
        for (const table of ['tool_results', 'tool_calls', 'run_events', 'runs'])
          db.exec(`DELETE FROM ${table} WHERE run_id = '${runs[1]}'`);
      },
      'the last run': (db) => {
        for (const table of ['tool_results', 'tool_calls', 'run_events', 'runs'])
          db.exec(`DELETE FROM ${table} WHERE run_id = '${runs[2]}'`);
      },
      everything: (db) => {
        for (const table of ['tool_results', 'tool_calls', 'run_events', 'runs', 'payloads'])
          db.exec(`DELETE FROM ${table}`);
      },
      'a text': (db) => db.exec('DELETE FROM payloads'),
      'a text nobody wrote': (db) => db.exec("INSERT INTO payloads VALUES ('aa', 'x')"),
      'a run nobody started': (db) =>
        db.exec(
          "INSERT INTO runs SELECT 'run_x', created_at, completed_at, plan_hash, policy_hash, plan_json, policy_json, mode, status, total_steps, completed_steps, denied_steps, failed_steps, replay_of, working_dir, plan_file, policy_file, redactions FROM runs LIMIT 1",
        ),
      'a result nobody got': (db) =>
        db.exec(
          "INSERT INTO tool_results SELECT 'x', run_id, status, output_json, error, policy_decision_json, started_at, ended_at, input_hash, output_hash, redactions, chain_seq + 1000, row_hash FROM tool_results LIMIT 1",
        ),
      'another order': (db) => db.exec('UPDATE run_events SET chain_seq = -chain_seq WHERE chain_seq = 1'),
      'no tables': (db) => db.exec('DROP TABLE tool_results'),
    };
    for (const [what, work] of Object.entries(damage)) {
      const verdict = await damaged(work);
      expect([what, verdict.status]).toEqual([what, 'tampered']);
    }
  });

  it('[RUN-16] even a forger who rebuilds the whole chain is caught by what was signed', async () => {
    const { rowHash, CHAINED, genesis } = await import('../../src/runner/store/format-v1.ts');
    const verdict = await damaged((db) => {
      for (const table of ['tool_results', 'tool_calls', 'run_events', 'runs'])
        db.exec(`DELETE FROM ${table} WHERE run_id = '${runs[2]}'`);
      const store = db.prepare('SELECT * FROM run_store').get();
      let head: string = genesis(String(store?.store_id), String(store?.created_at), String(store?.anchor));
      const links = (Object.keys(CHAINED) as (keyof typeof CHAINED)[]).flatMap((table) =>
        db
          .prepare(`SELECT * FROM ${table}`)
          .all()
          .map((row) => ({ table, row })),
      );
      links.sort((a, b) => Number(a.row.chain_seq) - Number(b.row.chain_seq));
      for (const [i, { table, row }] of links.entries()) {
        head = rowHash(
          table,
          i + 1,
          head,
          CHAINED[table].map((column) => row[column] as string),
        );
        db.prepare(`UPDATE ${table} SET row_hash = ? WHERE chain_seq = ?`).run(head, Number(row.chain_seq));
      }
      const count = (table: string) => Number(db.prepare(`SELECT COUNT(*) AS n FROM ${table}`).get()?.n);
      db.prepare(
        'UPDATE run_store_head SET seq = ?, hash = ?, runs = ?, events = ?, calls = ?, results = ?',
      ).run(
        links.length,
        head,
        count('runs'),
        count('run_events'),
        count('tool_calls'),
        count('tool_results'),
      );
    });
    expect(verdict).toMatchObject({
      status: 'tampered',
      first_bad: { what: expect.stringMatching(/ledger|checkpoint/) },
    });
  });

  it('[RUN-17] an older copy put back is noticed, with or without its checkpoint', async () => {
    restore();
    for (const file of ['writ.db', 'writ.db.checkpoint'])
      copyFileSync(join(home.state, file), join(home.state, `${file}.old`));
    await home.run(PLAN, POLICY);
    const put = (file: string) => copyFileSync(join(home.state, `${file}.old`), join(home.state, file));
    for (const suffix of ['-wal', '-shm']) rmSync(`${home.dbPath}${suffix}`, { force: true });
    put('writ.db');
    expect(await home.verify()).toMatchObject({ status: 'tampered' });
    put('writ.db.checkpoint');
    expect(await home.verify()).toMatchObject({
      status: 'tampered',
      first_bad: { what: expect.stringContaining('older copy') },
    });
    // And nothing signs over it: the rows that come next can never fit what the ledger knows.
    await home.run(PLAN, POLICY).catch(() => undefined);
    expect((await home.verify()).status).toBe('tampered');
  });

  it('[RUN-18] a missing or forged checkpoint, a missing database, a missing ledger: noticed', async () => {
    restore();
    const checkpoint = `${home.dbPath}.checkpoint`;
    rmSync(checkpoint);
    expect(await home.verify()).toMatchObject({ status: 'incomplete' });
    await expect(home.run(PLAN, POLICY)).rejects.toMatchObject({ code: 5004, exit: 5 });
    restore();
    const page = readFileSync(checkpoint, 'latin1');
    writeFileSync(checkpoint, page.replace(/"seq":\d+/, '"seq":1'), 'latin1');
    expect(await home.verify()).toMatchObject({ status: 'tampered' });
    restore();
    rmSync(join(home.state, 'ledger/runs.jsonl'));
    expect(await home.verify()).toMatchObject({ status: 'incomplete' });
    restore();
    renameSync(home.dbPath, `${home.dbPath}.away`);
    expect(await home.verify()).toMatchObject({ status: 'incomplete' });
    expect(home.writ('audit', 'verify', '--json')).toMatchObject({ code: 5 });
    renameSync(`${home.dbPath}.away`, home.dbPath);
  });

  it('property: one flipped byte anywhere in the file is noticed, or changes nothing that was recorded', async () => {
    restore();
    const good = readFileSync(home.dbPath);
    const before = [...runs, replay].map((id) => JSON.stringify(home.document(id)));
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        restore();
        const bytes = Buffer.from(good);
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        writeFileSync(home.dbPath, bytes);
        const verdict = await home.verify();
        if (verdict.status !== 'intact') return;
        // Free pages and header counters hold no record: what can be read must then be what was written.
        expect([...runs, replay].map((id) => JSON.stringify(home.document(id)))).toEqual(before);
      }),
      { numRuns: 60 },
    );
    restore();
  });

  it('[RUN-19] a database from a newer version, a locked and a full one: a numbered error, and the store still verifies', async () => {
    restore();
    const db = new DatabaseSync(home.dbPath);
    db.exec("INSERT INTO schema_migrations VALUES ('runner', 99, 'x')");
    db.close();
    await expect(home.run(PLAN, POLICY)).rejects.toMatchObject({ code: 5003 });
    restore();
    const lock = new DatabaseSync(home.dbPath);
    lock.exec('BEGIN IMMEDIATE');
    await expect(home.run(PLAN, POLICY)).rejects.toMatchObject({
      code: 5002,
      suggestion: expect.any(String),
    });
    lock.exec('ROLLBACK');
    lock.close();
    expect((await home.verify()).status).toBe('intact');
  }, 60_000);

  // A disk of its own that can be filled: a small tmpfs in a mount namespace.
  const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0;
  it.skipIf(!canMount)(
    '[RUN-20] on a full disk: a numbered error, and the store still verifies',
    () => {
      const small = project();
      small.file(
        'policy.yaml',
        'tools: { fs.read: { allow_paths: ["./**"] }, shell.run: { allow_executables: [seq] } }',
      );
      const steps = (n: number) =>
        Array.from({ length: n }, (_, i) => ({
          tool: 'shell.run',
          args: { cmd: ['seq', `${i}00000`, `${i}20000`] },
        }));
      small.file('small.json', JSON.stringify({ version: '1.0', steps: steps(1) }));
      small.file('large.json', JSON.stringify({ version: '1.0', steps: steps(25) }));
      const script = `
      mkdir -m 700 .writ && mount -t tmpfs -o size=2m,mode=700 tmpfs .writ || exit 99
      "$@" run small.json -p policy.yaml --json > first.json || exit 98
      "$@" run large.json -p policy.yaml --json > second.json 2> second.err
      echo $? > second.code
      "$@" audit verify --json > verify.json
      "$@" list-runs --json > runs.json`;
      const writ = fileURLToPath(new URL('../../bin/writ.js', import.meta.url));
      const got = spawnSync('unshare', ['-rm', 'sh', '-c', script, 'sh', process.execPath, writ], {
        cwd: small.path,
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect([got.status, got.stderr]).toEqual([0, expect.any(String)]);
      expect(small.read('second.code').trim()).toBe('1');
      expect(JSON.parse(small.read('second.json')).error).toMatchObject({
        code: 5001,
        message: expect.stringContaining('full'),
        suggestion: expect.any(String),
      });
      const { files } = JSON.parse(small.read('verify.json'));
      const store = files.find((file: { path: string }) => file.path.endsWith('writ.db'));
      expect(['intact', 'not_established']).toContain(store.status);
      small.remove();
    },
    60_000,
  );
});
