/** Reads failures from vitest's JSON report. */
import { readFileSync } from "node:fs";
import path from "node:path";

interface Report {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages?: string[] }[];
  }[];
}

export interface Failure {
  /** Path from the current folder. */
  file: string;
  /** File and test. */
  test: string;
  message: string;
}

/** Reads all failed tests, and all files that could not be run. */
export function readFailures(file: string): Failure[] {
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const where = path.relative(process.cwd(), name);
    const failed = assertionResults
      .filter((test) => test.status === "failed")
      .map((test) => ({
        file: where,
        test: `${where}: ${test.fullName}`,
        message: test.failureMessages?.[0] ?? "",
      }));
    return failed.length === 0 && status === "failed" ? [{ file: where, test: where, message }] : failed;
  });
}
