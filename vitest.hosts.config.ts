import { defineConfig } from "vitest/config";

/** The test of `npm run test:hosts`: docs/three-hosts.md on three hosts in namespaces. It needs root. */
export default defineConfig({
  test: {
    include: ["test/hosts/**/*.test.ts"],
    testTimeout: 360_000,
    hookTimeout: 360_000,
    fileParallelism: false,
    bail: 1, // each test continues where the one before ended
  },
});
