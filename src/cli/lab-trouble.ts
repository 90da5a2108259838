import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CODES, EXIT, WritError } from '../core/index.ts';
import { readTroubles, TROUBLE_KINDS, writeTroubles } from '../lab/index.ts';
import type { Cli } from './cli.ts';

export interface TroubleFlags {
  readonly on?: string;
  readonly times?: string;
  readonly json?: boolean;
}

/** `writ lab trouble`: what `az` in this lab is to meet, besides what the world itself has in store. */
export function trouble(cli: Cli, kind: string | undefined, flags: TroubleFlags): void {
  const dir = cli.env.WRIT_LAB_DIR;
  if (!dir || !existsSync(join(dir, 'lab.json')))
    throw refused('this is not a lab', 'writ lab up WORLD, then again in its shell');
  if (kind === 'none') writeTroubles(dir, []);
  else if (kind !== undefined) {
    const known = TROUBLE_KINDS.find((k) => k === kind);
    if (known === undefined)
      throw refused(`"${kind}" is no trouble we know`, `one of ${TROUBLE_KINDS.join(', ')}, or none`);
    const on = (flags.on ?? '').trim().replace(/^az\s+/, '');
    writeTroubles(dir, [...readTroubles(dir), { kind: known, on, times: timesOf(flags.times) }]);
  }
  const set = readTroubles(dir);
  if (flags.json) cli.json({ known: TROUBLE_KINDS, set });
  else if (set.length === 0) cli.print(`nothing is set; there are ${TROUBLE_KINDS.join(', ')}`);
  else
    for (const t of set)
      cli.print(`${t.kind}${t.on ? ` on "${t.on}"` : ''}${t.times === null ? '' : `, ${t.times} more`}`);
}

function timesOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const times = Number(text);
  if (!Number.isInteger(times) || times < 1) throw refused(`--times ${text}`, 'write a whole number from 1');
  return times;
}

function refused(what: string, suggestion: string): WritError {
  return new WritError(CODES.invalid_input, what, { suggestion, exit: EXIT.usage });
}
