/** The life of a capture task, as data. Every arrow that is not here is illegal. */
export const TASK_STATES = [
  'CREATED',
  'DETECTING',
  'APPROVED',
  'PROVISIONING',
  'WAITING',
  'DOWNLOADING',
  'ANALYZING',
  'COMPLETED',
  'CLEANING_UP',
  'DONE',
  'FAILED',
  'CANCELLED',
  'TIMED_OUT',
  'ABANDONED',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

const ENDINGS = ['FAILED', 'CANCELLED', 'ABANDONED'] as const;

/**
 * APPROVED means: detected, and the cleanup plan is registered; the create command comes next.
 * A finished task goes to CLEANING_UP when someone asks for it, and to DONE only when nothing is left.
 */
export const TRANSITIONS: Readonly<Record<TaskState, readonly TaskState[]>> = {
  CREATED: ['DETECTING', ...ENDINGS],
  DETECTING: ['APPROVED', ...ENDINGS],
  APPROVED: ['PROVISIONING', ...ENDINGS],
  PROVISIONING: ['WAITING', 'TIMED_OUT', ...ENDINGS],
  WAITING: ['DOWNLOADING', 'TIMED_OUT', ...ENDINGS],
  DOWNLOADING: ['ANALYZING', ...ENDINGS],
  ANALYZING: ['COMPLETED', ...ENDINGS],
  COMPLETED: ['CLEANING_UP'],
  CLEANING_UP: ['DONE'],
  DONE: [],
  FAILED: ['CLEANING_UP'],
  CANCELLED: ['CLEANING_UP'],
  TIMED_OUT: ['CLEANING_UP'],
  ABANDONED: ['CLEANING_UP'],
};

export function mayMove(from: TaskState, to: TaskState): boolean {
  return TRANSITIONS[from].includes(to);
}

/** Work on the capture is over; only cleaning up may follow. */
export function isEnded(state: TaskState): boolean {
  return ['COMPLETED', 'CLEANING_UP', 'DONE', 'FAILED', 'CANCELLED', 'TIMED_OUT', 'ABANDONED'].includes(
    state,
  );
}
