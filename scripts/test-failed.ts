/**
 * Runs the test files that failed once more, one after the other: `npm run test:failed -- COMMAND`. The files are appended to the
 * command.
 *
 * Some tests cut connections or freeze processes, and then need an answer within a real time limit. When the machine is
 * too busy for a moment, such a test fails without a fault of the program. A test that fails twice is a fault. One that
 * fails once is recorded in test/flaky.md, and must be looked at: it may be a fault that is rare.
 */
import { $ } from "zx";
import { FLAKY_TESTS, recordFlakyTests } from "./test-report/flaky-tests.ts";
import { type Failure, type TestReport, takeReport } from "./test-report/report.ts";

/** More failed files than this are not a matter of chance. */
const MOST_FILES = 3;

const command = process.argv.slice(2);
if (command.length === 0) {
  console.error("usage: npm run test:failed -- COMMAND, e.g. npm run test:failed -- npm test --");
  process.exit(64);
}
process.exitCode = await runAgain(takeReport());

/** @returns the exit code */
async function runAgain(report: TestReport | undefined): Promise<number> {
  const failures = report?.failures ?? [];
  const files = [...new Set(failures.map(({ file }) => file))];
  const reasons = report === undefined ? ["there is no report of the run"] : [...report.errors];
  if (reasons.length === 0 && (files.length === 0 || files.length > MOST_FILES))
    reasons.push(`${files.length} files have failed tests; only 1 to ${MOST_FILES} are run again`);
  if (reasons.length > 0) {
    console.error(`\nnot run again, because\n${reasons.map((reason) => `- ${reason}`).join("\n")}`);
    return 1;
  }
  if (!(await repeat(files, report?.seed))) return 1;
  await record(failures);
  return 0;
}

/** Runs these files with the same seed, or a random test would test something else. @returns whether all passed */
async function repeat(files: readonly string[], seed: string | undefined): Promise<boolean> {
  // vitest refuses a second --maxWorkers
  const env = { ...process.env, VITEST_MAX_WORKERS: "1", ...(seed !== undefined && { SEED: seed }) };
  const { exitCode } = await $({ env, stdio: "inherit", nothrow: true })`exec ${command} ${files}`;
  takeReport(); // no later run is judged by it
  return exitCode === 0;
}

async function record(failures: readonly Failure[]): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const { stdout } = await $({ nothrow: true })`git rev-parse --short=8 HEAD`;
  const entries = recordFlakyTests(failures, date, stdout.trim() || "unknown");
  console.error(
    `\nThese tests failed at first, and passed when run again. Commit this in ${FLAKY_TESTS}:\n${entries}`,
  );
}
