import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Clock, JsonObject } from '../core/index.ts';

/**
 * A log of JSON lines on stderr that never holds anybody up.
 *
 * LL1 Whoever launched us may not read its end of the pipe. A line that does not fit is dropped and counted;
 *     the next that fits is preceded by how many were.
 */
export interface LineLog {
  readonly write: (line: JsonObject) => void;
  close(): void;
}

/** A write to a pipe of up to this much is whole or not at all. */
const MAX_LINE = 4000;

export function openLineLog(clock: Clock, otherwise: (line: string) => void): LineLog {
  const fd = openUnblocked();
  let dropped = 0;
  const put = (line: JsonObject): boolean => {
    const text = JSON.stringify({ time: clock.now().toISOString(), ...line });
    if (fd === undefined) {
      otherwise(text);
      return true;
    }
    try {
      writeSync(fd, text.length > MAX_LINE ? `${JSON.stringify({ event: 'log.too_long' })}\n` : `${text}\n`);
      return true;
    } catch {
      return false;
    }
  };
  return {
    write: (line) => {
      if (dropped > 0 && put({ event: 'log.dropped', lines: dropped })) dropped = 0;
      if (dropped > 0 || !put(line)) dropped++;
    },
    close: () => {
      if (fd !== undefined) closeSync(fd);
    },
  };
}

/** Our stderr once more, so that not blocking is ours alone; undefined where that cannot be had. */
function openUnblocked(): number | undefined {
  try {
    return openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
