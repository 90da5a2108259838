import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFlight, resumeFlight } from '../../src/flight/index.ts';
import { flightFile, fly, inProcess, NOTE_ENGINE, nodeEngine, tempFolders, workflow, writ } from './kit.ts';
import { valid } from './schemas.ts';

const place = tempFolders();
const one = '  - id: one\n    engine: ./engine.sh\n';
const approved = `${one}    approval: { role: lead, expires: 4h }\n`;

describe('a flight', () => {
  it('[FLT-O9][FLT-P1][FLT-O1][FLT-O23] runs all stages in order and completes with exit 0', async () => {
    const dir = place({ 'workflow.yaml': workflow(one), 'engine.sh': NOTE_ENGINE });
    const { code, json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json']);
    expect(code).toBe(0);
    expect(Object.keys(json)).toEqual([
      'flight_id',
      'workflow_id',
      'state',
      'steps',
      'pending_approvals',
      'error',
    ]);
    expect(json).toMatchObject({
      state: 'COMPLETED',
      steps: [{ id: 'one', state: 'COMPLETED', decision: 'warn' }],
    });
    expect(readFileSync(join(dir, 'note.txt'), 'utf8')).toBe('hello\n');
    const wal = readFileSync(flightFile(dir, json.flight_id, 'wal.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const states = wal.map((line) => JSON.parse(line).detail.state).filter((s) => s !== undefined);
    expect(states).toEqual([
      'PLAN_RUNNING',
      'PLAN_GENERATED',
      'ARTIFACTS_VALIDATED',
      'TOKEN_CREATED',
      'PRE_FLIGHT_RUNNING',
      'PREFLIGHT_COMPLETE',
      'READY_FOR_TAKEOFF',
      'TAKEOFF_RUNNING',
      'EXECUTION_COMPLETE',
      'COMPLETED',
    ]);
  });

  it('[FLT-O11][FLT-O12][FLT-O18][FLT-O24][FLT-O29][FLT-T6][FLT-T14][FLT-U1][FLT-U8][FLT-O46][FLT-O43][FLT-O45][FLT-O47][FLT-U7] events, token, record and log entries fit the published schemas', async () => {
    const dir = place({ 'workflow.yaml': workflow(approved), 'engine.sh': NOTE_ENGINE });
    const { json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json']);
    const id = json.pending_approvals[0] ?? '';
    await writ(dir, ['approvals', 'approve', id, '--as', 'ada', '--role', 'lead', '--reason', 'fine']);
    expect((await writ(dir, ['flight', 'resume', json.flight_id, '--json'])).code).toBe(0);
    const events = readFileSync(flightFile(dir, json.flight_id, 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const types = new Set<string>();
    for (const line of events) {
      const event = JSON.parse(line);
      types.add(event.event_type);
      valid('AuditEvent', event);
      if (event.plan_token) valid('PlanToken', event.plan_token);
    }
    for (const type of [
      'workflow_started',
      'environment_prepared',
      'engine_launched',
      'engine_completed',
      'artifacts_validated',
      'plan_token_created',
      'plan_token_verified',
      'preflight_completed',
      'approval_requested',
      'approval_received',
      'take_off_started',
      'take_off_completed',
      'step_completed',
      'workflow_completed',
    ])
      expect(types).toContain(type);
    for (const line of readFileSync(flightFile(dir, json.flight_id, 'wal.jsonl'), 'utf8')
      .trim()
      .split('\n')) {
      const { detail, ...entry } = JSON.parse(line);
      valid('WALEntry', entry);
      if (detail.approval_request) valid('ApprovalRequest', detail.approval_request);
    }
    valid(
      'WorkflowStateRecord',
      JSON.parse(readFileSync(flightFile(dir, json.flight_id, 'state.json'), 'utf8')).record,
    );
  });

  it('[FLT-O26][FLT-O27][FLT-A5][FLT-A12][FLT-P9][FLT-O25][FLT-O28][FLT-O30][FLT-A9][FLT-A16] waits with exit 4, refuses the wrong role, goes on after an approval from another process', async () => {
    const dir = place({ 'workflow.yaml': workflow(approved), 'engine.sh': NOTE_ENGINE });
    const { code, json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json']);
    expect(code).toBe(4);
    expect(json.state).toBe('AWAITING_APPROVAL');
    const id = json.pending_approvals[0] ?? '';
    expect((await writ(dir, ['flight', 'resume', json.flight_id, '--json'])).code).toBe(4);
    expect((await writ(dir, ['approvals', 'approve', id, '--as', 'ada', '--role', 'other'])).code).toBe(3);
    expect(existsSync(join(dir, 'note.txt'))).toBe(false);
    expect((await writ(dir, ['approvals', 'approve', id, '--as', 'ada', '--role', 'lead'])).code).toBe(0);
    const done = await writ(dir, ['flight', 'resume', json.flight_id, '--json']);
    expect(done.code).toBe(0);
    expect((await writ(dir, ['flight', 'resume', json.flight_id, '--json'])).code).toBe(0);
    expect(readFileSync(join(dir, 'note.txt'), 'utf8')).toBe('hello\n');
    const verified = await writ(dir, ['audit', 'verify', '--json']);
    expect(JSON.parse(verified.out).status).toBe('intact');
  });

  it('[FLT-A1] a rejection and an expiry end the flight with exit 3', async () => {
    const dir = place({
      'workflow.yaml': workflow(approved),
      'soon.yaml': workflow(`${one}    approval: { role: lead, expires: 1s }\n`),
      'engine.sh': NOTE_ENGINE,
    });
    const { json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json']);
    const id = json.pending_approvals[0] ?? '';
    await writ(dir, ['approvals', 'reject', id, '--as', 'ada', '--role', 'lead', '--reason', 'no']);
    const rejected = await writ(dir, ['flight', 'resume', json.flight_id, '--json']);
    expect(rejected.code).toBe(3);
    expect(rejected.json).toMatchObject({
      state: 'FAILED',
      error: { message: expect.stringContaining('rejected by ada') },
    });
    const soon = await writ(dir, ['flight', 'run', 'soon.yaml', '--json']);
    await new Promise((done) => setTimeout(done, 1100));
    const late = await writ(dir, ['flight', 'resume', soon.json.flight_id, '--json']);
    expect(late.code).toBe(3);
    expect(late.json.error?.message).toContain('expired');
    expect(existsSync(join(dir, 'note.txt'))).toBe(false);
  });

  it.each([
    [
      'an artifact',
      (dir: string, id: string) =>
        appendFileSync(flightFile(dir, id, 'steps/one/artifacts/note/body.data'), 'x'),
      /artifact/,
    ],
    ['the workspace', (dir: string) => writeFileSync(join(dir, 'new.txt'), 'x'), /the workspace changed/],
    [
      'the engine',
      (dir: string) => appendFileSync(join(dir, 'engine.sh'), '\n# more\n'),
      /the engine's executable changed/,
    ],
    [
      'a policy',
      (dir: string) => appendFileSync(join(dir, 'rules.yaml'), '# more\n'),
      /policies, rules or models changed/,
    ],
  ])(
    '[FLT-O13][FLT-P10][FLT-A10][FLT-F7][FLT-F9][FLT-O19][FLT-O21][FLT-T7][FLT-T9][FLT-O52][FLT-O53][FLT-T10] %s changed after the token: exit 5, named, critical event',
    async (_, change, said) => {
      const rules =
        'rules:\n  - id: r\n    when: { action: create }\n    decision: require_approval\n    reason: look\n    role: lead\n';
      const dir = place({
        'workflow.yaml': workflow(`${one}    rules: [rules.yaml]\n`),
        'engine.sh': NOTE_ENGINE,
        'rules.yaml': rules,
      });
      const { json, code } = await fly(dir);
      expect(code).toBe(4);
      await inProcess(dir, ({ queue }) =>
        queue.respond(json.pending_approvals[0] ?? '', { approved: true, approver: 'ada', role: 'lead' }),
      );
      change(dir, json.flight_id);
      const done = await inProcess(dir, (deps) => resumeFlight(deps, json.flight_id));
      expect(done.exit).toBe(5);
      expect(done.status.error?.message).toMatch(said);
      expect(existsSync(join(dir, 'note.txt'))).toBe(false);
      const events = readFileSync(flightFile(dir, json.flight_id, 'audit.jsonl'), 'utf8');
      expect(events).toContain('"severity":"critical"');
      expect(events).toContain('"plan_token_match":false');
    },
  );

  it('[FLT-O55] a changed workflow.yaml on resume is an integrity error', async () => {
    const dir = place({ 'workflow.yaml': workflow(approved), 'engine.sh': NOTE_ENGINE });
    const { json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json']);
    appendFileSync(join(dir, 'workflow.yaml'), '# more\n');
    const answer = await writ(dir, ['flight', 'resume', json.flight_id, '--json']);
    expect(answer.code).toBe(5);
  });

  it.each([
    ['an unknown key', 'id: x\nstepz: []\n'],
    ['a missing engine', workflow('  - id: one\n    engine: ./none.sh\n')],
    ['a missing policy', workflow(`${one}    policies: [none.wasm]\n`)],
    ['a missing model', workflow(`${one}    models: [none.onnx]\n`)],
    ['two steps of one name', workflow(`${one}${one}`)],
    ['a missing secret', workflow(`${one}    secrets: [NOT_SET_ANYWHERE]\n`)],
    ['no steps', 'id: x\nsteps: []\n'],
  ])('%s is a usage error before anything runs', async (_, text) => {
    const dir = place({ 'workflow.yaml': text, 'engine.sh': NOTE_ENGINE });
    expect((await fly(dir)).code).toBe(2);
    expect(
      existsSync(join(dir, '.writ', 'flights')) ? readdirSync(join(dir, '.writ', 'flights')) : [],
    ).toEqual([]);
  });

  it('[FLT-O2][FLT-O4][FLT-O5][FLT-E3][FLT-E14][FLT-U11][FLT-O7][FLT-F3][FLT-O6][FLT-E13] an engine sees the contract, its secrets on stdin, and nothing of ours', async () => {
    const plan = `
      let state = 'none'; try { state = fs.readdirSync(W + '/.writ').join(',') } catch (e) { state = e.code }
      let wrote = 'no'; try { fs.writeFileSync(W + '/x.txt', 'x'); wrote = 'yes' } catch {}
      const left = fs.readdirSync(T).length; fs.writeFileSync(T + '/mark', 'x');
      ok([put('seen', { metadata: { env: Object.keys(process.env).sort(), names: input.allowed_secrets, got: input.secrets.MY_TOKEN.length, state, wrote, left } })]);`;
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n    secrets: [MY_TOKEN]\n'),
      'engine.mjs': nodeEngine(plan, "if (fs.existsSync(T + '/mark')) process.exit(1);"),
    });
    const { code, json } = await writ(dir, ['flight', 'run', 'workflow.yaml', '--json'], {
      MY_TOKEN: 'tell-nobody-9',
      OTHER: 'ambient',
    });
    expect(code).toBe(0);
    const seen = JSON.parse(
      readFileSync(flightFile(dir, json.flight_id, 'steps/one/artifacts/seen/artifact.json'), 'utf8'),
    ).metadata;
    expect(seen.env.filter((n: string) => !n.startsWith('CABINCREW_'))).toEqual(
      ['HOME', 'LANG', 'PATH', 'PWD'].filter((n) => seen.env.includes(n)),
    );
    for (const name of ['WORKSPACE', 'ARTIFACTS_DIR', 'TEMP_DIR', 'MODE'])
      expect(seen.env).toContain(`CABINCREW_${name}`);
    expect(seen).toMatchObject({ names: ['MY_TOKEN'], got: 13, wrote: 'no', left: 0 });
    expect(seen.state).not.toContain('keys');
    for (const name of ['wal.jsonl', 'audit.jsonl', 'state.json'])
      expect(readFileSync(flightFile(dir, json.flight_id, name), 'utf8')).not.toContain('tell-nobody-9');
  });
});

describe('preflight rules', () => {
  const judged = async (plan: string, more = '') => {
    const dir = place({
      'workflow.yaml': workflow(`  - id: one\n    engine: ./engine.mjs\n${more}`),
      'engine.mjs': nodeEngine(plan),
    });
    const answer = await fly(dir, 'workflow.yaml', { env: { MY_TOKEN: 'tell-nobody-9' } });
    return { ...answer, dir };
  };

  it.each([
    ['a destructive command', "ok([put('a', {}, 'sudo rm -rf / ')])"],
    ['the same in pieces', "ok([put('a', { body: { argv: ['rm', '-r', '-f', '/'] } })])"],
    [
      'a secret by its shape',
      "ok([put('a', {}, 'aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYzz9Q2KLM4t')])",
    ],
    ['a path outside', "ok([put('a', { artifact_type: 'file', target: '../../etc/passwd' }, 'x')])"],
    ['an absolute path', "ok([put('a', { artifact_type: 'file', target: '/etc/passwd' }, 'x')])"],
  ])('[FLT-O22][FLT-P7] %s is denied with exit 3', async (_, plan) => {
    // The workflow asks for an approval as well: the denial is the stricter.
    const { code, json, dir } = await judged(plan, '    approval: { role: lead }\n');
    expect({ code, decision: json.steps[0]?.decision, state: json.state }).toEqual({
      code: 3,
      decision: 'deny',
      state: 'FAILED',
    });
    expect(existsSync(join(dir, 'done.txt'))).toBe(false);
  });

  it('the very value of a mapped secret is found, and not repeated', async () => {
    const { code, json, dir } = await judged(
      "ok([put('a', {}, 'x ' + Buffer.from(input.secrets.MY_TOKEN).toString('base64'))])",
      '    secrets: [MY_TOKEN]\n',
    );
    expect(code).toBe(3);
    expect(json.error?.message).toContain('MY_TOKEN');
    expect(readFileSync(flightFile(dir, json.flight_id, 'audit.jsonl'), 'utf8')).not.toContain(
      'tell-nobody-9',
    );
  });

  it('[FLT-P5][FLT-T8] a compiled policy asks for its role; a broken one denies', async () => {
    const wasm = new URL('../../policies/network.wasm', import.meta.url).pathname;
    const asks = await judged(
      "ok([put('a', {}, 'az network route-table route update')])",
      `    policies: [${wasm}]\n`,
    );
    expect(asks.code).toBe(4);
    const list = JSON.parse((await writ(asks.dir, ['approvals', 'list', '--json'])).out);
    expect(list.approvals[0]).toMatchObject({
      required_role: 'network-lead',
      plan_token_hash: asks.json.steps[0]?.plan_token,
    });
    const model = new URL('../../models/secrets.onnx', import.meta.url).pathname;
    const seen = await judged(
      "ok([put('a', {}, 'token: xk29 dd if=/dev/zero of=disk.img')])",
      `    models: [${model}]\n`,
    );
    const shown = await inProcess(seen.dir, ({ ledger }) => readFlight(ledger, seen.json.flight_id));
    expect(shown.record.steps[0]?.evaluations?.map((e) => e.evaluator)).toContain('onnx:secrets.onnx');
    const broken = place({
      'workflow.yaml': workflow(`${one}    policies: [bad.wasm]\n`),
      'engine.sh': NOTE_ENGINE,
      'bad.wasm': 'junk',
    });
    expect((await fly(broken)).code).toBe(3);
  });
});

describe('bad engines', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['extra output', "console.log('hi'); ok([])", /malformed receipt/],
    ['no output', '', /malformed receipt/],
    ['two receipts', 'ok([]); ok([])', /malformed receipt/],
    ['a huge receipt', "ok([], { error: 'x'.repeat(6e6) })", /malformed receipt/],
    ['wrong types', 'ok([], { metrics: [{ name: 1, value: "a" }] })', /malformed receipt/],
    ['an unknown field', 'ok([], { extra: 1 })', /malformed receipt/],
    ['the wrong mode', "ok([], { mode: 'take-off' })", /malformed receipt/],
    ['a failure', "ok([], { status: 'failure', error: 'no such route' })", /no such route/],
    ['exit code 2', 'ok([]); process.exitCode = 2', /validation failed/],
    ['a false hash', "const a = put('a', {}, 'x'); ok([{ ...a, hash: '0'.repeat(64) }])", /hash is/],
    ['a false size', "const a = put('a', {}, 'x'); ok([{ ...a, size: 9 }])", /size is/],
    [
      'a missing artifact',
      "const a = put('a', {}, 'x'); fs.rmSync(A + '/a', { recursive: true }); ok([a])",
      /missing/,
    ],
    ['an unnamed file', "put('a', {}, 'x'); ok([])", /in no receipt/],
    [
      'a name that escapes',
      "const a = put('a', {}, 'x'); ok([{ ...a, name: '../a', path: '../a' }])",
      /".."/,
    ],
    [
      'a symlink',
      "const a = put('a', {}, 'x'); fs.rmSync(A + '/a/body.data'); fs.symlinkSync('/etc/hostname', A + '/a/body.data'); ok([a])",
      /symbolic link/,
    ],
    [
      'a linked folder',
      "const a = put('a', {}, 'x'); fs.cpSync(A + '/a', T + '/a', { recursive: true }); fs.rmSync(A + '/a', { recursive: true }); fs.symlinkSync(T + '/a', A + '/a'); ok([a])",
      /symbolic link/,
    ],
    ['colliding names', "ok([put('Ab', {}, 'x'), put('ab', {}, 'x')])", /two artifacts/],
    ['the same name twice', "const a = put('a', {}, 'x'); ok([a, a])", /two artifacts/],
    ['a hostile name', "ok([put('a\\u202eb', {}, 'x')])", /hide or steer/],
    ['an unknown role', "const a = put('a', {}, 'x'); ok([{ ...a, role: 'secret' }])", /malformed receipt/],
    ['a body file outside', "const a = put('a', { body_file: '../x' }); ok([a])", /body_file/],
    ['an unknown key in artifact.json', "ok([put('a', { role: 'state' }, 'x')])", /artifact.json/],
    [
      'a device',
      "const a = put('a', {}, 'x'); fs.rmSync(A + '/a/body.data'); fs.mkdirSync(A + '/a/body.data'); ok([a])",
      /not a plain file/,
    ],
  ];
  it.each(cases)(
    '[FLT-O36][FLT-O37][FLT-O38][FLT-O39][FLT-O40][FLT-P4][FLT-F1][FLT-F2][FLT-F4][FLT-F12][FLT-F13][FLT-F14][FLT-F16][FLT-F18][FLT-E21][FLT-O10][FLT-O41] %s fails the flight',
    async (_, plan, said) => {
      const dir = place({
        'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n'),
        'engine.mjs': nodeEngine(plan),
      });
      const { code, json } = await fly(dir);
      expect({ code, state: json.state }).toEqual({ code: 1, state: 'FAILED' });
      expect(json.error?.message).toMatch(said);
      expect(existsSync(join(dir, 'done.txt'))).toBe(false);
    },
  );

  it('[FLT-E18] one that ignores TERM and forks is gone when its time is up', async () => {
    const mark = `9${Date.now()}`;
    const plan = `process.on('SIGTERM', () => {}); const { spawn } = await import('node:child_process');
      spawn('setsid', ['sleep', '${mark}'], { detached: true, stdio: 'ignore' }).unref(); setInterval(() => {}, 1000);`;
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n    timeout: 1s\n'),
      'engine.mjs': nodeEngine(plan),
    });
    const { code, json } = await fly(dir);
    expect(code).toBe(1);
    expect(json.error?.message).toContain('did not end within 1s');
    const alive = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(mark));
    expect(alive).toEqual([]);
  });

  it('[FLT-O8] without isolation a changed workspace is found by its hash', async () => {
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n    isolation: none\n'),
      'engine.mjs': nodeEngine("fs.writeFileSync(W + '/sneaky.txt', 'x'); ok([])"),
    });
    const { code, json } = await fly(dir);
    expect(code).toBe(5);
    expect(json.error?.message).toContain('workspace changed during flight-plan');
  });
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
