import { CODES, EXIT, WritError } from '../core/index.ts';
import { lockFile } from '../ledger/index.ts';
import type { FlightDeps } from './deps.ts';
import { answerOf, type FlightAnswer, loadOrHalt } from './flight.ts';
import { endLeftovers, moved } from './interrupted.ts';
import { readFlight } from './listing.ts';
import { reopenLog } from './log.ts';
import { flightPaths } from './store.ts';

/** A person says how an interrupted take-off ended. On record with name and reason; nothing runs. */
export interface Settlement {
  readonly step: string;
  readonly outcome: 'done' | 'not-done';
  readonly by: string;
  readonly assertedBy: string;
  readonly reason: string;
}

export async function settleFlight(
  deps: FlightDeps,
  flightId: string,
  settlement: Settlement,
): Promise<FlightAnswer> {
  const { step, outcome, by, reason } = settlement;
  await loadOrHalt(deps, flightId);
  const lock = await lockFile(flightPaths(deps.ledger.stateDir, flightId).wal, 2000);
  try {
    const loaded = await loadOrHalt(deps, flightId);
    const found = loaded.record.steps.find((s) => s.id === step);
    if (found?.state !== 'TAKEOFF_RUNNING')
      throw new WritError(
        CODES.invalid_input,
        `step ${step} of flight ${flightId} is not an interrupted take-off${found ? ` (it is ${found.state})` : ''}`,
        {
          suggestion: `writ flight status ${flightId}`,
          exit: EXIT.usage,
        },
      );
    const log = await reopenLog(deps, loaded);
    try {
      const state = outcome === 'done' ? 'EXECUTION_COMPLETE' : 'PREFLIGHT_COMPLETE';
      const at = { log, step: { id: step, engine: '' } };
      // What is said of it holds only when nothing of it still runs.
      await endLeftovers(at);
      moved(at, state, `settled as ${outcome} by ${by}: ${reason}`, {
        settled_by: by,
        asserted_by: settlement.assertedBy,
        reason,
        outcome,
      });
      return answerOf(log.record);
    } finally {
      await log.close();
    }
  } finally {
    lock.release();
  }
}

export async function flightStatus(
  deps: Pick<FlightDeps, 'ledger'>,
  flightId: string,
): Promise<FlightAnswer> {
  return answerOf((await readFlight(deps.ledger, flightId)).record);
}
