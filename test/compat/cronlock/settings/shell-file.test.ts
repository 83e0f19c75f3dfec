// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a shell's, not ours
import { describe, expect, test } from "vitest";
import { parseShellFile } from "../../../../src/compat/cronlock/variables.ts";

const ENV = { HOME: "/home/ben", EMPTY: "" };

function read(text: string): [name: string, value: string][] {
  return parseShellFile("/etc/cronlock.conf", text, ENV).map(({ name, value }) => [name, value]);
}

describe("assignments", () => {
  test.each<[what: string, text: string, found: [string, string][]]>([
    ["an empty file", "", []],
    ["comments and empty lines", "# one\n\n   # two\nA=1 # three\n", [["A", "1"]]],
    ["a # within a word", "A=b#c\n", [["A", "b#c"]]],
    ["no line break at the end", "A=1", [["A", "1"]]],
    [
      "an empty value",
      "A=\nB=2",
      [
        ["A", ""],
        ["B", "2"],
      ],
    ],
    [
      "several in a line",
      "A=1 B=2;C=3 ; D=4",
      [
        ["A", "1"],
        ["B", "2"],
        ["C", "3"],
        ["D", "4"],
      ],
    ],
    [
      "export",
      "export A=1 B=2\n\texport  C=3",
      [
        ["A", "1"],
        ["B", "2"],
        ["C", "3"],
      ],
    ],
    [
      "double quotes",
      'A="redis.example.com" B="a b  c"',
      [
        ["A", "redis.example.com"],
        ["B", "a b  c"],
      ],
    ],
    ["single quotes keep all", "A='$HOME `x` \\n \"'", [["A", '$HOME `x` \\n "']]],
    ["quotes within a word", "A=a'b c'\"d e\"f", [["A", "ab cd ef"]]],
    [
      "backslashes",
      'A=a\\ b\\$c B="\\$x \\" \\\\ \\n \\`"',
      [
        ["A", "a b$c"],
        ["B", '$x " \\ \\n `'],
      ],
    ],
    [
      "a line that goes on",
      "A=a\\\nb\nB=1 \\\n C=2",
      [
        ["A", "ab"],
        ["B", "1"],
        ["C", "2"],
      ],
    ],
    [
      "a value over two lines",
      'A="a\nb"\nB=1',
      [
        ["A", "a\nb"],
        ["B", "1"],
      ],
    ],
    [
      "earlier ones",
      'A=1\nB=$A${A}x\nC="<$A>"',
      [
        ["A", "1"],
        ["B", "11x"],
        ["C", "<1>"],
      ],
    ],
    [
      "the environment",
      "A=$HOME/x B=${HOME}y C=$NONE.",
      [
        ["A", "/home/ben/x"],
        ["B", "/home/beny"],
        ["C", "."],
      ],
    ],
    [
      "text for what is unset",
      "A=${NONE:-a} B=${EMPTY:-b} C=${HOME:-c}",
      [
        ["A", "a"],
        ["B", "b"],
        ["C", "/home/ben"],
      ],
    ],
    [
      "the last one wins",
      "A=1\nA=2",
      [
        ["A", "1"],
        ["A", "2"],
      ],
    ],
    ["bytes that look dangerous", "A='; rm -rf /'", [["A", "; rm -rf /"]]],
  ])("%s", (_, text, found) => {
    expect(read(text)).toEqual(found);
  });

  test("what is exported, and where it stands", () => {
    expect(parseShellFile("f", "A=1\n\nexport B=2\nC=3\nexport A C D", ENV)).toEqual([
      { name: "A", value: "1", line: 1, isExported: true },
      { name: "B", value: "2", line: 3, isExported: true },
      { name: "C", value: "3", line: 4, isExported: true },
    ]);
  });
});

describe("everything else is refused by file and line, and nothing of it is repeated", () => {
  test.each<[what: string, text: string, line: number, fault: string]>([
    ["a command", "A=1\nsecret --now\n", 2, "only assignments"],
    ["a command behind an assignment", "A=1 secret", 1, "only assignments"],
    ["a blank before =", "\n\nA =secret", 3, "only assignments"],
    ["a blank behind =", "CRONLOCK_AUTH= $ecret", 1, "only assignments"],
    ["command substitution", "A=1\nB=$(secret)", 2, 'of "$" only $NAME'],
    ["backticks", "A=`secret`", 1, '"`" is not understood'],
    ["backticks in quotes", 'A="x\n`secret`"', 2, '"`" is not understood'],
    ["arithmetic", "A=$((1+1))", 1, 'of "$" only $NAME'],
    ["a positional parameter", "A=$1", 1, 'of "$" only $NAME'],
    ["an operation on a variable", "A=${HOME##secret}", 1, 'of "$" only $NAME'],
    ["what a default runs", "A=${NONE:-$(secret)}", 1, 'of "$" only $NAME'],
    ["a function", "f() { secret; }", 1, "only assignments"],
    ["if", "if true; then A=1; fi", 1, "only assignments"],
    ["source", ". /etc/secret", 1, "only assignments"],
    ["&&", "A=1 && B=2", 1, "only assignments"],
    ["& in a word", "A=1&secret", 1, '"&" is not understood'],
    ["a redirection", "A=1>secret", 1, '">" is not understood'],
    ["an array", "A=(secret)", 1, '"(" is not understood'],
    ["+=", "A+=secret", 1, "only assignments"],
    ["a home folder", "A=~/secret", 1, '"~" is not understood'],
    ["an open single quote", "A=1\nB='secret\n\n", 2, "single quote is not closed"],
    ["an open double quote", 'A=1\nB="secret\n\n', 2, "double quote is not closed"],
    ["line breaks of Windows", "A=1\r\nB=secret\r\n", 1, "carriage returns"],
    ["a NUL", "A=1\nB=a\0secret", 2, "NUL"],
  ])("%s", (_, text, line, fault) => {
    const message = faultOf(text);
    expect(message).toMatch(fault);
    expect(message.startsWith(`/etc/cronlock.conf:${line}: `), message).toBe(true);
    expect(message).not.toContain("ecret");
  });

  test("a long line costs no more than its length", () => {
    const text = `A="${"x\\$".repeat(20_000)}"`;
    expect(read(text)).toEqual([["A", "x$".repeat(20_000)]]);
  });
});

function faultOf(text: string) {
  try {
    read(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it was read");
}
