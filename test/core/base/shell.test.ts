/** Words for shells: what a real shell reads is the word, and what is displayed is all of it. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { findCommandHint, quotePosixWord, quoteShellWord } from "../../../src/core/base/shell.ts";
import { clean } from "../../../src/core/base/text.ts";

const WORDS = [
  "a",
  "it's",
  "",
  "a b\\",
  "cod\u202Esafe",
  "x\u{e0041}'\\y",
  "e\u0301\u0301\u0301\u0301\u0301",
  "a\n\tb",
  "☃",
];

it("bash reads every word unchanged, and nothing of it is hidden", () => {
  const quoted = WORDS.map(quoteShellWord);
  const env = { PATH: process.env.PATH, LC_ALL: "C.UTF-8" };
  const read = execFileSync("bash", ["-c", `printf '%s\\0' ${quoted.join(" ")}`], { env, encoding: "utf8" });
  expect(read.split("\0").slice(0, -1)).toEqual(WORDS);
  expect(quoted.map((word) => clean(word))).toEqual(quoted);
  expect(quoteShellWord("cod\u202Esafe")).toBe("$'cod\\u202esafe'");
});

it("sh reads every word of a script unchanged", () => {
  const read = execFileSync("sh", ["-c", `printf '%s\\0' ${WORDS.map(quotePosixWord).join(" ")}`], {
    encoding: "utf8",
  });
  expect(read.split("\0").slice(0, -1)).toEqual(WORDS);
});

it("a line that is one word is told as such, also if it begins with a variable", () => {
  expect(findCommandHint("A=1 /bin/job --all")).toMatch(/^it is one word: /);
  expect(findCommandHint("A=(1)")).toBe("no shell sets variables here; write: env 'A=(1)' COMMAND");
  expect(findCommandHint("--lock")).toBe("options of signalbox are written before --");
  expect(findCommandHint("/bin/job")).toBeUndefined();
});
