import { openStateApprovals } from '../../src/authority/index.ts';
import { systemClock, systemIds } from '../../src/core/index.ts';
import { resumeFlight, runFlight } from '../../src/flight/index.ts';
import { openLedger } from '../../src/ledger/index.ts';
import { dieAt } from './die-at.ts';

/**
 * `node driver.ts STATE run FILE | resume ID [DEATH]`: a flight in a process that can be killed. It says when it
 * begins, and at its end which changes it made. DEATH is where it kills itself, as JSON.
 */
const [stateDir = '', what, which = '', death = 'null'] = process.argv.slice(2);
const queue = openStateApprovals({ stateDir, clock: systemClock, ids: systemIds, allowSelfApproval: false });
const deps = {
  ledger: openLedger({ stateDir }),
  clock: systemClock,
  ids: systemIds,
  queue,
  requester: 'tester',
  env: {},
};
process.stdout.write('begins\n');
const { changes } = dieAt(JSON.parse(death));
await (what === 'run' ? runFlight(deps, which) : resumeFlight(deps, which));
await queue.close();
process.stdout.write(`${JSON.stringify(changes)}\n`);
