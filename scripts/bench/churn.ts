import { setTimeout as pause } from "node:timers/promises";
import type { Terminal } from "../../fixtures/console.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { openLoadedConsole, readResidentMemory } from "./console.ts";
import { startLoad } from "./console-load.ts";
import { formatNumber, printNote, printTable } from "./figures.ts";
import { readProcessorTime } from "./measure.ts";
import { fillLocks, LOCK_SESSION } from "./scale.ts";

/** Length of one row of the table, and of the whole, ms. */
const WINDOW = 300_000;
const DURATION = 3_600_000;
const EVENTS_PER_SECOND = 100;
/** How often a key is pressed, ms. Every so many presses, it is the key for the next tab. */
const PRESS_EVERY = 1_000;
const PRESSES_PER_TAB = 30;

/** Measures the memory of the console over an hour in which runs come and go, and somebody uses it. */
export async function benchmarkChurn(cluster: BenchCluster): Promise<void> {
  const [locks, windows] = cluster.quick ? [1_000, 2] : [10_000, DURATION / WINDOW];
  const length = cluster.quick ? WINDOW / 10 : WINDOW;
  await fillLocks(cluster.store, locks);
  const terminal = await openLoadedConsole(cluster);
  const load = await startLoad(cluster.store, locks, EVENTS_PER_SECOND);
  try {
    const rows = [formatRow(terminal, "0", undefined)];
    for (let window = 1; window <= windows; window += 1) {
      await cluster.store.renew(LOCK_SESSION);
      const share = await pressKeys(terminal, length);
      rows.push(formatRow(terminal, formatNumber((window * length) / 60_000, 1), share));
      console.log(rows.at(-1)?.join("  ")); // an hour is long
    }
    printTable(
      `The console at ${locks} locks with ${10 * locks} waiters, ${EVENTS_PER_SECOND} events per second`,
      ["minutes", "memory, MiB", "most so far, MiB", "processor, %"],
      rows,
    );
    printNote(`${load.events} events; a key each second, another tab every ${PRESSES_PER_TAB} s`);
  } finally {
    await load.stop();
    await terminal.close();
  }
}

/** Presses keys for a while. @returns the share of one processor that the console used, % */
async function pressKeys(terminal: Terminal, ms: number): Promise<number> {
  const start = { at: performance.now(), processor: readProcessorTime(terminal.pid) };
  for (let press = 1; performance.now() - start.at < ms; press += 1) {
    terminal.press(press % PRESSES_PER_TAB === 0 ? "]" : "down");
    await pause(PRESS_EVERY);
  }
  return (100 * (readProcessorTime(terminal.pid) - start.processor)) / (performance.now() - start.at);
}

function formatRow(terminal: Terminal, minutes: string, share: number | undefined): string[] {
  const memory = readResidentMemory(terminal.pid).map((value) => formatNumber(value, 0));
  return [minutes, ...memory, share === undefined ? "" : formatNumber(share, 0)];
}
