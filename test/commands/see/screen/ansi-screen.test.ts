import { describe, expect, it, onTestFinished } from "vitest";
import { Emulator } from "../../../../fixtures/console/emulator.ts";
import { computeDisplayWidth } from "../../../../src/base/display-width.ts";
import { AnsiScreen } from "../../../../src/commands/see/ansi-screen.ts";

/** Returns the screen of a terminal of 40 columns after several frames. */
async function seen(...frames: readonly (readonly string[])[]): Promise<string[]> {
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

describe("a frame in parts", () => {
  it("is complete after some calls, and the rows below stay as they were until then", async () => {
    const emulator = new Emulator(40, 4);
    onTestFinished(() => emulator.dispose());
    let written = "";
    const io = {
      writeOutput: (text: string) => {
        written += text;
        return true;
      },
      terminal: { getSize: () => ({ columns: 40, rows: 4 }) },
    };
    const screen = new AnsiScreen(io as unknown as ConstructorParameters<typeof AnsiScreen>[0]);
    const read = async () => {
      await emulator.write(written);
      written = "";
      return emulator.getScreen();
    };
    screen.enter();
    const before = ["before one", "before two", "before three", "before four"];
    const after = ["after one", "after two", "after three"];
    screen.paint(before);
    expect(screen.isComplete).toBe(true);
    screen.paint(after, 20);
    expect(screen.isComplete).toBe(false);
    expect(await read()).toEqual([...after.slice(0, 2), ...before.slice(2)]);
    for (let part = 0; part < 4 && !screen.isComplete; part += 1) screen.paint(after, 20);
    expect(screen.isComplete).toBe(true);
    expect(await read()).toEqual([...after, ""]);
  });

  it("reaches the last row even if the first one changes with each part", async () => {
    const emulator = new Emulator(40, 4);
    onTestFinished(() => emulator.dispose());
    let written = "";
    const io = {
      writeOutput: (text: string) => {
        written += text;
        return true;
      },
      terminal: { getSize: () => ({ columns: 40, rows: 4 }) },
    };
    const screen = new AnsiScreen(io as unknown as ConstructorParameters<typeof AnsiScreen>[0]);
    screen.enter();
    for (let turn = 0; turn < 12; turn += 1)
      screen.paint([String(turn % 10).repeat(40), "second", "third", "last row"], 20);
    await emulator.write(written);
    expect(emulator.getScreen().slice(1)).toEqual(["second", "third", "last row"]);
  });
});
