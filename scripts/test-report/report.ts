/** What a run of vitest leaves for the scripts that judge it: written by reporter.ts, read by test-failed.ts and test-slow.ts. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

export interface TestReport {
  /** SEED of the random tests. */
  seed: string | undefined;
  /** Failed tests. */
  failures: Failure[];
  /** What failed outside of a test: rejected promises, killed workers, files and hooks that failed, too many repetitions. */
  errors: string[];
  /** How often `retryAfterStalls` repeated the tests of a file. */
  repetitions: Record<string, number>;
}

export interface Failure {
  /** Path from the current folder. */
  file: string;
  /** File and test. */
  test: string;
  message: string;
}

/** Chooses the file of the report: TEST_REPORT, or the one that belongs to this folder. */
export function locateReport(): string {
  return path.resolve(process.env.TEST_REPORT ?? ".cache/test-report.json");
}

export function writeReport(report: TestReport): void {
  const file = locateReport();
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(report, undefined, 1));
}

/** Adds what failed after the last test, when vitest has written the report. */
export function reportError(error: string): void {
  const report = takeReport();
  if (report !== undefined) writeReport({ ...report, errors: [...report.errors, error] });
}

/**
 * Reads a report, and removes it: it says nothing of a later run.
 * @returns undefined if vitest has not written it, because it did not start, or did not end
 */
export function takeReport(file = locateReport()): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  } finally {
    rmSync(file, { force: true });
  }
}
