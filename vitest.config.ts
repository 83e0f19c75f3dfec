import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // On two cores vitest takes one worker. Most tests wait for real processes, so two halve the time.
    maxWorkers: 2,
  },
});
