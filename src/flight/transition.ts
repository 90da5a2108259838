import type { JsonObject } from '../core/index.ts';
import type { LogEntry } from './log.ts';
import type { State } from './states.ts';

/** A change of state that has no published entry type of its own: told as the start of a part of the step. */
export function transition(step: string, type: string, state: State, patch: JsonObject = {}): LogEntry {
  return {
    entry_type: 'step_started',
    data: { step_id: step, step_type: type },
    change: { step, state, patch },
  };
}
