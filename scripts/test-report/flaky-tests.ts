/** The list of tests that passed only when run again: test/flaky.md. */
import { appendFileSync, readFileSync } from "node:fs";
import type { Failure } from "./report.ts";

export const FLAKY_TESTS = "test/flaky.md";

/** Adds a section for each test. @returns what was added */
export function recordFlakyTests(failures: readonly Failure[], date: string, commit: string): string {
  const text = failures.map(({ test, message }) => {
    const [line = ""] = message.split("\n");
    return `\n## ${test}\n\n${date}, commit ${commit}: \`${line.replaceAll("`", "'")}\`\n\nOpen\n`;
  });
  appendFileSync(FLAKY_TESTS, text.join(""));
  return text.join("");
}

/** Lists the tests of the sections that say neither how the test was mended nor why it is let be. */
export function listOpenFlakyTests(page: string): string[] {
  const [, ...sections] = page.split(/^## /m);
  return sections
    .filter((section) => !/^(Mended|Explained): \S/m.test(section))
    .map((section) => section.split("\n", 1)[0] ?? "");
}

export const readFlakyTests = () => readFileSync(FLAKY_TESTS, "utf8");
