import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  approve,
  eventsOf,
  flightFile,
  fly,
  lines,
  NOTE_ENGINE,
  nodeEngine,
  resume,
  tempFolders,
  workflow,
} from './kit.ts';
import { valid } from './schemas.ts';

/** What each stage owes the next, told by engines and files. */
const place = tempFolders();
const node = (plan: string, takeOff?: string, more = '') =>
  place({
    'workflow.yaml': workflow(`  - id: one\n    engine: ./engine.mjs\n${more}`),
    'engine.mjs': nodeEngine(plan, takeOff),
  });
const files = (config: string, more = '') =>
  place({
    'workflow.yaml': workflow(`  - id: one\n    engine: files\n    config: ${config}\n${more}`),
    'a.txt': 'one\n',
  });
const CREATE =
  '{ changes: [{ create: new.txt, content: "hi\\n" }, { patch: a.txt, find: one, replace: two }] }';

describe('a plan', () => {
  it('[FLT-O3][FLT-E22] starts with empty folders each time, whatever an earlier one left', async () => {
    const plan =
      "const left = [...fs.readdirSync(A), ...fs.readdirSync(T)]; fs.writeFileSync(T + '/mark', 'x'); ok([put('left', { metadata: { left } })])";
    const dir = place({
      'workflow.yaml': workflow(
        '  - id: one\n    engine: ./engine.mjs\n  - id: two\n    engine: ./engine.mjs\n',
      ),
      'engine.mjs': nodeEngine(plan, 'if (fs.readdirSync(T).length > 0) process.exit(1);'),
    });
    const { code, json } = await fly(dir);
    expect(code).toBe(0);
    for (const step of ['one', 'two']) {
      const seen = readFileSync(
        flightFile(dir, json.flight_id, `steps/${step}/artifacts/left/artifact.json`),
        'utf8',
      );
      expect(JSON.parse(seen).metadata.left).toEqual([]);
    }
  });

  it('[FLT-E4][FLT-F19][FLT-F17] can reach no address, not even on this machine', async () => {
    let reached = 0;
    const server = createServer(() => reached++);
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as { port: number };
    const plan = `const net = await import('node:net');
      const said = await new Promise((done) => { const s = net.connect(${port}, '127.0.0.1'); s.on('connect', () => done('connected')); s.on('error', (e) => done(e.code)); setTimeout(() => done('nothing'), 3000).unref(); });
      ok([put('net', { metadata: { said } })])`;
    const dir = node(plan);
    const { json } = await fly(dir);
    server.close();
    const seen = readFileSync(
      flightFile(dir, json.flight_id, 'steps/one/artifacts/net/artifact.json'),
      'utf8',
    );
    expect(JSON.parse(seen).metadata.said).not.toBe('connected');
    expect(reached).toBe(0);
  });

  it('[FLT-E5][FLT-E17][FLT-F22] of the same workspace by a built-in engine has the same token', async () => {
    const dir = files(CREATE, '    approval: { role: lead }\n');
    const tokens = [await fly(dir), await fly(dir)].map(({ json }) => json.steps[0]?.plan_token);
    expect(tokens[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(tokens[1]).toBe(tokens[0]);
  });

  it('[FLT-E8][FLT-E20] with a configuration that is wrong ends with exit code 2, told as such', async () => {
    const { code, json } = await fly(files('{ changes: [{ rename: a.txt }] }'));
    expect(code).toBe(1);
    expect(json.error?.message).toContain('validation failed (exit code 2)');
  });

  it('[FLT-E2][FLT-E6][FLT-E7][FLT-E15][FLT-F6][FLT-F11] of a built-in engine is a published receipt with hashed artifacts', async () => {
    const dir = files(CREATE);
    const { code, json } = await fly(dir);
    expect(code).toBe(0);
    const wal = lines(flightFile(dir, json.flight_id, 'wal.jsonl'));
    const receipts = wal.flatMap((e) => (e.detail as { patch?: { receipt?: object } }).patch?.receipt ?? []);
    expect(receipts.length).toBe(1);
    valid('EngineOutput', receipts[0]);
    const artifacts = flightFile(dir, json.flight_id, 'steps/one/artifacts');
    for (const name of readdirSync(artifacts))
      valid('Artifact', JSON.parse(readFileSync(join(artifacts, name, 'artifact.json'), 'utf8')));
    expect(readFileSync(join(dir, 'new.txt'), 'utf8')).toBe('hi\n');
    expect(readFileSync(join(dir, 'a.txt'), 'utf8')).toBe('two\n');
  });
});

describe('the plan-token', () => {
  it('[FLT-T3] is made by us alone: what an engine says of it changes nothing', async () => {
    const tokens: (string | null | undefined)[] = [];
    for (const claim of ['', ", { plan_token: 'f'.repeat(64) }"]) {
      const dir = node(`ok([put('a', {}, 'x')]${claim})`, undefined, '    approval: { role: lead }\n');
      const { json } = await fly(dir);
      tokens.push(json.steps[0]?.plan_token);
    }
    expect(tokens[1]).toMatch(/^[0-9a-f]{64}$/);
    expect(tokens[1]).not.toBe('f'.repeat(64));
  });

  it('[FLT-T11][FLT-T10][FLT-E11] is made once, and is the same through approval and take-off', async () => {
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.sh\n    approval: { role: lead }\n'),
      'engine.sh': NOTE_ENGINE,
    });
    const { json } = await fly(dir);
    await resume(dir, json.flight_id);
    await approve(dir, json);
    const done = await resume(dir, json.flight_id);
    expect(done.code).toBe(0);
    expect(done.json.steps[0]?.plan_token).toBe(json.steps[0]?.plan_token);
    const events = eventsOf(dir, json.flight_id);
    expect(events.filter((e) => e.event_type === 'plan_token_created').length).toBe(1);
    expect(events.filter((e) => e.event_type === 'plan_token_verified').length).toBe(2);
  });

  it('[FLT-O20] lies in files of ours alone, signed, out of the sight of engines', async () => {
    const look =
      "let seen = 'none'; try { seen = fs.readdirSync(A + '/../../..').join() } catch (e) { seen = e.code }";
    const dir = node(
      `${look}; ok([put('a', { metadata: { seen } })])`,
      `${look}; fs.writeFileSync(W + '/seen.txt', seen);`,
    );
    const { json } = await fly(dir);
    const flight = flightFile(dir, json.flight_id, '');
    expect(statSync(flight).mode & 0o077).toBe(0);
    for (const name of ['wal.jsonl', 'audit.jsonl', 'state.json'])
      expect(statSync(join(flight, name)).mode & 0o077).toBe(0);
    const planned = readFileSync(join(flight, 'steps/one/artifacts/a/artifact.json'), 'utf8');
    for (const seen of [JSON.parse(planned).metadata.seen, readFileSync(join(dir, 'seen.txt'), 'utf8')])
      expect(seen).not.toContain('wal.jsonl');
    for (const entry of lines(join(flight, 'wal.jsonl'))) expect(entry.detail).toHaveProperty('signature');
  });
});

describe('a take-off', () => {
  it('[FLT-O14][FLT-E9] finds the state artifacts of its plan, byte for byte', async () => {
    const dir = node(
      "ok([{ ...put('plan', {}, 'the plan'), role: 'state' }])",
      "fs.writeFileSync(W + '/used.txt', fs.readFileSync(A + '/plan/body.data'));",
    );
    expect((await fly(dir)).code).toBe(0);
    expect(readFileSync(join(dir, 'used.txt'), 'utf8')).toBe('the plan');
  });

  it.each([
    ['the workflow itself', '    approval: { role: lead }\n', {}],
    [
      'a rule file',
      '    rules: [rules.yaml]\n',
      {
        'rules.yaml':
          'rules:\n  - id: r\n    when: { action: create }\n    decision: require_approval\n    reason: look\n    role: lead\n',
      },
    ],
    [
      'a compiled policy',
      `    policies: [${new URL('../../policies/network.wasm', import.meta.url).pathname}]\n`,
      {},
    ],
  ] as const)('[FLT-A2][FLT-A1] waits when %s asks for a person', async (_, more, extra) => {
    const dir = place({
      'workflow.yaml': workflow(`  - id: one\n    engine: ./engine.sh\n${more}`),
      'engine.sh': NOTE_ENGINE.replace("'hello\\n'", "'az network route-table route update\\n'").replace(
        '"size":6',
        '"size":36',
      ),
      ...extra,
    });
    const { code, json } = await fly(dir);
    expect({ code, state: json.state }).toEqual({ code: 4, state: 'AWAITING_APPROVAL' });
    expect(existsSync(join(dir, 'note.txt'))).toBe(false);
  });
});

describe('the audit events', () => {
  it('[FLT-U2][FLT-U10][FLT-O42] tell the stages in the order they came, each with what it owes', async () => {
    const dir = place({
      'workflow.yaml': workflow('  - id: one\n    engine: ./engine.sh\n    approval: { role: lead }\n'),
      'engine.sh': NOTE_ENGINE,
    });
    const { json } = await fly(dir);
    await approve(dir, json);
    await resume(dir, json.flight_id);
    const events = eventsOf(dir, json.flight_id);
    expect(events.map((e) => e.event_type)).toEqual([
      'workflow_started',
      'environment_prepared',
      'engine_launched',
      'engine_completed',
      'artifacts_validated',
      'plan_token_created',
      'plan_token_verified',
      'preflight_started',
      'preflight_completed',
      'approval_requested',
      'approval_received',
      'plan_token_verified',
      'policy_reevaluated',
      'take_off_started',
      'take_off_completed',
      'step_completed',
      'workflow_completed',
    ]);
    const times = events.map((e) => String(e.timestamp));
    expect([...times].sort()).toEqual(times);
    const judged = events.find((e) => e.event_type === 'preflight_completed');
    expect(judged).toMatchObject({
      policy: {
        decision: 'require_approval',
        aggregation_method: 'most_restrictive',
        policy_evaluations: [{ decision: 'require_approval', severity: 2 }],
      },
    });
  });
});

describe('the engines that come along', () => {
  const folder = new URL('../../src/flight/engines/', import.meta.url);
  it.each(readdirSync(folder))(
    '[FLT-E1][FLT-E19][FLT-E23] %s judges nothing, starts no shell, knows no gateway',
    (name) => {
      const text = readFileSync(new URL(name, folder), 'utf8');
      const imports = [...text.matchAll(/from '([^']+)'/g)].map(([, from]) => from ?? '');
      for (const from of imports)
        expect(from).toMatch(/^(?:node:(?:fs|path|crypto|process|url|os|util)|\.\/|zod)/);
      expect(text).not.toMatch(/\beval\(|new Function|child_process/);
    },
  );
});
