/** Parsing a command line as bash does, and quoting words for it. */
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatBashWord, parseBashLine } from "../../../../src/cli/frame/completion/partial-line.ts";

const BREAKS = " \t\n\"'@><=;|&(:"; // bash's own
const read = (line: string, breaks = BREAKS) => parseBashLine(line, breaks);

describe("a line", () => {
  it.each<[line: string, words: string[], kept?: string, quote?: string]>([
    ["s", ["s"]],
    ["s ", ["s", ""]],
    ["s  ls\tlo", ["s", "ls", "lo"]],
    ["s my\\ lo", ["s", "my lo"]],
    ["s 'my lo", ["s", "my lo"], "", "'"],
    ['s "my lo', ["s", "my lo"], "", '"'],
    ['s "my" lo', ["s", "my", "lo"]],
    ['s ""', ["s", ""]],
    ["s a:b:c", ["s", "a:b:c"], "a:b:"],
    ["s a\\:b", ["s", "a:b"]],
    ["s 'a:b':c", ["s", "a:b:c"], "a:b:"],
    ["s 'a:b'c", ["s", "a:bc"]],
    ["s 'a:b", ["s", "a:b"], "", "'"],
    ["s --x='a:b", ["s", "--x=a:b"], "--x=", "'"],
    ["s --x=", ["s", "--x="], "--x="],
    ["s u@h", ["s", "u@h"], "u"],
    ['s "a\\"b\\c\\$', ["s", 'a"b\\c$'], "", '"'],
    ["s 'a\\b", ["s", "a\\b"], "", "'"],
    ["s a\\\nb", ["s", "ab"]],
    ["s > out ls", ["s", "ls"]],
    ["s 2>&1 ls x", ["s", "ls", "x"]],
    ["s é😀:x", ["s", "é😀:x"], "é😀:"],
  ])("%s", (line, words, kept = "", quote = "") => {
    expect(read(line)).toEqual({ words, kept, quote, isForBash: false });
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
    ["a b", "s ", "a\\ b"],
    ["a b", "s 'a", "a b"],
    ["it's", "s 'i", "it'\\''s"],
    ["a$(b)`c`", "s ", "a\\$\\(b\\)\\`c\\`"],
    ['a$b"c\\', 's "a', 'a\\$b\\"c\\\\'],
    ["bang!x", 's "b', 'bang"\\!"x'],
    ["a:b:c", "s a:b:", "c"],
    ["~x", "s ", "\\~x"],
    ["größe", "s g", "größe"],
  ])("%s into %s is %s", (word, line, put) => {
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
