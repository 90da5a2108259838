import { openStateApprovals } from '../../src/authority/index.ts';
import { systemClock, systemIds } from '../../src/core/index.ts';
import { resumeFlight, runFlight } from '../../src/flight/index.ts';
import { openLedger } from '../../src/ledger/index.ts';

/** `node driver.ts STATE run FILE | resume ID`: a flight in a process that can be killed; says when it begins. */
const [stateDir = '', what, which = ''] = process.argv.slice(2);
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
await (what === 'run' ? runFlight(deps, which) : resumeFlight(deps, which));
await queue.close();
