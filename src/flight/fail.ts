import type { ExitCode, JsonObject } from '../core/index.ts';
import type { FlightLog } from './log.ts';

/** The one way a flight fails: on record first, with the step, the reason and the exit code. */
export function failFlight(
  log: FlightLog,
  step: string,
  error: { readonly code: number; readonly message: string; readonly exit: ExitCode },
  more: {
    readonly severity?: 'critical' | 'error';
    readonly integrity_check?: JsonObject;
    readonly policy?: JsonObject;
    readonly event_type?: string;
  } = {},
): void {
  const { event_type = 'workflow_failed', severity = 'error', ...rest } = more;
  log.commit(
    [
      {
        entry_type: 'workflow_failed',
        data: { error: error.message, failed_step: step },
        change: { step, state: 'FAILED', error },
      },
    ],
    [
      {
        event_type,
        workflow_state: 'FAILED',
        severity,
        message: error.message,
        workflow: { step_id: step },
        ...rest,
      },
    ],
  );
}
