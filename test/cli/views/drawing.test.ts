/** Areas, graphs, bars and levels of drawings. */
import { describe, expect, it } from "vitest";
import { parseSpans } from "../../../fixtures/console/parse-spans.ts";
import {
  ASCII_DRAWING,
  clipSpans,
  countGraphValues,
  drawArea,
  drawBar,
  drawGraph,
  drawLevel,
  joinDrawings,
  UNICODE_DRAWING,
} from "../../../src/cli/views/drawing.ts";
import type { Tone } from "../../../src/site/state/subject.ts";

describe("an area", () => {
  const values = [0, 0.01, 1, 2, 4, 8];

  it("has two values and four levels in a braille cell, and a dot for the smallest value", () => {
    expect(drawArea(values, { height: 1, most: 8 }, UNICODE_DRAWING)).toEqual(["⢀⣀⣼"]);
    expect(drawArea(values, { height: 2, most: 8 }, UNICODE_DRAWING)).toEqual(["  ⢸", "⢀⣠⣿"]);
  });

  it("hangs from the top", () => {
    expect(drawArea(values, { height: 2, most: 8, isHanging: true }, UNICODE_DRAWING)).toEqual([
      "⠈⠙⣿",
      "  ⢸",
    ]);
  });

  it("has one value in an ASCII cell", () => {
    expect(drawArea(values, { height: 2, most: 8 }, ASCII_DRAWING)).toEqual(["     #", " ..:##"]);
    expect(drawArea(values, { height: 2, most: 8, isHanging: true }, ASCII_DRAWING)).toEqual([
      " ''\"##",
      "     #",
    ]);
  });

  it("is empty without values", () => {
    expect(drawArea([0, 0], { height: 1, most: 0 }, UNICODE_DRAWING)).toEqual([" "]);
  });
});

it("a graph has its largest values at its edges, and as many values as it can show", () => {
  const values = Array.from({ length: countGraphValues(10, UNICODE_DRAWING) }, () => 12_300);
  const graph = drawGraph([values, [0.2]], { heights: [2, 1], tones: ["held", "waiting"] }, UNICODE_DRAWING);
  expect(graph.map((line) => line.map(({ text }) => text).join(""))).toEqual([
    "12.3k │⣿⣿⣿",
    "      │⣿⣿⣿",
    "    1 │⠁",
  ]);
  expect(graph.map((line) => line[1]?.role)).toEqual(["held", "held", "waiting"]);
});

it("the top of a column in which something failed has the colour of problems", () => {
  const graph = drawGraph(
    [[2, 2, 1, 1], [1]],
    { heights: [2, 1], tones: ["accent", "waiting"], bad: [true, false, true, false] },
    UNICODE_DRAWING,
  );
  expect(graph.map((line) => line.slice(1).map(({ text, role }) => [text, role]))).toEqual([
    [["⣿ ", "problem"]],
    [
      ["⣿", "accent"],
      ["⣿", "problem"],
    ],
    [["⡇", "waiting"]],
  ]);
});

it("a bar has a dim track", () => {
  expect(drawBar({ used: 1, total: 4 }, 4, "held", ASCII_DRAWING)).toEqual(parseSpans("{held}#{quiet}..."));
});

it.each([
  [0, "_"],
  [0.001, "."],
  [0.999, "%"],
  [1, "#"],
  [7, "#"],
])("the level of %d is %s", (part, sign) => {
  expect(drawLevel(part, ASCII_DRAWING)).toBe(sign);
});

it("lines are cut, and drawings stand side by side", () => {
  expect(clipSpans(parseSpans<Tone>("abc{held}def{}g"), 5)).toEqual(parseSpans("abc{held}d…"));
  const lines = joinDrawings([
    { lines: ["a", "b"].map(parseSpans<Tone>), width: 3 },
    { lines: [parseSpans<Tone>("c")], width: 3 },
  ]);
  expect(lines.map((line) => line.map(({ text }) => text).join(""))).toEqual(["a    c", "b    "]);
});
