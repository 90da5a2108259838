import { createHash } from 'node:crypto';
import { isJsonObject, type Json } from '../../core/index.ts';
import { type Cell, cellsText } from './format-v1.ts';

/**
 * What version 2 of the run store adds to version 1: a replay refers to the rows it replayed instead of
 * repeating them. Frozen: a change is a new version beside this one.
 *
 * V4 A run with an event `replayed` has no calls and results of its own. Its steps are the rows of the run
 *    `of` up to the place `through` in the chain, so many, with that digest. Rows added later to a run that
 *    went on are none of them.
 * V5 `of` holds its rows itself: the replay of a replay refers to where the rows are.
 */
export interface Replayed {
  readonly of: string;
  readonly through: number;
  readonly calls: number;
  readonly results: number;
  readonly digest: string;
}

/** A step as its rows hold it: the chained columns in order, then the place in the chain. */
export interface StoredStep {
  readonly call: readonly Cell[];
  readonly result: readonly Cell[] | undefined;
}

/** Steps are hashed in pieces of about this many characters: fewer calls, and memory stays small. */
const PIECE_CHARS = 65_536;

/**
 * What a replay says of the steps it saw: how many, how far in the chain, and one SHA-256 over every cell of
 * every row in order, written as in a link of the chain.
 */
export class StepsSum {
  readonly #hash = createHash('sha256').update('writ replayed steps v1');
  #text = '';
  #through = 0;
  #calls = 0;
  #results = 0;

  add({ call, result }: StoredStep): void {
    this.#calls++;
    this.#row(call);
    if (result) {
      this.#results++;
      this.#row(result);
    }
    if (this.#text.length < PIECE_CHARS) return;
    this.#hash.update(this.#text);
    this.#text = '';
  }

  #row(cells: readonly Cell[]): void {
    this.#text += `\n${cellsText(cells)}`;
    this.#through = Math.max(this.#through, cells.at(-1) as number);
  }

  total(of: string): Replayed {
    const digest = this.#hash.copy().update(this.#text).digest('hex');
    return { of, through: this.#through, calls: this.#calls, results: this.#results, digest };
  }
}

/** What an event `replayed` says, or undefined when it does not say it in its form. */
export function readReplayed(detail: Json): Replayed | undefined {
  if (!isJsonObject(detail)) return undefined;
  const { of, through, calls, results, digest } = detail;
  if (typeof of !== 'string' || typeof digest !== 'string') return undefined;
  if (typeof through !== 'number' || typeof calls !== 'number' || typeof results !== 'number')
    return undefined;
  return { of, through, calls, results, digest };
}

export function sameSteps(a: Replayed, b: Replayed): boolean {
  return (
    a.of === b.of &&
    a.through === b.through &&
    a.calls === b.calls &&
    a.results === b.results &&
    a.digest === b.digest
  );
}
