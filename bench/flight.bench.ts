import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStateApprovals } from '../src/authority/index.ts';
import { systemClock, systemIds } from '../src/core/index.ts';
import { type FlightDeps, runFlight } from '../src/flight/index.ts';
import { openLedger } from '../src/ledger/index.ts';
import { type Bench, median } from './bench.ts';

const NOOP = `#!/bin/sh
printf '{"protocol_version":"1.0","engine_id":"noop","mode":"%s","receipt_id":"r","status":"success"}' "$CABINCREW_MODE"
`;

/** What the orchestrator adds to a step whose engine does nothing, isolation on. */
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
      const steps = Array.from({ length: 5 }, (_, i) => `  - id: s${i}\n    engine: ./noop.sh\n`).join('');
      writeFileSync(join(dir, 'five.yaml'), `id: five\nsteps:\n${steps}`);
      writeFileSync(
        join(dir, 'wait.yaml'),
        'id: wait\nsteps:\n  - id: s\n    engine: ./noop.sh\n    approval: { role: lead }\n',
      );
      const deps: FlightDeps = {
        ledger: openLedger({ stateDir }),
        clock: systemClock,
        ids: systemIds,
        queue,
        requester: 'bench',
        env: {},
      };
      const engine: number[] = [];
      for (let i = 0; i < 10; i++) engine.push(timed(() => execFileSync(join(dir, 'noop.sh'))));
      const each: number[] = [];
      for (let i = 0; i < (quick ? 8 : 40); i++) {
        const start = performance.now();
        const { status } = await runFlight(deps, join(dir, 'five.yaml'));
        if (status.state !== 'COMPLETED') throw new Error(status.error?.message ?? status.state);
        each.push((performance.now() - start) / 5 - 2 * median(engine));
      }
      const waits: number[] = [];
      for (let i = 0; i < (quick ? 5 : 50); i++) {
        const start = performance.now();
        await runFlight(deps, join(dir, 'wait.yaml'));
        waits.push(performance.now() - start);
      }
      const spread = `${Math.min(...each).toFixed(1)}–${Math.max(...each).toFixed(1)}`;
      return [
        {
          what: 'orchestrator overhead per step, isolation on (p50)',
          value: median(each),
          unit: 'ms',
          target: '<= 25',
          inside:
            'two bubblewrap launches, log, events, token twice, preflight; two runs of the bare engine subtracted',
          spread,
        },
        {
          what: 'a flight until it waits for a person (p50)',
          value: median(waits),
          unit: 'ms',
          target: '',
          inside: 'plan, preflight, parked request',
        },
      ];
    } finally {
      await queue.close();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
