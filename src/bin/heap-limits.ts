/**
 * Options of V8 for the programs that run for long: without them, garbage grows to some hundred megabytes, more on larger
 * machines. V8 reads them only at its start, so the launcher passes them on, or src/bin/start.ts starts Node again.
 */
export const HEAP_LIMITS = {
  /**
   * MB; functions are optimized from their first call, because most agents serve a few calls a minute. An agent with a
   * thousand runs needs half the memory with the limit, and no more time.
   */
  agent: ["--max-semi-space-size=2", "--no-lazy-feedback-allocation"],
  /** MB; MB, so that garbage is collected less often during the start; percent. */
  console: ["--max-semi-space-size=8", "--min-semi-space-size=4", "--heap-growing-percent=12"],
  /** MB; percent. A worker with 100,000 schedules needs 40 % less memory with them. */
  worker: ["--max-semi-space-size=8", "--heap-growing-percent=60"],
} as const;
