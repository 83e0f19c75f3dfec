import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseShellCommands, UNKNOWN_VALUE } from "../../../src/cli/syntax/shell-parser.ts";

const VARIABLES = new Map([
  ["BIN", "/opt/bin"],
  ["OPTS", "-a  -b"],
  ["EMPTY", ""],
]);

const words = (text: string) => {
  const parsed = parseShellCommands(text, VARIABLES);
  return "fault" in parsed ? parsed.fault : parsed.value.map((command) => command.words);
};

test("the redirections of a command", () => {
  const parsed = parseShellCommands(`a > "x y" 2>&1 b; c 2>>$BIN/l <in | d &>z`, VARIABLES);
  const redirections = "value" in parsed ? parsed.value.map((command) => command.redirections) : [];
  expect(redirections.map((some) => some.map(({ operator, target }) => `${operator} ${target}`))).toEqual([
    ["> x y", ">& 1"],
    [">> /opt/bin/l", "< in"],
    ["&> z"],
  ]);
});

describe("a line of shell", () => {
  test.each<[line: string, commands: string[][] | string]>([
    ["", []],
    ["   ", []],
    ["a b  c", [["a", "b", "c"]]],
    ["a 'b c' d", [["a", "b c", "d"]]],
    [`a "b 'c' d"`, [["a", "b 'c' d"]]],
    ["a''b", [["ab"]]],
    ["a ''", [["a", ""]]],
    [`a ""`, [["a", ""]]],
    ["a\\ b c\\\\d", [["a b", "c\\d"]]],
    [`a "b \\"c\\" \\d \\\\"`, [["a", 'b "c" \\d \\']]],
    [`--lease FQDN_mem='4:int(MEMMB/1024)'`, [["--lease", "FQDN_mem=4:int(MEMMB/1024)"]]],
    ["a # b", [["a"]]],
    ["a#b", [["a#b"]]],
    ["# a", []],
    ["a && b || c; d | e & f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]],
    ["a&&b", [["a"], ["b"]]],
    ["(a; b)", [["a"], ["b"]]],
    ["{ a; b; }", [["a"], ["b"]]],
    ["if a; then b; else c; fi", [["a"], ["b"], ["c"]]],
    ["! a", [["a"]]],
    ["a '&&' b", [["a", "&&", "b"]]],
    ["a > /dev/null 2>&1", [["a"]]],
    ["a >/dev/null 2>>x b", [["a", "b"]]],
    ["a &> x; b", [["a"], ["b"]]],
    ["a 2> 'x y' b", [["a", "b"]]],
    ["a2>x b", [["a2", "b"]]],
    ["< in a", [["a"]]],
    ["a > $OPTS b", [["a", "b"]]],
    ["a b\\", [["a", "b\\"]]],
    [`$BIN/x \${BIN}`, [["/opt/bin/x", "/opt/bin"]]],
    ["x $OPTS y", [["x", "-a", "-b", "y"]]],
    [`x "$OPTS" y`, [["x", "-a  -b", "y"]]],
    ["x '$OPTS'", [["x", "$OPTS"]]],
    ["x $EMPTY y", [["x", "y"]]],
    [`x "$EMPTY" y`, [["x", "", "y"]]],
    ["x $NOBODY", [["x", UNKNOWN_VALUE]]],
    ["x $", [["x", "$"]]],
    ["x a$(hostname)b", [["x", `a${UNKNOWN_VALUE}b`]]],
    [`x "$(a "b)" ')')c"`, [["x", `${UNKNOWN_VALUE}c`]]],
    ["x `hostname`-y", [["x", `${UNKNOWN_VALUE}-y`]]],
    [`x \${BIN:-y z}`, [["x", UNKNOWN_VALUE]]],
    ["x $((1 + 2))", [["x", UNKNOWN_VALUE]]],
    ["a 'b", "a quote (') is not closed"],
    [`a "b`, 'a quote (") is not closed'],
    ["a `b", "a quote (`) is not closed"],
    ["a $(b", "a bracket ($() is not closed"],
    [`a \${b`, `a bracket (\${) is not closed`],
  ])("%s", (line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  test("says what stands after a command", () => {
    const parsed = parseShellCommands("a && b || c; d", new Map());
    expect("value" in parsed && parsed.value.map(({ next }) => next)).toEqual(["&&", "||", ";", ""]);
  });

  test.each<[line: string, sources: string[]]>([
    ["  a 'b  c'\t\"d\" >e f\\ g # h", ["a", "'b  c'", '"d"', "f\\ g"]],
    ["if a; then 'b'$C\"d\"; fi", ["a", "'b'$C\"d\""]],
    [`a $(b 'c)') \`d\` \${E:-f g} 2>&1`, ["a", "$(b 'c)')", "`d`", `\${E:-f g}`]],
  ])("knows where the words of %s stand", (line, sources) => {
    const parsed = parseShellCommands(line, new Map());
    const spans = "value" in parsed ? parsed.value.flatMap((command) => command.spans) : [];
    expect(spans.map(({ start, end }) => line.slice(start, end))).toEqual(sources);
    expect(spans.map(({ isPart }) => isPart)).toEqual(sources.map(() => false));
  });

  test("a variable of several words is a part of each", () => {
    const parsed = parseShellCommands("a$TWO b", new Map([["TWO", "1 2"]]));
    expect("value" in parsed && parsed.value[0]).toMatchObject({
      words: ["a1", "2", "b"],
      spans: [
        { start: 0, isPart: true },
        { end: 5, isPart: true },
        { start: 6, end: 7, isPart: false },
      ],
    });
  });

  test("tells what is not known, patterns too where that is asked for", () => {
    const told: string[] = [];
    const line = `a $B "$C-\${D:-x}" \`e\` *.f [g]? ~/h 'i*' "j?" http://k/?l \\* ~`;
    const parsed = parseShellCommands(line, new Map(), ({ source, kind }) => {
      told.push(`${kind} ${source}`);
      return "@";
    });
    expect(told).toEqual([
      "bare $B",
      "quoted $C",
      `quoted \${D:-x}`,
      "bare `e`",
      "pattern *",
      "pattern [g]",
      "pattern ?",
      "pattern ~",
      "pattern ~",
    ]);
    const words = "value" in parsed ? parsed.value[0]?.words : [];
    expect(words).toEqual(["a", "@", "@-@", "@", "@.f", "@@", "@/h", "i*", "j?", "http://k/?l", "*", "@"]);
  });

  test("words in single quotes come back as they were, whatever they hold", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" }), { minLength: 1, maxLength: 6 }), (list) => {
        const line = ["x", ...list.map((word) => `'${word.replaceAll("'", `'\\''`)}'`)].join(" ");
        expect(words(line)).toEqual([["x", ...list]]);
      }),
    );
  });

  test("never throws, and always ends", () => {
    const piece = fc.constantFrom(..."ab '\"\\$(){}`#&|;<>2\n=%", "$(", "${", "&&", "sh -c");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        expect(() => words(pieces.join(""))).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });
});
