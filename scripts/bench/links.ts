import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openTerminal, type Terminal } from "../../fixtures/console.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { openPlayground } from "../demo/playground.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { formatNumber, printNote, printTable } from "./figures.ts";

/** Bytes per second of the slow line. */
const RATE = 2_000;
const SLOW_LINK = join(import.meta.dirname, "../../fixtures/console/slow-link.ts");
const SIZES = [
  [80, 24],
  [120, 40],
  [160, 50],
] as const;
const TABS = 10;
/** The screen is complete when it does not change for this time, ms. */
const STILL = 1_000;

/** Measures what the console writes to its terminal on the demo's site. */
export async function benchmarkLinks({ quick }: BenchCluster): Promise<void> {
  const closing: (() => unknown)[] = [];
  try {
    const { endpoints } = await openPlayground(1, closing, new AbortController().signal);
    const seconds = quick ? 10 : 60;
    const busy = await measureBytes(endpoints, seconds);
    await closing.pop()?.(); // the jobs of the site
    const idle = await measureBytes(endpoints, seconds);
    const switches = [];
    for (const size of SIZES) switches.push(await measureSwitches(endpoints, size));
    printTable(
      "Bytes per second that the console writes at 160x50",
      ["", ""],
      [
        ["the demo's site", formatNumber(busy, 0)],
        ["the same site without jobs", formatNumber(idle, 0)],
      ],
    );
    printTable(
      `A change of the tab over a line of ${RATE} bytes per second`,
      ["size", "bytes, median", "bytes, most", "s, median", "s, most"],
      switches,
    );
    printNote("on a terminal of 256 colours, for all tabs of the site");
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

async function measureBytes(endpoints: readonly string[], seconds: number): Promise<number> {
  const terminal = openTerminal({ args: ["console"], columns: 160, rows: 50, endpoints });
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

async function measureSwitches(
  endpoints: readonly string[],
  [columns, rows]: readonly [number, number],
): Promise<string[]> {
  const command = [process.execPath, SLOW_LINK, String(RATE), process.execPath, BUNDLE, "console"] as const;
  const terminal = openTerminal({ command, columns, rows, endpoints });
  try {
    await terminal.waitFor(/live rev \d/, 60_000);
    const figures = [];
    for (let tab = 0; tab < TABS; tab += 1) figures.push(await measureSwitch(terminal));
    terminal.press("q");
    await terminal.ended;
    const bytes = figures.map((one) => one.bytes).sort((a, b) => a - b);
    const times = figures.map((one) => one.ms / 1_000).sort((a, b) => a - b);
    const middle = Math.floor(TABS / 2);
    return [
      `${columns}x${rows}`,
      ...[bytes[middle], bytes.at(-1)].map((value = 0) => formatNumber(value, 0)),
      ...[times[middle], times.at(-1)].map((value = 0) => formatNumber(value, 2)),
    ];
  } finally {
    await terminal.close();
  }
}

/** Presses the key for the next tab, and waits until the screen is still. */
async function measureSwitch(terminal: Terminal): Promise<{ bytes: number; ms: number }> {
  await waitUntilStill(terminal);
  const before = terminal.bytes;
  const at = performance.now();
  terminal.press("]");
  const changedAt = await waitUntilStill(terminal);
  return { bytes: terminal.bytes - before, ms: changedAt - at };
}

/** @returns when the last byte arrived */
async function waitUntilStill(terminal: Terminal): Promise<number> {
  let [bytes, at] = [terminal.bytes, performance.now()];
  while (performance.now() - at < STILL) {
    await pause(20);
    if (terminal.bytes !== bytes) [bytes, at] = [terminal.bytes, performance.now()];
  }
  return at;
}
