import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { openTerminal, type Terminal } from "../../fixtures/console.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { openPlayground } from "../demo/playground.ts";
import type { BenchCluster } from "./bench-cluster.ts";
import { computeMedian, formatNumber, printNote, printTable } from "./figures.ts";

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
/** Cells that may still change when the screen is painted: ages and numbers. */
const LIVE_CELLS = 0.01;
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
    await closing.pop()?.(); // the workers: nothing but the keys changes the screen
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
      ["size", "bytes, median", "bytes, most", "table, s, median", "most", "all, s, median", "most"],
      switches,
    );
    printNote(
      "on a terminal of 256 colours, for all tabs of the site, on which nothing runs; table: the upper half of the screen",
    );
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
    return [
      `${columns}x${rows}`,
      ...formatMiddleAndMost(figures.map(({ bytes }) => bytes)),
      ...formatMiddleAndMost(figures.map(({ table }) => table / 1_000)),
      ...formatMiddleAndMost(figures.map(({ all }) => all / 1_000)),
    ];
  } finally {
    await terminal.close();
  }
}

function formatMiddleAndMost(values: readonly number[]): string[] {
  const places = Math.max(...values) < 100 ? 2 : 0;
  return [computeMedian(values), Math.max(...values)].map((value) => formatNumber(value, places));
}

interface SwitchFigures {
  bytes: number;
  /** When the upper half of the screen, and when all of it, was as in the end, ms after the key. */
  table: number;
  all: number;
}

/** Presses the key for the next tab, and follows the screen until it is still. */
async function measureSwitch(terminal: Terminal): Promise<SwitchFigures> {
  await followScreen(terminal);
  const before = terminal.bytes;
  const start = performance.now();
  terminal.press("]");
  const screens = await followScreen(terminal);
  const half = Math.ceil(terminal.getScreen().length / 2);
  return {
    bytes: terminal.bytes - before,
    table: findPaintedAt(screens.map(({ at, lines }) => ({ at, lines: lines.slice(0, half) }))) - start,
    all: findPaintedAt(screens) - start,
  };
}

interface TimedScreen {
  at: number;
  lines: readonly string[];
}

/** Collects the screen after each change, until it is still. */
async function followScreen(terminal: Terminal): Promise<TimedScreen[]> {
  const screens: TimedScreen[] = [];
  let [bytes, changedAt] = [-1, performance.now()];
  while (performance.now() - changedAt < STILL) {
    if (terminal.bytes !== bytes) {
      [bytes, changedAt] = [terminal.bytes, performance.now()];
      screens.push({ at: changedAt, lines: terminal.getScreen() });
    }
    await pause(20);
  }
  return screens;
}

/** Returns the time from which all screens are like the last one, but for some cells. */
function findPaintedAt(screens: readonly TimedScreen[]): number {
  const last = screens.at(-1) as TimedScreen;
  const least = LIVE_CELLS * last.lines.join("").length;
  const other = screens.findLastIndex(({ lines }) => countOtherCells(lines, last.lines) > least);
  return (screens[other + 1] ?? last).at;
}

function countOtherCells(one: readonly string[], other: readonly string[]): number {
  const a = one.map((line) => line.padEnd(240)).join("");
  const b = other.map((line) => line.padEnd(240)).join("");
  let count = 0;
  for (let at = 0; at < b.length; at += 1) if (a[at] !== b[at]) count += 1;
  return count;
}
