import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateApprovals } from '../src/authority/index.ts';
import { systemClock, systemIds } from '../src/core/index.ts';
import { type FlightDeps, listFlights, runFlight } from '../src/flight/index.ts';
import { openLedger } from '../src/ledger/index.ts';
import { type Bench, type BenchRow, median } from './bench.ts';

const NOOP = `#!/bin/sh
printf '{"protocol_version":"1.0","engine_id":"noop","mode":"%s","receipt_id":"r","status":"success"}' "$CABINCREW_MODE"
`;
const STEPS = 5;

/** What the orchestrator adds to a step whose engine does nothing, isolation on; and what waiting flights cost. */
export const bench: Bench = {
  name: 'flight',
  run: async ({ quick }) => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-')));
    const stateDir = join(dir, '.writ');
    const queue = openStateApprovals({
      stateDir,
      clock: systemClock,
      ids: systemIds,
      allowSelfApproval: false,
    });
    try {
      writeFileSync(join(dir, 'noop.sh'), NOOP);
      chmodSync(join(dir, 'noop.sh'), 0o755);
      const steps = Array.from({ length: STEPS }, (_, i) => `  - id: s${i}\n    engine: ./noop.sh\n`);
      writeFileSync(join(dir, 'five.yaml'), `id: five\nsteps:\n${steps.join('')}`);
      const wait = '  - id: s\n    engine: ./noop.sh\n    isolation: none\n    approval: { role: lead }\n';
      writeFileSync(join(dir, 'wait.yaml'), `id: wait\nsteps:\n${wait}`);
      const deps: FlightDeps = {
        ledger: openLedger({ stateDir }),
        clock: systemClock,
        ids: systemIds,
        queue,
        requester: 'bench',
        env: {},
      };
      return [
        ...(await overhead(deps, dir, quick ? 10 : 40)),
        ...(await waiting(deps, dir, quick ? 100 : 1000)),
      ];
    } finally {
      await queue.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** The bare engine and the flight take turns, so that a busy minute weighs on both. */
async function overhead(deps: FlightDeps, dir: string, rounds: number): Promise<readonly BenchRow[]> {
  const added: number[] = [];
  const bares: number[] = [];
  for (let i = -2; i < rounds; i++) {
    const alone: number[] = [];
    for (let j = 0; j < STEPS; j++) alone.push(await timed(() => bare(join(dir, 'noop.sh'))));
    const flight = await timed(() => completed(deps, join(dir, 'five.yaml')));
    // The first rounds load modules.
    if (i < 0) continue;
    added.push(flight / STEPS - 2 * median(alone));
    bares.push(median(alone));
  }
  return [
    {
      what: 'orchestrator overhead per step, isolation on (p50)',
      value: median(added),
      unit: 'ms',
      target: '<= 25',
      inside: `a five-step flight divided by five: two bubblewrap launches (each made while engines run and the log is written, all within the flight), log, events, checkpoint, token made and derived again twice, preflight twice; two bare runs of the engine (median ${median(bares).toFixed(1)} ms each, measured in turn) subtracted`,
      spread: `${Math.min(...added).toFixed(1)}–${Math.max(...added).toFixed(1)}`,
    },
  ];
}

async function waiting(deps: FlightDeps, dir: string, count: number): Promise<readonly BenchRow[]> {
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const each: number[] = [];
  // The first one opens what all share (the database of approvals).
  await runFlight(deps, join(dir, 'wait.yaml'));
  const before = descriptors();
  for (let i = 1; i < count; i++)
    each.push(await timed(async () => void (await runFlight(deps, join(dir, 'wait.yaml')))));
  // The journal of approvals is let go when nobody has written to it for a moment.
  await new Promise((done) => setTimeout(done, 500));
  const left = descriptors() - before;
  const listed = await timed(async () => {
    const found = (await listFlights(deps)).filter((f) => f.state === 'AWAITING_APPROVAL').length;
    if (found !== count) throw new Error(`${found} of ${count} flights wait`);
  });
  const asked = await timed(async () => void deps.queue.list({ status: 'pending' }));
  return [
    {
      what: 'a flight until it waits for a person (p50)',
      value: median(each),
      unit: 'ms',
      target: '',
      inside: 'plan without isolation, preflight, parked request, all of it durable',
    },
    {
      what: `descriptors left open by ${count} waiting flights`,
      value: left,
      unit: 'descriptors',
      target: '<= 0',
      inside: '/proc/self/fd before the first and half a second after the last',
    },
    {
      what: `list of ${count} waiting flights`,
      value: listed,
      unit: 'ms',
      target: '',
      inside: 'every checkpoint signature verified, log and events compared with it byte for byte',
    },
    {
      what: `list of ${count} pending approvals`,
      value: asked,
      unit: 'ms',
      target: '',
      inside: 'one query',
    },
  ];
}

async function completed(deps: FlightDeps, file: string): Promise<void> {
  const { status } = await runFlight(deps, file);
  if (status.state !== 'COMPLETED') throw new Error(status.error?.message ?? status.state);
}

function bare(engine: string): Promise<void> {
  return new Promise((done, fail) => {
    execFile(engine, { env: { CABINCREW_MODE: 'flight-plan' } }, (error) => (error ? fail(error) : done()));
  });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
