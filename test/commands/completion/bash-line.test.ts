/** Parsing a command line as bash does, and quoting words for it. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBashWord, parseBashLine } from "../../../src/commands/completion/partial-line.ts";

const BREAKS = " \t\n\"'@><=;|&(:"; // bash's own
const read = (line: string, breaks = BREAKS) => parseBashLine(line, breaks);

describe("a line", () => {
  it.each([
    { line: "s", words: ["s"], kept: "", quote: "" },
    { line: "s ", words: ["s", ""], kept: "", quote: "" },
    { line: "s  ls\tlo", words: ["s", "ls", "lo"], kept: "", quote: "" },
    { line: "s my\\ lo", words: ["s", "my lo"], kept: "", quote: "" },
    { line: "s 'my lo", words: ["s", "my lo"], kept: "", quote: "'" },
    { line: 's "my lo', words: ["s", "my lo"], kept: "", quote: '"' },
    { line: 's "my" lo', words: ["s", "my", "lo"], kept: "", quote: "" },
    { line: 's ""', words: ["s", ""], kept: "", quote: "" },
    { line: "s a:b:c", words: ["s", "a:b:c"], kept: "a:b:", quote: "" },
    { line: "s a\\:b", words: ["s", "a:b"], kept: "", quote: "" },
    { line: "s 'a:b':c", words: ["s", "a:b:c"], kept: "a:b:", quote: "" },
    { line: "s 'a:b'c", words: ["s", "a:bc"], kept: "", quote: "" },
    { line: "s 'a:b", words: ["s", "a:b"], kept: "", quote: "'" },
    { line: "s --x='a:b", words: ["s", "--x=a:b"], kept: "--x=", quote: "'" },
    { line: "s --x=", words: ["s", "--x="], kept: "--x=", quote: "" },
    { line: "s u@h", words: ["s", "u@h"], kept: "u", quote: "" },
    { line: 's "a\\"b\\c\\$', words: ["s", 'a"b\\c$'], kept: "", quote: '"' },
    { line: "s 'a\\b", words: ["s", "a\\b"], kept: "", quote: "'" },
    { line: "s a\\\nb", words: ["s", "ab"], kept: "", quote: "" },
    { line: "s > out ls", words: ["s", "ls"], kept: "", quote: "" },
    { line: "s 2>&1 ls x", words: ["s", "ls", "x"], kept: "", quote: "" },
    { line: "s é😀:x", words: ["s", "é😀:x"], kept: "é😀:", quote: "" },
  ])("$line", ({ line, ...read_ }) => {
    expect(read(line)).toEqual({ ...read_, isForBash: false });
  });

  it("is bash's own business where input and output go, and where it will be expanded", () => {
    for (const line of ["s >", "s > o", "s <in", "s $HO", 's "$HO', "s `da", "s a$("])
      expect(read(line).isForBash).toBe(true);
    for (const line of ["s '$HO", "s \\$HO", 's "\\$', "s $HOME x", "s > o "])
      expect(read(line).isForBash).toBe(false);
  });

  it("is kept as a whole where colons do not break words", () => {
    expect(read("s a:b", " \t\n")).toMatchObject({ kept: "" });
  });
});

describe("a word put in", () => {
  it.each([
    { word: "a b", line: "s ", put: "a\\ b" },
    { word: "a b", line: "s 'a", put: "a b" },
    { word: "it's", line: "s 'i", put: "it'\\''s" },
    { word: "a$(b)`c`", line: "s ", put: "a\\$\\(b\\)\\`c\\`" },
    { word: 'a$b"c\\', line: 's "a', put: 'a\\$b\\"c\\\\' },
    { word: "bang!x", line: 's "b', put: 'bang"\\!"x' },
    { word: "a:b:c", line: "s a:b:", put: "c" },
    { word: "~x", line: "s ", put: "\\~x" },
    { word: "größe", line: "s g", put: "größe" },
  ])("$word into $line is $put", ({ word, line, put }) => {
    expect(formatBashWord(word, read(line))).toBe(put);
  });

  it("is read by bash as exactly that word, whatever it holds and whatever quote is open", () => {
    const quote = fc.constantFrom("", "'", '"');
    const text = fc.string({ unit: "grapheme", minLength: 1 }).filter((one) => !/[\x00-\x1f\x7f]/.test(one));
    const word = fc.oneof(
      text,
      fc.string({ unit: fc.constantFrom(...`a '"\\$\`!*?[]{}()~#&|;<>:=@%^,`), minLength: 1 }),
    );
    const cases = fc.sample(fc.tuple(word, quote), 300);
    const lines = cases.map(
      ([one, open]) => `printf '%s\\0' ${open}${formatBashWord(one, read(`s ${open}`))}${open}`,
    );
    const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", lines.join("\n")], { encoding: "utf8" });
    expect(stderr).toBe("");
    expect(stdout.split("\0").slice(0, -1)).toEqual(cases.map(([one]) => one));
  });
});
