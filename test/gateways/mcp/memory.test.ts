import { describe, expect, it } from 'vitest';
import { call, gateways, oddServer } from './help.ts';

/** How many calls; the long form is run by hand: `WRIT_MCP_CALLS=1000000`, with `node --expose-gc`. */
const CALLS = Number(process.env.WRIT_MCP_CALLS ?? 4000);
const LANES = 50;
const t = gateways();

describe('memory', () => {
  it(
    `stays flat over ${CALLS} calls in one session`,
    async () => {
      const client = await t.clientOf({ servers: [oddServer()], log: 'none' });
      const some = async (calls: number) => {
        const lane = async () => {
          for (let i = 0; i < calls / LANES; i++) await call(client, 'echo', { i });
        };
        await Promise.all(Array.from({ length: LANES }, lane));
        globalThis.gc?.();
        return process.memoryUsage().heapUsed / 1024 / 1024;
      };
      await some(CALLS / 4);
      const before = await some(CALLS / 4);
      const after = await some(CALLS / 2);
      if (CALLS > 10_000) console.log(`heap ${before.toFixed(1)} MB → ${after.toFixed(1)} MB`);
      // Without a collection on demand what is garbage still counts; what grows with the calls shows anyway.
      expect(after - before).toBeLessThan(globalThis.gc ? 5 : 100);
    },
    10 * 60_000,
  );
});
