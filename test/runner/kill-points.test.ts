import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface Point {
  readonly n: number;
  readonly before: string;
  readonly killed: string;
  readonly after: string;
}

describe('a store whose first run is killed', () => {
  it('[RUN-40] at every change on disk: never called tampered or incomplete, and the next run goes on', () => {
    const main = fileURLToPath(new URL('./kill-points-main.ts', import.meta.url));
    const got = spawnSync(process.execPath, [main], { encoding: 'utf8', timeout: 100_000 });
    expect([got.status, got.stderr]).toEqual([0, '']);
    const points = JSON.parse(got.stdout) as readonly Point[];
    expect(points.length).toBeGreaterThan(60);
    for (const point of points) {
      expect(point.killed, JSON.stringify(point)).toMatch(/^(nothing|intact|not_established)/);
      expect(point.after, JSON.stringify(point)).toBe('intact');
    }
    // Between the first commit and the first word in the ledger lie dozens of points.
    const unsaid = points.filter(({ killed }) => killed.includes('before the ledger vouched'));
    expect(unsaid.length).toBeGreaterThan(20);
    expect(points.at(-1)?.killed).toBe('intact');
  }, 120_000);
});
