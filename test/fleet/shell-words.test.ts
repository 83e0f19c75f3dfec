import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shellCommands, UNKNOWN } from "../../src/fleet/shell-words.ts";

const VARIABLES = new Map([
  ["BIN", "/opt/bin"],
  ["OPTS", "-a  -b"],
  ["EMPTY", ""],
]);

const words = (text: string) => {
  const parsed = shellCommands(text, VARIABLES);
  return "fault" in parsed ? parsed.fault : parsed.value.map((command) => command.words);
};

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
    [`$BIN/x \${BIN}`, [["/opt/bin/x", "/opt/bin"]]],
    ["x $OPTS y", [["x", "-a", "-b", "y"]]],
    [`x "$OPTS" y`, [["x", "-a  -b", "y"]]],
    ["x '$OPTS'", [["x", "$OPTS"]]],
    ["x $EMPTY y", [["x", "y"]]],
    [`x "$EMPTY" y`, [["x", "", "y"]]],
    ["x $NOBODY", [["x", UNKNOWN]]],
    ["x $", [["x", "$"]]],
    ["x a$(hostname)b", [["x", `a${UNKNOWN}b`]]],
    [`x "$(a "b)" ')')c"`, [["x", `${UNKNOWN}c`]]],
    ["x `hostname`-y", [["x", `${UNKNOWN}-y`]]],
    [`x \${BIN:-y z}`, [["x", UNKNOWN]]],
    ["x $((1 + 2))", [["x", UNKNOWN]]],
    ["a 'b", "a quote (') is not closed"],
    [`a "b`, 'a quote (") is not closed'],
    ["a `b", "a quote (`) is not closed"],
    ["a $(b", "a bracket ($() is not closed"],
    [`a \${b`, `a bracket (\${) is not closed`],
  ])("%s", (line, expected) => {
    expect(words(line)).toEqual(expected);
  });

  test("says what stands after a command", () => {
    const parsed = shellCommands("a && b || c; d", new Map());
    expect("value" in parsed && parsed.value.map(({ next }) => next)).toEqual(["&&", "||", ";", ""]);
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
