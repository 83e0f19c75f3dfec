import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts"; // chooses the seed of random tests too

const { reporters = [], setupFiles = [], env = {} } = base.test ?? {};

/** Tests of `npm run test:agent`: those of the program, with runs that a launcher takes to an agent. */
export default defineConfig({
  test: {
    include: ["test/safety/**/*.test.ts"],
    exclude: ["**/*.long.test.ts"],
    globalSetup: ["fixtures/agent-report.ts"],
    reporters,
    setupFiles,
    env: { ...env, SIGNALBOX_TEST_AGENT: "1" },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxConcurrency: 8,
    maxWorkers: 1,
  },
});
