// Covers scripts/names/covers.ts, scripts/names/logic.ts
import { describe, expect, test } from "vitest";
import { listCovered } from "../../scripts/names/covers.ts";
import { hasLogic } from "../../scripts/names/logic.ts";

const LINES = "  work();\n".repeat(10);
const BRANCH = "  if (a) work();\n";

describe("a source has logic", () => {
  test.each<[string, string, boolean]>([
    ["a long function that branches", `export function f() {\n${LINES}${BRANCH}}`, true],
    ["a long function that does not", `export function f() {\n${LINES}}`, false],
    ["a short function that branches", `export function f() {\n${BRANCH}}`, false],
    ["a function that is not exported", `function f() {\n${LINES}${BRANCH}}\nexport const a = 1;`, false],
    ["a class that loops", `export class A {\n  f() {\n${LINES}for (;;) work();\n}}`, true],
    ["a function in a constant", `export const f = create(async () => {\n${LINES}${BRANCH}});`, true],
    ["types", `export interface A {\n${"  a: 1;\n".repeat(20)}}`, false],
    ["after a comment", `/** é */\n// text\nexport function f() {\n${LINES}${BRANCH}}`, true],
  ])("%s", (_, source, expected) => {
    expect(hasLogic(source, false)).toBe(expected);
  });
});

describe("the sources that a test names", () => {
  test.each<[string, string[]]>([
    ["// Covers src/a.ts\nimport x;", ["src/a.ts"]],
    [
      "// Covers src/a.ts, src/b-c/d.impl.ts,\n// src/e.tsx\n/** Text. */\nimport x;",
      ["src/a.ts", "src/b-c/d.impl.ts", "src/e.tsx"],
    ],
    ["/** Text.\n * Covers src/a.ts, src/b.ts.\n */\nimport x;", ["src/a.ts", "src/b.ts"]],
    ["/** Text. */\n// Covers src/a.ts\nimport x;", ["src/a.ts"]],
    ["// Covers src/a.ts and text like src/b.ts\nimport x;", ["src/a.ts"]],
    ["import x;\n// Covers src/a.ts\n", []],
    ["", []],
  ])("%j", (text, expected) => {
    expect(listCovered(text)).toEqual(expected);
  });
});
