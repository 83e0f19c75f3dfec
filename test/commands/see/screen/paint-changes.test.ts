import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type Cell, Emulator } from "../../../../fixtures/console/emulator.ts";
import { formatChanges } from "../../../../src/commands/see/ansi-screen.ts";

const SIZE = { columns: 24, rows: 5 };

/** Returns the cells that a terminal shows after some output; line wrap is off. */
async function showCells(output: string): Promise<Cell[][]> {
  const emulator = new Emulator(SIZE.columns, SIZE.rows);
  await emulator.write(`\x1b[?7l${output}`);
  const cells = emulator.getCells();
  emulator.dispose();
  return cells.map((row) => row.map(forgetInvisible));
}

/** The colour of a blank, and whether it is bold or dim, cannot be seen. */
function forgetInvisible(cell: Cell): Cell {
  if (cell.text !== " " || cell.underline || cell.inverse) return cell;
  return { ...cell, foreground: undefined, bold: false, dim: false };
}

const formatFrame = (before: readonly string[], after: readonly string[]) =>
  formatChanges(before, after, SIZE.columns).output;

/** Colours of 16, 256 and 24 bits, attributes, their ends, and all off. */
const CODES = ["1", "2", "4", "7", "22", "24", "27", "31", "92", "39", "44", "49", "0", "", "1;31"].concat([
  "38;5;200",
  "48;5;17",
  "38;2;1;2;3",
  "48;2;4;57;94",
]);
const styledLine = fc
  .array(fc.tuple(fc.constantFrom(...CODES), fc.stringMatching(/^[a-c ●│…é漢]{0,7}$/u)), { maxLength: 5 })
  .map((parts) => {
    let [line, width] = ["", 0];
    for (const [code, text] of parts) {
      line += `\x1b[${code}m`;
      for (const character of text) {
        width += character === "漢" ? 2 : 1;
        if (width <= SIZE.columns) line += character;
      }
    }
    return `${line}\x1b[0m`;
  });

/** A frame, and what follows: another one, or the same one with its rows moved. */
const frames = fc
  .array(
    fc.tuple(fc.array(styledLine, { maxLength: SIZE.rows }), fc.integer({ min: -3, max: 3 }), fc.boolean()),
    { minLength: 2, maxLength: 5 },
  )
  .map((steps) => {
    const all: string[][] = [];
    for (const [lines, by, isMoved] of steps) {
      const last = all.at(-1) ?? [];
      all.push(isMoved ? last.map((_, row) => last[row - by] ?? lines[row] ?? "") : lines);
    }
    return all;
  });

test("the changes between frames lead to the same cells as the last frame alone", async () => {
  await fc.assert(
    fc.asyncProperty(frames, async (all) => {
      const last = all.at(-1) ?? [];
      const changes = all.map((frame, at) => formatFrame(all[at - 1] ?? [], frame)).join("");
      const alone = last.map((line, row) => `\x1b[${row + 1}H${line}`).join("");
      expect(await showCells(changes)).toEqual(await showCells(alone));
    }),
    { numRuns: 60 },
  );
});

test("parts of a change lead to the same cells as the whole, also if the target changes meanwhile", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.integer({ min: 1, max: 60 }), async (all, partLength) => {
      const last = all.at(-1) ?? [];
      let shown: readonly string[] = [];
      let written = "";
      let from = 0;
      // One part for each frame, and as many as it takes for the last one.
      for (const frame of [...all, ...Array<string[]>(SIZE.rows).fill(last)]) {
        const change = formatChanges(shown, frame, SIZE.columns, { length: partLength, from });
        written += change.output;
        ({ shown, next: from } = change);
      }
      expect(
        shown.findLastIndex((line, row) => line !== (last[row] ?? "")),
        "complete",
      ).toBe(-1);
      const alone = last.map((line, row) => `\x1b[${row + 1}H${line}`).join("");
      expect(await showCells(written)).toEqual(await showCells(alone));
    }),
    { numRuns: 60 },
  );
});

describe("the output for a change", () => {
  const LONG = ["a", "b", "c", "d"].map((letter) => letter.repeat(SIZE.columns));
  const held = (age: string) =>
    `  \x1b[32m● held\x1b[39m   web1:3121   \x1b[38;2;110;118;129m${age}\x1b[39m   0`;

  it.each([
    ["nothing", [held("12m4s")], [held("12m4s")], ""],
    ["one digit", [held("12m4s")], [held("12m5s")], "\x1b[1;27H\x1b[38;2;110;118;129m5\x1b[m"],
    ["the same place of the next row", ["ab", "ab"], ["ax", "ay"], "\x1b[1;2Hx\x1b[2;2Hy"],
    ["two near places", ["abcdef"], ["Abcdef".replace("e", "E")], "\x1b[1HAbcdE"],
    ["two places", ["abcdefghij"], ["Abcdefghij".replace("j", "J")], "\x1b[1HA\x1b[8CJ"],
    ["a shorter line", ["abcdef"], ["ab"], "\x1b[1;3H\x1b[K"],
    ["a blank instead of colour", ["\x1b[31ma\x1b[39m"], [" "], "\x1b[1H\x1b[K"],
    ["the colour of a blank", ["\x1b[31m \x1b[39ma"], ["\x1b[32m \x1b[39ma"], ""],
    [
      "a new line with one colour and blanks",
      [],
      ["\x1b[31ma\x1b[39m \x1b[31mb\x1b[39m"],
      "\x1b[1H\x1b[31ma b\x1b[m",
    ],
    [
      "a block of rows that has moved down",
      LONG,
      ["new", ...LONG.slice(0, 3)],
      "\x1b[1;4r\x1b[1H\x1b[1L\x1b[r\x1b[1Hnew",
    ],
    [
      "a block of rows that has moved up",
      LONG,
      [...LONG.slice(1), "new"],
      "\x1b[1;4r\x1b[1H\x1b[1M\x1b[r\x1b[4Hnew",
    ],
    [
      "a row of other words",
      ["one two three four five"],
      ["a       b       c"],
      "\x1b[1H\x1b[Ka\x1b[7Cb\x1b[7Cc",
    ],
    [
      "a gap after a colour",
      ["abcdefghijklmnopqrstuvw"],
      ["\x1b[31mA\x1b[39m                     w"],
      "\x1b[1H\x1b[31mA\x1b[21X\x1b[m",
    ],
    ["a long gap", ["abcdefghijklmnopqrstuvw"], ["a                     w"], "\x1b[1;2H\x1b[21X"],
    ["a line whose columns are not sure", ["漢a"], ["漢b"], "\x1b[1H\x1b[2K漢b\x1b[m"],
    ["a sequence that is not known", ["\x1b[53ma"], ["\x1b[53mb"], "\x1b[1H\x1b[2K\x1b[53mb\x1b[m"],
  ])("%s", (_, before, after, output) => {
    expect(formatFrame(before, after)).toBe(output);
  });
});
