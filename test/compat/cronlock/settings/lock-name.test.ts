/** Names of locks, compared with real bash, echo and md5sum. */
import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { computeArgumentsHash } from "../../../../src/compat/cronlock/options.ts";

const LINES = [
  ["ls"],
  ["ls", "-al"],
  ["sh", "-c", "echo a;  echo b"],
  ["printf", "a\nb\tc", ""],
  ["größe", "日本", "🚦"],
  ["echo", "-n"],
  ["-n", "ls"],
  ["-n", "-e", "-E", "ls", "-n"],
  ["-nE", "ls"],
  ["-nx", "ls"],
  ["-", "ls"],
  ["-n"],
  [""],
  ["a", "", "b "],
];

test.each(LINES.map((words) => [words] as const))("cronlock: %j", (words) => {
  const script = 'echo "$@" | md5sum';
  const [hash] = execFileSync("bash", ["-c", script, "cronlock", ...words], { encoding: "utf8" }).split(" ");
  expect(computeArgumentsHash("cronlock", words)).toBe(hash);
});

test.each(LINES.map((words) => [words] as const))("golock: %j", (words) => {
  const [hash] = execFileSync("md5sum", { encoding: "utf8", input: words.join(" ") }).split(" ");
  expect(computeArgumentsHash("golock", words)).toBe(hash);
});

test("one that anybody can look up: echo ls -al | md5sum", () => {
  expect(computeArgumentsHash("cronlock", ["ls", "-al"])).not.toBe(
    computeArgumentsHash("golock", ["ls", "-al"]),
  );
  expect(computeArgumentsHash("golock", [])).toBe("d41d8cd98f00b204e9800998ecf8427e");
});
