import { defineConfig } from 'vitest/config';

/** Loaded machines are slow machines: no test is about time, so no limit is tight. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: [
            '{pkg,plugin,agent,controller,ctl,cmd,hack}/**/*.test.ts',
            'test/{bench,chaos,contract,golden,house,real-cluster}/**/*.test.ts',
          ],
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts', 'test/support/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'cluster',
          include: ['test/integration/**/*.test.ts'],
          globalSetup: ['test/support/shared-api-server.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'nodes',
          include: ['test/nodes/**/*.test.ts'],
          globalSetup: ['test/nodes/shared-cluster.ts'],
          testTimeout: 600_000,
          hookTimeout: 240_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
