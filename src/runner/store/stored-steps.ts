import type { DatabaseSync } from 'node:sqlite';
import { type Cell, CHAINED } from './format-v1.ts';
import { type Replayed, StepsSum, type StoredStep } from './format-v2.ts';

/** Where the rows of a run's steps are: under which run, and up to which place in the chain. */
export type StepSource = Pick<Replayed, 'of' | 'through'>;

/** The rows a run has itself, all of them. */
export function ownSteps(runId: string): StepSource {
  return { of: runId, through: Number.MAX_SAFE_INTEGER };
}

/** The steps in order, one at a time. What is added while they are walked is not among them. */
export function* walkSteps(db: DatabaseSync, source: StepSource): Iterable<StoredStep> {
  // Both tables lie in the order of their ids: two walks side by side cost less than a join.
  const results = rowsOf(db, 'tool_results', source);
  try {
    let next: IteratorResult<readonly Cell[]> | undefined;
    for (const call of rowsOf(db, 'tool_calls', source)) {
      // Begun only inside the walk over the calls: both then see the store as it was at one moment.
      next ??= results.next();
      while (!next.done && String(next.value[0]) < String(call[0])) next = results.next();
      yield { call, result: !next.done && next.value[0] === call[0] ? next.value : undefined };
    }
  } finally {
    // A walk that is left open would hold the log of the database.
    results.return?.();
  }
}

/** Rows of a run by their ids, which lie between `run.` and `run/` in the order of the steps. */
function rowsOf(
  db: DatabaseSync,
  table: 'tool_calls' | 'tool_results',
  { of, through }: StepSource,
): IterableIterator<readonly Cell[]> {
  const statement = db.prepare(
    `SELECT ${CHAINED[table].join(', ')}, chain_seq FROM ${table}
     WHERE call_id > ? AND call_id < ? AND chain_seq <= ? ORDER BY call_id`,
  );
  statement.setReturnArrays(true);
  const rows: IterableIterator<unknown> = statement.iterate(`${of}.`, `${of}/`, through);
  return rows as IterableIterator<readonly Cell[]>;
}

export function sumSteps(db: DatabaseSync, source: StepSource): Replayed {
  const sum = new StepsSum();
  for (const step of walkSteps(db, source)) sum.add(step);
  return sum.total(source.of);
}
