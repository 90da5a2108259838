import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores is what a laptop in CI gives us; more workers only make timing tests flaky.
    maxWorkers: 2,
    pool: 'forks',
    env: { NO_COLOR: '1' },
  },
});
