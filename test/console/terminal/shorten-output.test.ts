import { expect, it } from "vitest";
import { type Cell, Emulator } from "../../../fixtures/console/emulator.ts";
import { shortenOutput } from "../../../src/console/terminal/output-sequences.ts";

const BLANK = " ".repeat(30);

const PICTURE = [
  `\x1b[48;5;233m\x1b[38;5;252m\x1b[1m\x1b[38;5;248m3\x1b[22m ${BLANK}\x1b[39m\x1b[49m`,
  `\x1b[48;2;1;2;3m\x1b[38;2;1;2;3m${BLANK}\x1b[48;5;7mx${BLANK}y\x1b[49m\x1b[39m`,
  `\x1b[7m${BLANK}x\x1b[27m`,
  `\x1b[4m${BLANK}x\x1b[24m`,
  "│ läuft ▇▇▁▁ 日本",
].join("\r\n");
const CHANGE = `\x1b[4A${"\x1b[E".repeat(4)}\x1b[3G\x1b[K\x1b[38;5;1m${BLANK}z\x1b[39m`;

/** Nobody sees how a blank would be written. */
function toVisible(cell: Cell): object {
  if (cell.text !== " " || cell.inverse || cell.underline) return cell;
  return { background: cell.background };
}

it("shows the same picture with fewer bytes", async () => {
  const show = async (texts: readonly string[]) => {
    const emulator = new Emulator(80, 6);
    for (const text of texts) await emulator.write(text);
    return { cells: emulator.getCells().map((row) => row.map(toVisible)), cursor: emulator.cursor };
  };
  const long = [PICTURE, CHANGE];
  const short = long.map((text) => shortenOutput(text, true));
  expect(await show(short)).toEqual(await show(long));
  expect(short.join("").length).toBeLessThan(0.75 * long.join("").length);
});

it("writes all blanks where erased cells lose their ground", () => {
  expect(shortenOutput(PICTURE, false)).toContain(BLANK);
});
