import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { describe, expect, test } from "vitest";
import { MUTANTS } from "../../fixtures/mutants.ts";
import { changeFunction } from "../../fixtures/mutate.ts";

test.each(Object.entries(MUTANTS))(
  "every mutant still finds its rule: %s",
  (_, { file, function: name, change }) => {
    const source = readFileSync(file, "utf8");
    const changed = changeFunction(source, name, change);
    expect(changed).not.toBe(source);
    expect(() => stripTypeScriptTypes(changed)).not.toThrow();
  },
);

const SOURCE = `// é: offsets are bytes
export function first(list: string[]): string[] {
  const size = list.length;
  if (size > 3) warn(list);
  if (size > 2) return check(list, "ä");
  const all = [...head(list), [tail(list)]];
  return all.flat();
}
class Box {
  #open(): void {
    this.lock.turn(1);
  }
  turn(): number { return 1; }
}
`;

describe("a change of a function", () => {
  test.each([
    ["first", { body: "return [];" }, "{\n  const size", "{ return []; }"],
    ["first", { returns: "[]" }, "return all.flat();", "return [];"],
    ["first", { variable: "size", value: "0" }, "list.length;", "0;"],
    ["first", { call: "check", value: "list" }, 'check(list, "ä")', "list"],
    ["first", { removes: ["warn"] }, "if (size > 3) warn(list);", ""],
    ["first", { removes: ["size", "check"] }, 'if (size > 2) return check(list, "ä");', ""],
    ["first", { removes: ["head"] }, "...head(list)", "...[]"],
    ["first", { removes: ["tail"] }, "[tail(list)]", "...[]"],
    ["Box.#open", { call: "turn", value: "0" }, "this.lock.turn(1)", "0"],
    ["Box.turn", { returns: "2" }, "return 1;", "return 2;"],
  ])("%s %j", (name, change, before, after) => {
    const changed = changeFunction(SOURCE, name, change);
    const at = SOURCE.indexOf(before);
    expect(changed.slice(0, at)).toBe(SOURCE.slice(0, at));
    expect(changed.slice(at, at + after.length)).toBe(after);
    expect(changed.endsWith("}\n")).toBe(true);
  });

  test.each([
    ["second", { body: "" }],
    ["turn", { body: "" }],
    ["first", { variable: "none", value: "0" }],
    ["first", { call: "none", value: "0" }],
    ["first", { removes: ["size"] }],
    ["first", { removes: ["none"] }],
    ["Box.#open", { returns: "1" }],
  ])("that is not found once is an error: %s %j", (name, change) => {
    expect(() => changeFunction(SOURCE, name, change)).toThrow(/is found \d+ times, not once/);
  });
});
