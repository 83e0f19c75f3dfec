/** Checks pages that are written by hand: the first screen of README.md, and test/flaky.md. `npm run check` runs it. */
import { readFileSync } from "node:fs";
import { listReadmeFaults } from "./check-pages/readme.ts";
import { FLAKY_TESTS, listOpenFlakyTests } from "./test-report/flaky-tests.ts";

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");

const faults = listReadmeFaults(read("README.md"), read(".ci/run"));
for (const test of listOpenFlakyTests(read(FLAKY_TESTS)))
  faults.push(
    `${FLAKY_TESTS}: "${test}" is open; write "Mended: …" or "Explained: …" in place of "Open", see the head of the file`,
  );
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
