import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/core/index.ts';
import { project } from './project.ts';

const home = project();
afterAll(home.remove);

const POLICY = `
tools:
  no.op: {}
  fs.read: { allow_paths: ["./**"] }
  fs.write: { allow_paths: ["./out/**"] }
  shell.run: { allow_executables: [echo, sleep] }
`;
const plan = (...steps: readonly string[]) =>
  `version: "1.0"\nname: t\nsteps:\n${steps.map((step) => `  - ${step}\n`).join('')}`;

describe('run', () => {
  it('[RUN-05] steps use what earlier ones gave; every call and result is stored with its hashes', async () => {
    const got = await home.run(
      plan(
        '{ tool: fs.write, id: note, args: { path: out/a.txt, content: hello } }',
        '{ tool: fs.read, id: back, args: { path: "${note.data.path}" } }',
        '{ tool: no.op, args: { n: 1, text: "<${back.data.content}>" } }',
      ),
      POLICY,
    );
    expect(got).toMatchObject({
      status: 'completed',
      total_steps: 3,
      completed_steps: 3,
      denied_steps: 0,
      failed_steps: 0,
    });
    expect(got.steps.map((step) => step.status)).toEqual(['success', 'success', 'success']);
    expect(got.steps[2]?.output).toMatchObject({ args: { text: '<hello>' } });
    const db = new DatabaseSync(home.dbPath, { readOnly: true });
    const rows = db
      .prepare(
        'SELECT c.args_json, c.step_index, c.tool_name, c.created_at, r.input_hash, r.output_json, r.output_hash, r.status, r.policy_decision_json, r.started_at, r.ended_at FROM tool_calls c JOIN tool_results r USING (call_id) WHERE c.run_id = ? ORDER BY c.step_index',
      )
      .all(got.run_id);
    expect(rows).toHaveLength(3);
    for (const [i, row] of rows.entries()) {
      expect(row.input_hash).toBe(sha256(String(row.args_json)));
      expect(row.output_hash).toBe(sha256(String(row.output_json)));
      expect(row.input_hash).toBe(got.steps[i]?.input_hash);
      expect(JSON.parse(String(row.policy_decision_json))).toMatchObject({ decision: 'allow' });
    }
    const run = db.prepare('SELECT * FROM runs WHERE run_id = ?').get(got.run_id);
    db.close();
    expect(run).toMatchObject({ mode: 'run', status: 'completed', total_steps: 3, completed_steps: 3 });
    expect(sha256(String(run?.plan_json))).toBe(run?.plan_hash);
    expect(JSON.parse(String(run?.plan_json)).steps).toHaveLength(3);
    expect((await home.verify()).status).toBe('intact');
  });

  it('[RUN-06] stops at the first step that is not a success, or keeps going', async () => {
    const text = plan(
      '{ tool: no.op }',
      '{ tool: fs.read, id: bad, args: { path: /etc/passwd } }',
      '{ tool: no.op, args: { text: "${bad.data.content}" } }',
      '{ tool: fs.read, args: { path: missing } }',
      '{ tool: no.op }',
    );
    const stopped = await home.run(text, POLICY);
    expect(stopped).toMatchObject({
      status: 'failed',
      completed_steps: 1,
      denied_steps: 1,
      failed_steps: 0,
      total_steps: 5,
    });
    expect(stopped.steps.map((s) => s.status)).toEqual([
      'success',
      'denied',
      'skipped',
      'skipped',
      'skipped',
    ]);
    expect(stopped.steps[1]?.decision).toMatchObject({
      decision: 'deny',
      rule: 'fs.read.allow_paths',
      file: 'policy.yaml',
      line: 4,
    });
    const all = await home.run(text, POLICY, { keepGoing: true });
    expect(all.steps.map((s) => s.status)).toEqual(['success', 'denied', 'skipped', 'error', 'success']);
    expect(all).toMatchObject({ status: 'failed', completed_steps: 2, denied_steps: 1, failed_steps: 1 });
    expect(all.steps[2]?.error).toContain('needs the step "bad"');
  });

  it('[RUN-07] unknown and unlisted tools are denied with the tools there are', async () => {
    const got = await home.run(
      plan('{ tool: no.such }', '{ tool: http.get, args: { url: "http://x" } }'),
      POLICY,
      { keepGoing: true },
    );
    expect(got.steps.map((s) => s.status)).toEqual(['denied', 'denied']);
    expect(got.steps[0]?.error).toMatch(/^2002: .*known tools: fs\.read/);
    expect(got.steps[1]?.decision?.rule).toBe('tools');
  });

  it('[RUN-08] quotas count allowed calls only', async () => {
    const text = plan(
      '{ tool: fs.read, args: { path: /etc/passwd } }',
      '{ tool: fs.read, args: { path: out/a.txt } }',
      '{ tool: fs.read, args: { path: out/a.txt } }',
      '{ tool: fs.read, args: { path: out/a.txt } }',
      '{ tool: no.op }',
      '{ tool: no.op }',
    );
    const got = await home.run(
      text,
      'tools: { fs.read: { allow_paths: ["./**"] }, no.op: { max_calls: 1 } }\nmax_calls_per_tool: 2',
      { keepGoing: true },
    );
    expect(got.steps.map((s) => s.status)).toEqual([
      'denied',
      'success',
      'success',
      'denied',
      'success',
      'denied',
    ]);
    expect(got.steps[3]?.decision).toMatchObject({ rule: 'max_calls_per_tool', line: 2 });
    expect(got.steps[5]?.decision).toMatchObject({ rule: 'no.op.max_calls' });
  });

  it('[RUN-09] the time of a step and of the whole run are limits', async () => {
    const slow = await home.run(
      plan('{ tool: shell.run, args: { cmd: [sleep, "20"] }, timeout_seconds: 0.5 }', '{ tool: no.op }'),
      POLICY,
      { keepGoing: true },
    );
    expect(slow.steps.map((s) => s.status)).toEqual(['error', 'success']);
    expect(slow.steps[0]?.error).toMatch(/^2003/);
    const whole = await home.run(
      plan('{ tool: shell.run, args: { cmd: [sleep, "20"] } }', '{ tool: no.op }', '{ tool: no.op }'),
      `${POLICY}global_timeout_seconds: 1\n`,
      { keepGoing: true },
    );
    expect(whole.steps.map((s) => s.status)).toEqual(['error', 'error', 'skipped']);
    expect(whole.steps[1]?.error).toContain('the whole run is over');
    expect(whole.duration_ms).toBeLessThan(10_000);
  });

  it('[RUN-10] secrets are in no table, in no file of the store, and in no output', async () => {
    const token = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a';
    home.file('conf.txt', `password = "correct-horse-battery-9"\ntoken ${token}\n`);
    const got = await home.run(
      plan(
        '{ tool: fs.read, id: conf, args: { path: conf.txt } }',
        '{ tool: fs.write, args: { path: out/copy.txt, content: "${conf.data.content}" } }',
        `{ tool: http.get, args: { url: "http://user:hunter2-very-secret@10.0.0.1/", headers: { Authorization: "Bearer ${token}" } } }`,
      ),
      `${POLICY}  http.get: { allow_domains: [x.example] }\n`,
      { keepGoing: true },
    );
    expect(got.steps.map((s) => s.status)).toEqual(['success', 'success', 'denied']);
    expect(home.read('out/copy.txt')).toContain(token);
    const kept = [JSON.stringify(got), home.read('.writ/writ.db'), home.read('.writ/ledger/runs.jsonl')].join(
      '\n',
    );
    for (const secret of [token, 'correct-horse-battery-9', 'hunter2-very-secret'])
      expect(kept).not.toContain(secret);
    expect((await home.verify()).status).toBe('intact');
    expect((await home.replay(got.run_id)).steps).toEqual(got.steps);
  });

  it('[RUN-11] a long result stored twice costs once', async () => {
    home.file('big.txt', 'lorem ipsum '.repeat(20_000));
    const read = plan('{ tool: fs.read, args: { path: big.txt } }');
    const first = await home.run(read, POLICY);
    const size = () => {
      const db = new DatabaseSync(home.dbPath, { readOnly: true });
      const row = db.prepare('SELECT SUM(LENGTH(body)) AS bytes FROM payloads').get();
      db.close();
      return Number(row?.bytes);
    };
    const before = size();
    const second = await home.run(read, POLICY);
    expect(size()).toBe(before);
    expect(second.steps[0]?.output).toEqual(first.steps[0]?.output);
    expect(String(second.steps[0]?.output?.content)).toHaveLength(240_000);
  });

  it('[RUN-12] group commit keeps every promise but one: steps without effects share a flush', async () => {
    const steps = Array.from({ length: 250 }, (_, n) => `{ tool: no.op, args: { n: ${n} } }`);
    const got = await home.run(
      plan(...steps, '{ tool: fs.write, args: { path: out/g.txt, content: x } }'),
      POLICY,
      { durability: 'group' },
    );
    expect(got).toMatchObject({ status: 'completed', completed_steps: 251 });
    expect(existsSync(join(home.path, 'out/g.txt'))).toBe(true);
    expect((await home.verify()).status).toBe('intact');
  });

  it('two runs at once share one store without forking its chain', async () => {
    const steps = Array.from(
      { length: 40 },
      (_, n) => `{ tool: fs.write, args: { path: out/p${n}, content: x } }`,
    );
    home.file('p.yaml', plan(...steps));
    home.file('policy.yaml', 'tools: { fs.write: { allow_paths: ["./out/**"] } }');
    const codes = await Promise.all(
      [1, 2, 3].map(
        () => new Promise((done) => home.start('run', 'p.yaml', '-p', 'policy.yaml').on('exit', done)),
      ),
    );
    expect(codes).toEqual([0, 0, 0]);
    expect(await home.verify()).toMatchObject({ status: 'intact' });
  });
});
