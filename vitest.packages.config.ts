import { defineConfig } from "vitest/config";

/** Tests of `npm run test:packages`: real packages, installed in a bare Debian root. They need tools that `npm test` does not. */
export default defineConfig({
  test: {
    include: ["test/packages/**/*.test.ts"],
    globalSetup: ["fixtures/packages/build-packages.ts"],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    fileParallelism: false,
  },
});
