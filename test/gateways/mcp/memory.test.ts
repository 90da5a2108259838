import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { call, gateways, oddServer } from './help.ts';

/** How many calls; the long form, which tells of every tenth, is run by hand: `WRIT_MCP_CALLS=1000000`. */
const CALLS = Number(process.env.WRIT_MCP_CALLS ?? 4000);
const LANES = 50;
const t = gateways();

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('memory', () => {
  it(
    `stays flat over ${CALLS} calls in one session`,
    async () => {
      const client = await t.clientOf({ servers: [oddServer()], log: 'none' });
      const tenth = async () => {
        const lane = async () => {
          for (let i = 0; i < CALLS / 10 / LANES; i++) await call(client, 'echo', { i });
        };
        await Promise.all(Array.from({ length: LANES }, lane));
        // Two turns later the last outcomes are on their way and their buffers let go.
        await new Promise((resolve) => setTimeout(resolve, 20));
        collect();
        return process.memoryUsage().heapUsed / 1024 / 1024;
      };
      const heap: number[] = [];
      for (let done = 1; done <= 10; done++) {
        heap.push(await tenth());
        const rss = process.memoryUsage().rss / 1024 / 1024;
        if (CALLS > 10_000)
          console.log(
            `${(CALLS / 10) * done} calls: heap ${heap.at(-1)?.toFixed(1)} MB, RSS ${rss.toFixed(0)} MB`,
          );
      }
      // The first tenths warm things up; from then on nothing may grow with the calls.
      expect((heap[9] ?? 0) - (heap[2] ?? 0)).toBeLessThan(5);
    },
    Math.max(60_000, CALLS * 10),
  );
});
