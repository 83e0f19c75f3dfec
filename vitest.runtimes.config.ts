import { defineConfig } from "vitest/config";

/** Tests of `npm run test:runtimes`: the library under Bun and Deno, which npm installs. They need its registry. */
export default defineConfig({
  test: {
    include: ["test/runtimes/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    fileParallelism: false,
  },
});
