/** One pass over one file. */

import { countersOf } from './count.ts';
import type { Counters } from './counters.ts';
import { type Detail, Engine } from './engine.ts';
import { type ReadOptions, type ReadResult, readCapture } from './read/capture-file.ts';

export interface Pass {
  readonly engine: Engine;
  readonly read: ReadResult;
}

export async function passOver(path: string, detail: Detail, options: ReadOptions = {}): Promise<Pass> {
  const engine = new Engine(detail);
  const read = await readCapture(path, engine, options);
  engine.finish();
  return { engine, read };
}

/** Counters of a readable file. Damage inside is told in `error`, with what was read before it. */
export async function countFile(path: string, options: ReadOptions = {}): Promise<Counters> {
  return countersOfPass(await passOver(path, 'counters', options));
}

export function countersOfPass({ engine, read }: Pass): Counters {
  const stopping = read.parser.stopped ? read.parser.problems.at(-1) : undefined;
  return countersOf(engine, {
    container: read.parser.container,
    compressed: read.compressed,
    damaged: stopping !== undefined && stopping.kind !== 'cut_short',
    error: stopping?.message ?? null,
  });
}
