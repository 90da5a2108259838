import { CODES, EXIT, WritError } from '../core/index.ts';
import { lockFile } from '../ledger/index.ts';
import type { FlightDeps } from './deps.ts';
import { answerOf, type FlightAnswer, loadOrHalt } from './flight.ts';
import { endLeftovers, moved } from './interrupted.ts';
import { reopenLog } from './log.ts';
import { coveredRecord, flightIds, flightPaths, loadFlight } from './store.ts';

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
    const log = reopenLog(deps, loaded);
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
      log.close();
    }
  } finally {
    lock.release();
  }
}

export function flightStatus(deps: Pick<FlightDeps, 'ledger'>, flightId: string): FlightAnswer {
  return answerOf(loadFlight(deps.ledger.stateDir, flightId, deps.ledger.trustedKeys).record);
}

export interface ListedFlight {
  readonly flight_id: string;
  readonly workflow_id: string | null;
  readonly state: string;
  readonly created_at: string | null;
  readonly updated_at: string | null;
}

/** Every flight; one that cannot be read is listed as damaged, not left out. */
export function listFlights(deps: Pick<FlightDeps, 'ledger'>): readonly ListedFlight[] {
  const { stateDir, trustedKeys } = deps.ledger;
  return flightIds(stateDir).map((flight_id) => {
    const covered = coveredRecord(flightPaths(stateDir, flight_id), trustedKeys);
    if (covered !== null)
      return {
        flight_id,
        workflow_id: String(covered.workflow_id),
        state: String(covered.current_state),
        created_at: String(covered.created_at),
        updated_at: String(covered.updated_at),
      };
    try {
      const { record } = loadFlight(stateDir, flight_id, trustedKeys);
      return {
        flight_id,
        workflow_id: record.workflowId,
        state: record.state,
        created_at: record.createdAt,
        updated_at: record.updatedAt,
      };
    } catch {
      return { flight_id, workflow_id: null, state: 'DAMAGED', created_at: null, updated_at: null };
    }
  });
}
