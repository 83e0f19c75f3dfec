/**
 * V8 options of long-running programs: without them, garbage grows to some hundred megabytes, more on larger
 * machines. V8 reads them only at its start, so the launcher passes them, or src/bin/start.ts starts Node again.
 */
export const HEAP_LIMITS = {
  /**
   * The limit is in MB: with it, an agent with a thousand runs needs half the memory, and no more time. Functions are
   * optimized from their first call, because most agents serve only a few calls a minute.
   */
  agent: ["--max-semi-space-size=2", "--no-lazy-feedback-allocation"],
  /**
   * MB, MB and percent. The minimum lets garbage be collected less often during the start. Each of V8's threads keeps memory
   * of its own, so there is one.
   */
  console: [
    "--max-semi-space-size=4",
    "--min-semi-space-size=4",
    "--heap-growing-percent=25",
    "--v8-pool-size=1",
  ],
  /** MB and percent. A page that many look at makes much garbage. */
  serve: ["--max-semi-space-size=8", "--heap-growing-percent=40"],
  /** MB and percent. With these limits, a worker with 100,000 schedules needs 40 % less memory. */
  worker: ["--max-semi-space-size=8", "--heap-growing-percent=60"],
} as const;
