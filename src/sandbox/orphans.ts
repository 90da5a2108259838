import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { allPids, isAlive, signalTo } from './process-tree.ts';

const ROUNDS = 200;
const POLL_MS = 10;

/**
 * Ends what was started with this entry in its environment, or with one for a place inside it, and is still
 * there, when whoever started it was killed. bubblewrap binds itself to its parent a moment after it starts: in that moment it can be orphaned,
 * and what it was to run would run alone. Killing the init of a pid namespace takes along all that is inside.
 * Answers how many there were.
 */
export async function endOrphans(name: string, value: string): Promise<number> {
  const ended = new Set<number>();
  for (let round = 0; round < ROUNDS; round++) {
    const left = allPids().filter((pid) => pid !== process.pid && carries(pid, `${name}=${value}`));
    if (left.length === 0) break;
    for (const pid of left) {
      ended.add(pid);
      signalTo(pid, 'SIGKILL');
    }
    await delay(POLL_MS);
  }
  return ended.size;
}

function carries(pid: number, entry: string): boolean {
  try {
    const found = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return found.some((e) => e === entry || e.startsWith(`${entry}/`)) && isAlive(pid);
  } catch {
    return false;
  }
}
