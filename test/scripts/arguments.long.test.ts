import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";

const run = (script: string, ...args: string[]) =>
  spawnSync(process.execPath, [resolve(import.meta.dirname, `../../scripts/${script}.ts`), ...args], {
    encoding: "utf8",
  });

describe.each([
  "bench",
  "campaign",
  "chaos",
  "demo",
  "docs",
  "etcd",
  "fuzz",
  "mutants",
  "record",
  "screens",
  "simulate",
  "spec",
  "test-slow",
])("the script %s", (script) => {
  test("says how it is used", () => {
    const { status, stdout, stderr } = run(script, "--help");
    expect({ status, stdout, stderr }).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^(npm run|node scripts\/)/),
      stderr: "",
    });
  });

  test("refuses an unknown option", () => {
    const { status, stdout, stderr } = run(script, "--nonsense");
    expect({ status, stdout, stderr }).toEqual({
      status: 64,
      stdout: "",
      stderr: expect.stringMatching(/^Unknown option '--nonsense'[\s\S]*\n\n(npm run|node scripts\/)/),
    });
  });
});

test.each([
  ["simulate", ["--count", "many"], '--count must be a whole number; got "many"'],
  ["campaign", ["--seconds", "0"], "--seconds must be above 0"],
  ["mutants", ["none"], "unknown mutant: none"],
  ["fuzz", ["none"], "unknown target: none"],
  ["record", ["none"], "unknown story: none"],
  ["bench", ["none"], "unknown part: none"],
  [
    "bench",
    ["growth", "--sizes", "runs=10"],
    '--sizes must be one of runs, waiters, schedules, workers, locks, days, and two sizes or more, such as runs=10,100; got "runs=10"',
  ],
  ["etcd", ["none"], "unknown command: none"],
])("%s refuses %j", (script, args, why) => {
  const { status, stderr } = run(script, ...args);
  expect({ status, why: stderr.split("\n")[0] }).toEqual({ status: 64, why });
});
