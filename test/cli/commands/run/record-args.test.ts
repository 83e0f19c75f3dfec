import { expect, test } from "vitest";
import { shortenArgs } from "../../../../src/cli/commands/run/execute-run.ts";

test("short arguments are recorded as they are", () => {
  const args = ["--all", "", "two words", "ü"];
  expect(shortenArgs(args)).toEqual(args);
});

test("a long argument is cut, and marked", () => {
  const [word = ""] = shortenArgs([`${"x".repeat(1_023)}😀${"y".repeat(100_000)}`]);
  expect(word).toHaveLength(1_025);
  expect(word.endsWith("…")).toBe(true);
  expect(word.isWellFormed()).toBe(true);
});

test("of many arguments the first are kept, and the others counted", () => {
  const args = Array.from({ length: 100_000 }, (_, at) => `argument-${at}`);
  const kept = shortenArgs(args);
  expect(kept.slice(0, -1)).toEqual(args.slice(0, kept.length - 1));
  expect(kept.at(-1)).toBe(`… (${args.length - kept.length + 1} more)`);
  expect(kept.join(" ").length).toBeLessThan(4_200);
});
