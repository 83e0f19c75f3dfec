import { describe, expect, it, onTestFinished } from "vitest";
import { Emulator } from "../../../../fixtures/console/emulator.ts";
import { AnsiScreen } from "../../../../src/cli/commands/see/live-output.ts";
import { computeDisplayWidth } from "../../../../src/core/base/display-width.ts";

/** Returns the screen of a terminal of 40 columns after several frames. */
async function seen(...frames: readonly (readonly string[])[]) {
  const emulator = new Emulator(40, 4);
  onTestFinished(() => emulator.dispose());
  let written = "";
  const writeOutput = (text: string) => {
    written += text;
    return true;
  };
  const terminal = { getSize: () => ({ columns: 40, rows: 4 }) };
  const screen = new AnsiScreen({ writeOutput, terminal } as unknown as ConstructorParameters<
    typeof AnsiScreen
  >[0]);
  screen.enter();
  for (const frame of frames) screen.paint(frame);
  await emulator.write(written);
  return emulator.getScreen();
}

describe("a frame after another", () => {
  const full = "x".repeat(40);
  // As wide as the terminal by our measure; few terminals agree on flags and families.
  const flags = "\u{1f1e9}\u{1f1ea}".repeat(20);

  it("leaves nothing of what stood there, however wide the terminal takes what is there now", async () => {
    expect(computeDisplayWidth(flags)).toBe(40);
    const [first] = await seen([full], [flags]);
    expect(first).not.toContain("x");
  });

  it("that fills its rows keeps their last character", async () => {
    expect(await seen(["a"], [full, full])).toEqual([full, full, "", ""]);
  });
});
