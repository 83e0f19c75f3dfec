/** What cells without colours of their own look like, and cells that are erased. */
import { expect, it } from "vitest";
import { Emulator } from "../../../fixtures/console/emulator.ts";
import { CLEAR_SCREEN, OWN_COLOURS, paintBase } from "../../../src/console/terminal/output-sequences.ts";

const BASE = { letters: "\x1b[38;5;10m", ground: "\x1b[48;5;20m" };

async function show(...texts: readonly string[]) {
  const emulator = new Emulator(8, 2);
  for (const text of texts) await emulator.write(text);
  const cells = emulator
    .getCells()
    .map((row) => row.map(({ foreground, background }) => [foreground, background]));
  emulator.dispose();
  return cells;
}

it("paints them, and leaves the terminal its own for what others write", async () => {
  const text = `${CLEAR_SCREEN}a\x1b[38;5;1mb\x1b[39m\x1b[48;5;2mc\x1b[49md`;
  const [first, second] = await show(paintBase(text, BASE), "\x1b[2;1Hx");
  expect(first).toEqual([[10, 20], [1, 20], [10, 2], [10, 20], ...Array(4).fill([undefined, 20])]);
  expect(second).toEqual([[undefined, undefined], ...Array(7).fill([undefined, 20])]);
});

it("changes nothing where the base is the terminal's own", () => {
  expect(paintBase("a\x1b[39mb", OWN_COLOURS)).toBe("a\x1b[39mb");
});
