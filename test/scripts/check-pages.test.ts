/** The checks of pages that are written by hand: `scripts/check-pages.ts`. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { listReadmeFaults } from "../../scripts/check-pages/readme.ts";
import { listOpenFlakyTests } from "../../scripts/test-report/flaky-tests.ts";

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");

describe("README.md", () => {
  const [readme, run] = [read("README.md"), read(".ci/run")];
  const DEMO = /"npm ci && npm run demo" must be a line/;
  const TEST = /"npm ci && npm test" must be a line/;
  const CALL = /\.ci\/run must call the tests as README.md writes it: "npm ci && npm test"/;

  test.each<[string, string, string, RegExp[]]>([
    ["names both commands, and .ci/run calls the tests", readme, run, []],
    ["lacks both", readme.replaceAll("npm ci &&", "npm ci\n"), run, [DEMO, TEST]],
    ["lacks the demo", readme.replace("npm run demo", "npm start"), run, [DEMO]],
    ["names another command for the tests", readme.replace("npm test", "npm run test"), run, [TEST]],
    ["names them in a sentence", readme.replaceAll("```", ""), run, [DEMO, TEST]],
    ["names them below the first screen", `${"\n".repeat(45)}${readme}`, run, [DEMO, TEST]],
    [".ci/run calls other tests", readme, run.replace("npm ci && npm test", "npm run test"), [CALL]],
    [
      ".ci/run has the tests in a comment",
      readme,
      run.replace("npm ci && npm test", "true # npm ci && npm test"),
      [CALL],
    ],
    [
      ".ci/run calls some of the tests",
      readme,
      run.replace("npm ci && npm test", "npm ci && npm test -- test/core/base"),
      [CALL],
    ],
  ])("%s", (_, page, script, faults) => {
    const found = listReadmeFaults(page, script);
    expect(found).toHaveLength(faults.length);
    for (const [at, fault] of faults.entries()) expect(found[at]).toMatch(fault);
  });
});

test("flaky tests are open until they are mended or explained", () => {
  const page = "# Head\n\nMended: and Explained: stand here too\n";
  const sections = [
    "a: one\n\nOpen\n",
    "b: two\n\nMended: it waits now\n",
    "c: three\n\nExplained: the disk\n",
    "d: four\n\nMended:\n",
  ];
  expect(listOpenFlakyTests(page)).toEqual([]);
  expect(listOpenFlakyTests(page + sections.map((section) => `\n## ${section}`).join(""))).toEqual([
    "a: one",
    "d: four",
  ]);
});
