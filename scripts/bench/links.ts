import { setTimeout as pause } from "node:timers/promises";
import { openTerminal } from "../../fixtures/console.ts";
import { openPlayground } from "../demo/playground.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { formatNumber, printTable } from "./figures.ts";

/** Until the runs of the site have ended, ms. */
const LAST_RUNS = 60_000;

/** Measures what the console writes to its terminal on the demo's site. */
export async function benchmarkLinks({ quick }: BenchCluster): Promise<void> {
  const closing: (() => unknown)[] = [];
  try {
    const { endpoints } = await openPlayground(1, closing, new AbortController().signal);
    const seconds = quick ? 10 : 60;
    const busy = await measureBytes(endpoints, seconds);
    await closing.pop()?.(); // the jobs of the site
    await pause(LAST_RUNS);
    const idle = await measureBytes(endpoints, seconds);
    printTable(
      "Bytes per second that the console writes at 160x50",
      ["", ""],
      [
        ["the demo's site", formatNumber(busy, 0)],
        ["the same site without jobs", formatNumber(idle, 0)],
      ],
    );
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function measureBytes(endpoints: readonly string[], seconds: number): Promise<number> {
  const terminal = openTerminal({ args: ["console", "--view", "locks"], columns: 160, rows: 50, endpoints });
  try {
    await terminal.waitFor(/live rev \d/, 60_000);
    await pause(12_000); // nobody types any more
    const before = terminal.bytes;
    await pause(seconds * 1_000);
    return (terminal.bytes - before) / seconds;
  } finally {
    await terminal.close();
  }
}
