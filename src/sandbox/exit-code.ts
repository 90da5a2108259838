import { constants } from 'node:os';
import type { Exit } from './child.ts';

/** The number a shell would give: the program's own, or 128 + n when signal n ended it. */
export function exitCodeOf(exit: Exit | undefined): number {
  if (exit === undefined) return 1;
  return exit.code ?? 128 + (exit.signal === null ? 1 : constants.signals[exit.signal]);
}
