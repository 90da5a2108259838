import type { Ids } from '../core/index.ts';
import { systemIds } from '../core/index.ts';
import type { Journal, JournalEntry, JournalRecord } from './types.ts';

/**
 * An effect leaves two records: the intent, durable before it starts, and the outcome after it ended.
 *
 * I1 Both carry `phase` and the same `intent_id`.
 * I2 An intent without an outcome is `unknown`: it may have happened or not. Nobody guesses; whoever starts
 *    next reports it, and may record the outcome `unknown` to say that it was seen.
 */
export const OUTCOMES = ['done', 'failed', 'unknown'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type OutcomeEntry = JournalEntry & { readonly outcome: Outcome };

/** Resolves to the intent's id when the intent is durable: only then may the effect start. */
export async function intent(journal: Journal, data: JournalEntry, ids: Ids = systemIds): Promise<string> {
  const id = ids.next('intent');
  await journal.append({ ...data, phase: 'intent', intent_id: id });
  return id;
}

export async function outcome(
  journal: Journal,
  intentId: string,
  data: OutcomeEntry,
  when: 'now' | 'soon' = 'now',
): Promise<void> {
  await journal.append({ ...data, phase: 'outcome', intent_id: intentId }, when);
}

export interface OpenIntent {
  readonly intentId: string;
  readonly outcome: 'unknown';
  readonly record: JournalRecord;
}

/** Intents that have no outcome, in order. Memory grows with the open ones only. */
export async function openIntents(
  records: AsyncIterable<JournalRecord> | Iterable<JournalRecord>,
): Promise<readonly OpenIntent[]> {
  const open = new Map<string, JournalRecord>();
  for await (const record of records) {
    const id = record.intent_id;
    if (typeof id !== 'string') continue;
    if (record.phase === 'intent') open.set(id, record);
    else if (record.phase === 'outcome') open.delete(id);
  }
  return [...open].map(([intentId, record]) => ({ intentId, outcome: 'unknown', record }));
}
