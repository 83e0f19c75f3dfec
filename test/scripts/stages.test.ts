/** `.ci/stages`, which runs the stages of CI. */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, test } from "vitest";

const ROOT = resolve(import.meta.dirname, "../..");

/** A script with four stages: two fail, one of them in the middle. */
const SCRIPT = `
set -euo pipefail
. .ci/stages
stages=(good broken late last)
run_good() { echo "good as $CI"; }
run_broken() { false; echo "after the failure"; }
run_late() { return 3; }
run_last() { test_twice "echo words --" "a filter"; }
`;

function run(line: string) {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", `${SCRIPT}${line}`, "script"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return {
    status,
    stderr,
    lines: stdout
      .replaceAll(/\d+ s(?=:?$)/gm, "N s")
      .replaceAll(/ +/g, " ")
      .split("\n"),
  };
}

test("all stages run, each says its result and time, and the last line is a total", () => {
  expect(run("run_stages")).toEqual({
    status: 1,
    stderr: "",
    lines: [
      "stage good begins",
      "good as true",
      "stage good passed N s",
      "stage broken begins",
      "stage broken failed with 1 N s",
      "stage late begins",
      "stage late failed with 3 N s",
      "stage last begins",
      "words -- a filter",
      "stage last passed N s",
      "",
      "stages of script, N s:",
      "good passed N s",
      "broken failed with 1 N s",
      "late failed with 3 N s",
      "last passed N s",
      "2 passed, 2 failed",
      "",
    ],
  });
});

test("those that are named run, in this order", () => {
  const { status, lines } = run("run_stages last good");
  expect([status, lines.slice(-4)]).toEqual([
    0,
    ["last passed N s", "good passed N s", "2 passed, 0 failed", ""],
  ]);
});

test("a script can stop at the first failure", () => {
  const { status, lines } = run("stops_at_failure=true; run_stages");
  expect([status, lines.slice(-3)]).toEqual([1, ["broken failed with 1 N s", "1 passed, 1 failed", ""]]);
});

test("an unknown stage is refused before any has run", () => {
  expect(run("run_stages good nonsense")).toEqual({
    status: 64,
    stderr: 'a stage must be one of good broken late last; got "nonsense"\n',
    lines: [""],
  });
});
