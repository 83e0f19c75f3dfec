/**
 * Runs the test files that failed in CI once more, one after the other: `npm run test:failed -- COMMAND`. The files are
 * appended to the command.
 *
 * Some tests cut connections or freeze processes, and then need an answer within a real time limit. When the machine is
 * too busy for a moment, such a test fails without a fault of the program. A test that fails twice is a fault. One that
 * fails once is listed here, and must be looked at: it may be a fault that is rare.
 */
import { $ } from "zx";
import { type Failure, readFailures } from "./test-report/failures.ts";

/** More failed files than this are not a matter of chance. */
const MOST_FILES = 3;

const command = process.argv.slice(2);
if (command.length === 0) {
  console.error("usage: npm run test:failed -- COMMAND, e.g. npm run test:failed -- npm test --");
  process.exit(64);
}
process.exitCode = await runAgain(readReport());

function readReport(): Failure[] {
  try {
    return readFailures(".cache/test-report.json");
  } catch (error) {
    console.error(`no report of the tests: ${(error as Error).message}. Tests write it when CI is set.`);
    return [];
  }
}

/** @returns the exit code */
async function runAgain(failures: readonly Failure[]): Promise<number> {
  const files = [...new Set(failures.map(({ file }) => file))];
  if (files.length === 0 || files.length > MOST_FILES) {
    console.error(`${files.length} files failed; only 1 to ${MOST_FILES} are run again`);
    return 1;
  }
  const env = { ...process.env, VITEST_MAX_WORKERS: "1" }; // vitest refuses a second --maxWorkers
  const { exitCode } = await $({ env, stdio: "inherit", nothrow: true })`exec ${command} ${files}`;
  if (exitCode !== 0) return 1;
  console.error("\nThese tests failed at first, and passed when run again:");
  for (const { test, message } of failures) console.error(`- ${test}\n  ${message.split("\n")[0]}`);
  return 0;
}
