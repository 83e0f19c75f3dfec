/** `npm run demo -- --console`, the first thing that many people start: it comes up on a busy machine. */
import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openTerminal } from "../../fixtures/console.ts";

const DEMO = resolve(import.meta.dirname, "../../scripts/demo.ts");

/** Keeps processors busy until the test ends. */
function startBusyLoops(count: number) {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  onTestFinished(() => loops.forEach((loop) => void loop.kill("SIGKILL")));
}

it("shows a live cluster with jobs beside four busy loops, and gives the terminal back", async () => {
  startBusyLoops(4);
  const demo = openTerminal({ columns: 140, rows: 44, command: [process.execPath, DEMO, "--console"] });
  onTestFinished(() => demo.close());
  await demo.waitFor(/live rev \d+/);
  await demo.waitFor(/● \d\d held/);
  await demo.waitFor(/BUSIEST QUEUES {2}waiters/);
  demo.press("q");
  expect(await demo.ended).toEqual({ code: 0, signal: undefined });
  expect(demo.leftBehind).toEqual([]);
});
