import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';

/** Where a process is to be killed: before its n-th change of anything outside it, or in the middle of that. */
export interface Death {
  readonly at: number;
  /** `torn`: half of what the change would have written is written. Only writes can be torn. */
  readonly how: 'before' | 'torn';
}

const CHANGES =
  'writeSync writeFileSync mkdirSync renameSync rmSync fsyncSync fdatasyncSync ftruncateSync'.split(' ');

/** Lists the changes this process makes from now on, and kills it at the one that is named. */
export function dieAt(death: Death | null): { readonly changes: readonly string[] } {
  const changes: string[] = [];
  const die = () => process.kill(process.pid, 'SIGKILL');
  const guard = (
    target: object,
    names: readonly string[],
    after: (name: string) => boolean = () => false,
  ) => {
    const methods = target as Record<string, (...args: unknown[]) => unknown>;
    for (const name of names) {
      const real = methods[name];
      if (real === undefined) throw new Error(`there is no ${name}`);
      methods[name] = function (this: unknown, ...args: unknown[]) {
        const hit = changes.push(name) - 1 === death?.at;
        if (hit && death?.how === 'torn' && name === 'writeSync') tear(real, args);
        if (hit) die();
        const answer = Reflect.apply(real, this, args);
        // What was started and what is known of it are two moments.
        if (after(name) && changes.push(`after ${name}`) - 1 === death?.at) die();
        return answer;
      };
    }
  };
  guard(fs, CHANGES);
  guard(childProcess, ['spawn'], () => true);
  guard(DatabaseSync.prototype, ['exec']);
  guard(StatementSync.prototype, ['run']);
  syncBuiltinESMExports();
  return { changes };
}

const PAGE = 4096;

/**
 * `writeSync(fd, bytes, offset, length, position)`, in part: of a flight's own files half, as after a power cut;
 * of others up to where a page ends, which is where a kill can cut it.
 */
function tear(write: (...args: unknown[]) => unknown, args: readonly unknown[]): void {
  const [fd, bytes, offset = 0, length, position] = args;
  if (typeof fd !== 'number' || !(bytes instanceof Uint8Array) || typeof offset !== 'number') return;
  const whole = typeof length === 'number' ? length : bytes.length - offset;
  const at = typeof position === 'number' ? position : fs.fstatSync(fd).size;
  const own = fs.readlinkSync(`/proc/self/fd/${fd}`).includes('/flights/');
  const cut = own ? Math.floor(whole / 2) : PAGE - (at % PAGE);
  if (cut < whole) write(fd, bytes, offset, cut, position);
}
