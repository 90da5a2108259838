/**
 * The states of a step, and which may follow which.
 *
 * S1 A step walks forward only; `FAILED` can be reached from every state that is not an end.
 * S2 Take-off is reached through READY_FOR_TAKEOFF alone, and that through a finished preflight or an approval.
 * S3 TAKEOFF_RUNNING may go back to PREFLIGHT_COMPLETE only when it is known that nothing was done.
 */
export const STATES = [
  'INIT',
  'PLAN_RUNNING',
  'PLAN_GENERATED',
  'ARTIFACTS_VALIDATED',
  'TOKEN_CREATED',
  'PRE_FLIGHT_RUNNING',
  'PREFLIGHT_COMPLETE',
  'AWAITING_APPROVAL',
  'APPROVED',
  'READY_FOR_TAKEOFF',
  'TAKEOFF_RUNNING',
  'EXECUTION_COMPLETE',
  'COMPLETED',
  'FAILED',
] as const;
export type State = (typeof STATES)[number];

const NEXT: Readonly<Record<State, readonly State[]>> = {
  INIT: ['PLAN_RUNNING'],
  // A plan that a crash cut short had no effect: it starts again.
  PLAN_RUNNING: ['PLAN_GENERATED', 'PLAN_RUNNING'],
  PLAN_GENERATED: ['ARTIFACTS_VALIDATED', 'PLAN_RUNNING'],
  ARTIFACTS_VALIDATED: ['TOKEN_CREATED', 'PLAN_RUNNING'],
  TOKEN_CREATED: ['PRE_FLIGHT_RUNNING'],
  PRE_FLIGHT_RUNNING: ['PREFLIGHT_COMPLETE', 'PRE_FLIGHT_RUNNING'],
  PREFLIGHT_COMPLETE: ['AWAITING_APPROVAL', 'READY_FOR_TAKEOFF'],
  AWAITING_APPROVAL: ['APPROVED'],
  APPROVED: ['READY_FOR_TAKEOFF'],
  READY_FOR_TAKEOFF: ['TAKEOFF_RUNNING'],
  TAKEOFF_RUNNING: ['EXECUTION_COMPLETE', 'PREFLIGHT_COMPLETE', 'APPROVED'],
  EXECUTION_COMPLETE: ['COMPLETED'],
  COMPLETED: [],
  FAILED: [],
};

export function isEnd(state: State): boolean {
  return state === 'COMPLETED' || state === 'FAILED';
}

export function mayFollow(from: State, to: State): boolean {
  return to === 'FAILED' ? !isEnd(from) : NEXT[from].includes(to);
}

export function isState(text: unknown): text is State {
  return STATES.some((state) => state === text);
}
