import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores is what a laptop in CI gives us; more workers only make timing tests flaky.
    maxWorkers: 2,
    pool: 'forks',
    // Tests with real processes, terminals and namespaces race with the machine; on CI one gets a second chance.
    retry: process.env.CI ? 2 : 0,
    env: { NO_COLOR: '1' },
  },
});
