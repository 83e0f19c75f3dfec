import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Cell, openTerminal, type Terminal } from "../../fixtures/console.ts";
import { WALL } from "./scene.ts";
import { scrubRow } from "./scrub.ts";
import type { Shot } from "./shots.ts";

export interface TakenScreen {
  /** Rows, with varying texts replaced by constants. */
  rows: readonly string[];
  cells: readonly (readonly Cell[])[];
}

/** A screen is complete if it is unchanged for this time, ms. The console computes some texts only after its first paint. */
const STILL_FOR = 700;
const PATIENCE = 10_000;

/** Starts a console on the scene, presses the keys, and takes the screen. @throws Error with the screen if it does not show the text */
export async function takeScreen(
  shot: Shot,
  endpoints: readonly string[],
  revision: bigint,
  stir?: (seen: (revision: bigint) => Promise<void>) => Promise<void>,
): Promise<TakenScreen> {
  const [columns, rows] = shot.size;
  const terminal = openTerminal({
    args: ["console", ...(shot.args ?? [])],
    columns,
    rows,
    endpoints,
    env: {
      COLORTERM: "truecolor",
      COLORFGBG: "15;0",
      TZ: "UTC",
      SIGNALBOX_HOST: "ops1.example.com",
      SIGNALBOX_MACROS: "CORES=4,RAM=8192",
      SCENE_WALL: String(WALL),
      NODE_OPTIONS: `--require ${join(import.meta.dirname, "frozen.cjs")}`,
      ...shot.env,
    },
  });
  try {
    if (rows > 20) await terminal.waitFor(`rev ${revision}`, PATIENCE);
    if (stir !== undefined) {
      await waitUntilStill(terminal);
      await stir((now) => terminal.waitFor(`rev ${now}`, PATIENCE));
    }
    for (const key of shot.keys ?? []) await pressKey(terminal, key);
    await terminal.waitFor(shot.shows, PATIENCE);
    await waitUntilStill(terminal);
    const taken = scrubScreen(terminal);
    terminal.kill("SIGTERM");
    await terminal.ended;
    return taken;
  } finally {
    await terminal.close();
  }
}

async function pressKey(terminal: Terminal, key: string): Promise<void> {
  await waitUntilStill(terminal);
  if (/^".*"$/.test(key)) terminal.type(key.slice(1, -1));
  else terminal.press(key);
}

async function waitUntilStill(terminal: Terminal): Promise<void> {
  const limit = performance.now() + PATIENCE;
  let since = performance.now();
  for (let before = ""; performance.now() - since < STILL_FOR; await pause(50)) {
    const now = terminal.getScreen().map(scrubRow).join("\n");
    if (now !== before) since = performance.now();
    before = now;
    if (performance.now() > limit) throw new Error(`the screen keeps changing:\n${now}`);
  }
}

/** Replaces varying texts in the cells. The colours stay in their columns if a row becomes longer or shorter. */
function scrubScreen(terminal: Terminal): TakenScreen {
  const rows = terminal.getScreen().map(scrubRow);
  const cells = terminal.getCells().map((row) => {
    const text = row.map((cell) => cell.text).join("");
    const clean = scrubRow(text);
    if (clean === text || text.length !== row.length) return row;
    const letters = Array.from(clean.padEnd(row.length));
    return row.map((cell, column) => ({ ...cell, text: letters[column] ?? " " }));
  });
  return { rows, cells };
}
