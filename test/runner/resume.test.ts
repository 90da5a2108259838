import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { project, type RunDocument } from './project.ts';

const home = project();
afterAll(home.remove);
const plan = (...steps: readonly string[]) =>
  `version: "1.0"\nsteps:\n${steps.map((step) => `  - ${step}\n`).join('')}`;
const ref = (text: string) => `$\{${text}}`;

/** Waits for the end of a child, also of one that has ended already. */
async function ended(child: ReturnType<typeof home.start>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise((done) => child.once('exit', done));
}

/** Waits until a child has said something on stderr. */
async function until(child: ReturnType<typeof home.start>, words: string): Promise<void> {
  let text = '';
  child.stderr.on('data', (chunk) => {
    text += chunk;
  });
  const end = Date.now() + 20_000;
  while (!text.includes(words) && Date.now() < end) await delay(20);
  expect(text).toContain(words);
}

describe('approvals', () => {
  const POLICY =
    'tools: { no.op: {}, fs.write: { allow_paths: ["./out/**"], require_approval: ["./out/guarded/**"] }, fs.read: { allow_paths: ["./**"] } }';
  const PLAN = plan(
    '{ tool: fs.write, id: one, args: { path: out/free.txt, content: one } }',
    '{ tool: fs.write, id: two, args: { path: out/guarded/x.txt, content: two } }',
    `{ tool: no.op, args: { text: "${ref('two.data.path')}" } }`,
  );
  const answer = async (approvalId: string, approved: boolean) => {
    const queue = home.queue();
    const result = await queue.respond(approvalId, { approved, approver: 'alice', assertedBy: 'alice' });
    await queue.close();
    return result;
  };
  const waiting = async () => {
    const got = await home.run(PLAN, POLICY);
    expect(got.status).toBe('waiting');
    const approval = got.steps[1]?.decision?.approval_id ?? '';
    return { got, approval };
  };

  it('[RUN-21] a step that needs a yes parks the run, and nothing of it happens', async () => {
    const { got, approval } = await waiting();
    expect(got.steps.map((s) => s.status)).toEqual(['success', 'waiting', 'skipped']);
    expect(got.steps[1]?.decision).toMatchObject({
      decision: 'require_approval',
      rule: 'fs.write.require_approval',
      line: 1,
    });
    expect(approval).toMatch(/^appr_/);
    expect(existsSync(join(home.path, 'out/guarded/x.txt'))).toBe(false);
    const still = await home.resume(got.run_id, PLAN, POLICY);
    expect(still).toMatchObject({ status: 'waiting', completed_steps: 1 });
  });

  it('[RUN-22] after the yes it goes on where it stood; the yes serves once', async () => {
    const { got, approval } = await waiting();
    expect(await answer(approval, true)).toMatchObject({ ok: true });
    const done = await home.resume(got.run_id, PLAN, POLICY);
    expect(done).toMatchObject({ status: 'completed', completed_steps: 3 });
    expect(done.steps[1]?.decision).toMatchObject({
      decision: 'allow',
      approval_id: approval,
      approver: 'alice',
    });
    expect(done.steps[2]?.output).toMatchObject({ args: { text: join(home.path, 'out/guarded/x.txt') } });
    expect(home.read('out/guarded/x.txt')).toBe('two');
    await expect(home.resume(got.run_id, PLAN, POLICY)).rejects.toMatchObject({ exit: 2 });
    expect((await home.verify()).status).toBe('intact');
    expect((await home.replay(got.run_id)).steps).toEqual(done.steps);
  });

  it('[RUN-23] a no is a denial', async () => {
    const { got, approval } = await waiting();
    await answer(approval, false);
    const done = await home.resume(got.run_id, PLAN, POLICY);
    expect(done.steps.map((s) => s.status)).toEqual(['success', 'denied', 'skipped']);
    expect(done.steps[1]?.decision).toMatchObject({ decision: 'deny', rule: 'fs.write.require_approval' });
  });

  it('[RUN-24] a run is resumed only with the plan and policy it was started with', async () => {
    const { got } = await waiting();
    await expect(
      home.resume(got.run_id, PLAN.replace('content: two', 'content: evil'), POLICY),
    ).rejects.toThrow(/plan is not the one/);
    await expect(
      home.resume(got.run_id, PLAN, POLICY.replace('fs.read', 'http.get: {}, fs.read')),
    ).rejects.toThrow(/policy is not the one/);
  });
});

describe('runs that were cut off', () => {
  const POLICY =
    'tools: { shell.run: { allow_executables: [touch, sleep, echo] }, fs.write: { allow_paths: ["./out/**"] } }';
  /** Starts a run and kills it while its second step sleeps. */
  async function cutOff(): Promise<string> {
    home.file('policy.yaml', POLICY);
    home.file(
      'slow.yaml',
      plan(
        '{ tool: fs.write, id: a, args: { path: out/a.txt, content: a } }',
        '{ tool: shell.run, id: nap, args: { cmd: [sleep, "30"] } }',
        `{ tool: fs.write, args: { path: out/c.txt, content: "n=${ref('a.data.size_bytes')}" } }`,
      ),
    );
    const child = home.start('run', 'slow.yaml', '-p', 'policy.yaml', '--verbose');
    await until(child, '[2/3] shell.run');
    await delay(400);
    // While it lives, nobody else goes on with it.
    const { runs: live } = home.writ('list-runs', '--json').json();
    const second = home.writ('run', '--resume', live[0].run_id, '--retry-unknown', '--json');
    expect([second.code, second.json().error]).toMatchObject([
      1,
      { code: 5002, message: expect.stringContaining('another process') },
    ]);
    child.kill('SIGKILL');
    await ended(child);
    const { runs } = home.writ('list-runs', '--json').json();
    return runs[0].run_id;
  }

  it('[RUN-25] a step whose outcome is not on record is unknown: reported, not run again', async () => {
    const id = await cutOff();
    expect(home.document(id).steps.map((s) => s.status)).toEqual(['success', 'unknown', 'skipped']);
    expect(['intact', 'not_established']).toContain((await home.verify()).status);
    const reported = home.writ('run', '--resume', id, '--json');
    expect(reported.code).toBe(1);
    expect(reported.json().steps.map((s: { status: string }) => s.status)).toEqual([
      'success',
      'unknown',
      'skipped',
    ]);
    expect(reported.stderr).toContain('--retry-unknown');
    expect(home.writ('run', '--resume', id).code).toBe(1);
    const skipped = home.writ('run', '--resume', id, '--skip-unknown', '--json').json() as RunDocument;
    expect(skipped.steps.map((s) => s.status)).toEqual(['success', 'unknown', 'success']);
    expect(skipped).toMatchObject({ status: 'failed', completed_steps: 2, failed_steps: 1 });
    expect(home.read('out/c.txt')).toBe('n=1');
    expect((await home.verify()).status).toBe('intact');
  }, 60_000);

  it('[RUN-26] told to, it tries the step again and keeps both tries on record', async () => {
    const id = await cutOff();
    // The second try would sleep as well: the plan's own limit ends it.
    const child = home.start('run', '--resume', id, '--retry-unknown', '--verbose');
    await until(child, '[2/3] shell.run');
    await delay(500);
    child.kill('SIGTERM');
    await ended(child);
    const got = home.document(id);
    expect(got.status).toBe('interrupted');
    expect(got.steps[1]?.status).toBe('unknown');
    expect(got.steps[1]?.error).toContain('was stopped while this step ran');
    const db = new DatabaseSync(home.dbPath, { readOnly: true });
    expect(
      db.prepare('SELECT COUNT(*) AS n FROM tool_calls WHERE run_id = ? AND step_index = 1').get(id),
    ).toEqual({ n: 2 });
    db.close();
    expect((await home.verify()).status).toBe('intact');
  }, 60_000);

  it('[RUN-27] killed at any moment, no acknowledged step is lost and the store verifies', async () => {
    const victim = project();
    victim.file('policy.yaml', 'tools: { fs.write: { allow_paths: ["./out/**"] } }');
    victim.file(
      'plan.json',
      JSON.stringify({
        version: '1.0',
        steps: Array.from({ length: 400 }, (_, i) => ({
          tool: 'fs.write',
          args: { path: `out/${i}.txt`, content: `${i}` },
        })),
      }),
    );
    const rounds = process.env.WRIT_LONG ? 60 : 3;
    for (let round = 0; round < rounds; round++) {
      const child = victim.start('run', 'plan.json', '-p', 'policy.yaml', '--verbose');
      let text = '';
      child.stderr.on('data', (chunk) => {
        text += chunk;
      });
      // From the first acknowledged step on: what nobody was told about cannot be lost.
      for (let i = 0; i < 100 && !text.includes('success') && child.exitCode === null; i++) await delay(50);
      await delay(100 + Math.random() * 300);
      child.kill('SIGKILL');
      await ended(child);
      const { runs } = victim.writ('list-runs', '--json').json();
      if (runs.length === 0 || runs[0].status !== 'running') continue;
      const { steps } = victim.document(runs[0].run_id);
      // Each step's intent is on disk before the step, so whatever was written is known of.
      const known = steps.filter((s) => s.status === 'success' || s.status === 'unknown').length;
      const written = existsSync(join(victim.path, 'out')) ? readdirSync(join(victim.path, 'out')).length : 0;
      if (round === 0) expect(written).toBeLessThanOrEqual(known);
      expect(steps.filter((s) => s.status === 'unknown').length).toBeLessThanOrEqual(1);
      const acknowledged = (text.match(/fs\.write success/g) ?? []).length;
      expect(steps.filter((s) => s.status === 'success').length).toBeGreaterThanOrEqual(acknowledged - 1);
      expect(['intact', 'not_established']).toContain((await victim.verify()).status);
    }
    // A later run signs for all of it again.
    victim.file(
      'one.json',
      JSON.stringify({
        version: '1.0',
        steps: [{ tool: 'fs.write', args: { path: 'out/x', content: 'x' } }],
      }),
    );
    expect(victim.writ('run', 'one.json', '-p', 'policy.yaml').code).toBe(0);
    expect((await victim.verify()).status).toBe('intact');
    victim.remove();
  }, 120_000);

  it('an interrupted run stops between steps and can go on', async () => {
    home.file(
      'many.json',
      JSON.stringify({
        version: '1.0',
        steps: Array.from({ length: 7 }, (_, i) => ({
          tool: 'shell.run',
          args: { cmd: ['sleep', '0.2'] },
          id: `s${i}`,
        })),
      }),
    );
    const child = home.start('run', 'many.json', '-p', 'policy.yaml', '--verbose');
    await until(child, '[3/7]');
    child.kill('SIGINT');
    await ended(child);
    const { runs } = home.writ('list-runs', '--json').json();
    expect(runs[0].status).toBe('interrupted');
    expect(home.writ('run', '--resume', runs[0].run_id).code).toBe(1);
    expect(home.writ('run', '--resume', runs[0].run_id, '--retry-unknown').code).toBe(0);
    expect(readFileSync(join(home.state, 'ledger/runs.jsonl'), 'utf8')).toContain(runs[0].run_id);
    expect((await home.verify()).status).toBe('intact');
  }, 60_000);
});
