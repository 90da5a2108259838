import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FlightStatus } from '../../src/flight/index.ts';
import {
  approve,
  eventsOf,
  flightFile,
  fly,
  inProcess,
  later,
  lines,
  NOTE_ENGINE,
  nodeEngine,
  resume,
  tempFolders,
  workflow,
} from './kit.ts';
import { valid } from './schemas.ts';

/** Every document a flight leaves behind, whatever its end, against the published schemas. */
const place = tempFolders();
const one = '  - id: one\n    engine: ./engine.sh\n';
const waiting = `${one}    approval: { role: lead, expires: 1h }\n`;
const engine = (plan: string, takeOff?: string) => ({
  'workflow.yaml': workflow('  - id: one\n    engine: ./engine.mjs\n'),
  'engine.mjs': nodeEngine(plan, takeOff),
});
const note = (steps: string) => ({ 'workflow.yaml': workflow(steps), 'engine.sh': NOTE_ENGINE });

async function parked() {
  const dir = place(note(waiting));
  const { json } = await fly(dir);
  return { dir, json, id: json.flight_id };
}

interface Ending {
  readonly dir: string;
  readonly id: string;
  readonly code: number;
  readonly json: FlightStatus;
}

const flown = async (files: Record<string, string>): Promise<Ending> => {
  const dir = place(files);
  const { code, json } = await fly(dir);
  return { dir, code, json, id: json.flight_id };
};

const endings: readonly (readonly [string, number, string, () => Promise<Ending>])[] = [
  ['completed', 0, 'workflow_completed', () => flown(note(one))],
  [
    'approved and completed',
    0,
    'approval_received',
    async () => {
      const { dir, json, id } = await parked();
      await approve(dir, json);
      return { dir, id, ...(await resume(dir, id)) };
    },
  ],
  ['waiting', 4, 'approval_requested', () => flown(note(waiting))],
  ['denied', 3, 'preflight_completed', () => flown(engine("ok([put('a', {}, 'sudo rm -rf / ')])"))],
  [
    'rejected',
    3,
    'approval_refused',
    async () => {
      const { dir, json, id } = await parked();
      const no = { approved: false, approver: 'ada', role: 'lead', reason: 'not today' };
      await inProcess(dir, ({ queue }) => queue.respond(json.pending_approvals[0] ?? '', no));
      return { dir, id, ...(await resume(dir, id)) };
    },
  ],
  [
    'expired',
    3,
    'approval_refused',
    async () => {
      const { dir, id } = await parked();
      return { dir, id, ...(await later(dir, id, 2 * 3_600_000)) };
    },
  ],
  ['failed plan', 1, 'engine_completed', () => flown(engine("console.log('x'); ok([])"))],
  [
    'failed take-off',
    1,
    'take_off_completed',
    () => flown(engine("ok([put('a', {}, 'x')])", 'process.exit(1);')),
  ],
  [
    'invalid artifacts',
    1,
    'artifacts_invalid',
    () => flown(engine("const a = put('a', {}, 'x'); ok([{ ...a, size: 9 }])")),
  ],
  [
    'changed after the token',
    5,
    'plan_token_mismatch',
    async () => {
      const { dir, json, id } = await parked();
      await approve(dir, json);
      appendFileSync(flightFile(dir, id, 'steps/one/artifacts/note/body.data'), 'x');
      return { dir, id, ...(await resume(dir, id)) };
    },
  ],
  [
    'crashed and recovered',
    4,
    'recovered',
    async () => {
      const { dir, id } = await parked();
      appendFileSync(flightFile(dir, id, 'wal.jsonl'), '{"torn');
      return { dir, id, ...(await resume(dir, id)) };
    },
  ],
];

describe('whatever the end of a flight', () => {
  it.each(endings)(
    '[FLT-O43][FLT-U7][FLT-T2][FLT-P11] %s: all it wrote is valid',
    async (_, exit, said, end) => {
      const { dir, id, code } = await end();
      expect(code).toBe(exit);
      const events = eventsOf(dir, id);
      expect(events.map((e) => e.event_type)).toContain(said);
      for (const event of events) {
        valid('AuditEvent', event);
        valid('State', event.workflow_state);
        if (event.policy !== undefined) {
          valid('AuditPolicy', event.policy);
          expect(event.policy).toHaveProperty('aggregation_method');
        }
      }
      for (const entry of lines(flightFile(dir, id, 'wal.jsonl'))) {
        const { detail, ...published } = entry;
        valid('WALEntry', published);
        const { approval_request, patch } = detail as {
          approval_request?: object;
          patch?: { token?: object };
        };
        if (approval_request !== undefined) valid('ApprovalRequest', approval_request);
        if (patch?.token !== undefined) valid('PlanToken', patch.token);
      }
      valid(
        'WorkflowStateRecord',
        JSON.parse(readFileSync(flightFile(dir, id, 'state.json'), 'utf8')).record,
      );
    },
  );

  it('[FLT-O55][FLT-O57] damage halts with a valid critical event, and the log is left as it is', async () => {
    const { dir, id } = await parked();
    const wal = flightFile(dir, id, 'wal.jsonl');
    const damaged = readFileSync(wal, 'utf8').replace('PLAN_RUNNING', 'PLAN_RUNNINg');
    writeFileSync(wal, damaged);
    const answer = await resume(dir, id);
    expect(answer).toMatchObject({ code: 5, error: expect.stringContaining('wal.jsonl line') });
    const halt = eventsOf(dir, id).at(-1);
    valid('AuditEvent', halt);
    expect(halt).toMatchObject({ event_type: 'integrity_halt', severity: 'critical' });
    expect(readFileSync(wal, 'utf8')).toBe(damaged);
    expect(existsSync(join(dir, 'note.txt'))).toBe(false);
  });
});

describe('what engines are told', () => {
  it('[FLT-O7][FLT-O15][FLT-E14] both inputs are the published document; a take-off is told its token', async () => {
    const { dir, id, json, code } = await flown(
      engine(
        "ok([put('input', { metadata: { input } })])",
        "fs.writeFileSync(W + '/input.json', JSON.stringify(input));",
      ),
    );
    expect(code).toBe(0);
    const planned = JSON.parse(
      readFileSync(flightFile(dir, id, 'steps/one/artifacts/input/artifact.json'), 'utf8'),
    ).metadata.input;
    const flying = JSON.parse(readFileSync(join(dir, 'input.json'), 'utf8'));
    for (const input of [planned, flying]) valid('EngineInput', input);
    expect(planned).toMatchObject({
      mode: 'flight-plan',
      meta: { workflow_id: 'test-flow', step_id: 'one' },
      orchestrator: { run_index: 0 },
    });
    expect(planned).not.toHaveProperty('expected_plan_token');
    expect(flying).toMatchObject({ mode: 'take-off', expected_plan_token: json.steps[0]?.plan_token });
    expect(flying.orchestrator).toEqual(planned.orchestrator);
  });

  it('[FLT-P3][FLT-F21] judges get the published preflight input, with what the artifacts say', async () => {
    const { createServer } = await import('node:http');
    const inputs: Record<string, unknown>[] = [];
    const server = createServer((request, response) => {
      let body = '';
      request.on('data', (chunk) => {
        body += chunk;
      });
      request.on('end', () => {
        if (body !== '') inputs.push(JSON.parse(body).input);
        response.end(JSON.stringify({ result: request.method === 'GET' ? [] : { decision: 'allow' } }));
      });
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address() as { port: number };
    const url = `http://127.0.0.1:${address.port}/v1/data/writ/preflight`;
    const dir = place(note(`${one}    context: { ticket: NET-1 }\n    policies: [{ opa: "${url}" }]\n`));
    const { code, json } = await fly(dir);
    server.close();
    expect({ code, decision: json.steps[0]?.decision }).toEqual({ code: 0, decision: 'allow' });
    expect(inputs.length).toBe(2);
    for (const input of inputs) {
      valid('PreflightInput', input);
      expect(input).toMatchObject({
        workflow_id: 'test-flow',
        step_id: 'one',
        engine_output: { engine_id: 'note', artifacts: [{ name: 'note', role: 'state' }] },
        evidence: [{ name: 'note' }],
        context: { ticket: 'NET-1', artifacts: [{ name: 'note', target: 'note.txt' }] },
        plan_token: { token: json.steps[0]?.plan_token },
      });
    }
    expect(JSON.stringify(inputs[0])).toContain('hello');
  });
});
