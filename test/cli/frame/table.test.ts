import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { generateText } from "../../../fixtures/protocol/samples.ts";
import { renderTextTable } from "../../../src/cli/frame/table.ts";
import { computeDisplayWidth } from "../../../src/core/base/display-width.ts";

describe("a table", () => {
  test("has columns as wide as they need be, and a dash where there is nothing", () => {
    const text = renderTextTable(
      ["NAME", "N", "END"],
      [
        ["a", "100", ""],
        ["日本", "", "x"],
        ["é\u0301tat", "2", "last"],
      ],
    );
    expect(text.split("\n")).toEqual([
      "NAME  N    END",
      "a     100  -",
      "日本  -    x",
      "é\u0301tat  2    last",
      "",
    ]);
  });

  test("keeps what comes from others on its line, and in its column", () => {
    const text = renderTextTable(
      ["HOST", "X"],
      [
        ["a\nb\x1b[31m", "\u202ex"],
        ["\x1b]0;title\x07", "\x9b1m"],
      ],
    );
    expect(text).toBe("HOST  X\na b   \\u{202e}x\n-     -\n");
  });

  test("cuts a cell that would make every row as long as a value in etcd can be", () => {
    const text = renderTextTable(
      ["NAME", "TOTAL"],
      [
        ["db", "x".repeat(900_000)],
        ["é".repeat(900_000), "1"],
      ],
    );
    expect(text.length).toBeLessThan(5_000); // three lines
    expect(text).toMatch(/x…\n/);
  });

  test("without rows is its head", () => {
    expect(renderTextTable(["A", "B"], [])).toBe("A  B\n");
  });

  test("has one line a row, and every second column begins where the first one's widest cell ends", () => {
    const cell = fc.oneof(generateText({ maxLength: 8 }), fc.constantFrom("日本", "👍", "e\u0301", "\n"));
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, fc.constant("|"))), (rows) => {
        const lines = renderTextTable(["HEAD", "|"], rows).split("\n");
        expect(lines.pop()).toBe("");
        expect(lines).toHaveLength(rows.length + 1);
        const bars = lines.map((line) => computeDisplayWidth(line.slice(0, line.lastIndexOf("|"))));
        expect(new Set(bars).size).toBe(1);
      }),
    );
  });
});
