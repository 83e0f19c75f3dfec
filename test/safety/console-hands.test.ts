/** What an operator's hands do in the console beside changing things: find, filter, sort, copy, click. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Terminal } from "../../fixtures/console.ts";
import { ticketText } from "../../src/protocol/ticket.ts";
import { ticketWith } from "../protocol/samples.ts";
import { seat } from "./support/seat.ts";
import { type Stage, Theatre } from "./support/theatre.ts";

const theatre = new Theatre();

/** Locks that are held on hosts, without runs. */
async function scene(locks: Readonly<Record<string, string>>): Promise<Stage> {
  const stage = await theatre.stage("http");
  for (const [lock, host] of Object.entries(locks)) await hold(stage, lock, host);
  return stage;
}

async function hold(stage: Stage, lock: string, host: string): Promise<void> {
  const run = lock.replaceAll(/\W/g, "").padEnd(16, "0").slice(0, 16);
  const value = ticketText(ticketWith({ run, host, state: "held" }));
  await stage.store.txn({
    compare: [],
    success: [{ op: "put", key: stage.keys.lock(lock, run), value }],
    failure: [],
  });
}

const SITE = {
  alpha: "web1.example.com",
  beta: "web2.example.com",
  gamma: "db1.example.com",
  delta: "web1.example.com",
};

/** The row that the cursor is on: the one with a background, or inverted. */
function selected(console: Terminal): string {
  const rows = console.cells().map((cells) => ({
    text: cells.map(({ text }) => text || " ").join(""),
    isLit: cells.filter(({ background, inverse }) => background !== undefined || inverse).length > 40,
  }));
  return (
    rows
      .slice(1, -1)
      .find(({ isLit }) => isLit)
      ?.text.trim() ?? ""
  );
}

it("finds a lock by a few letters, and goes to it", async () => {
  const console = await seat(await scene(SITE));
  await console.until(/gamma +● held/);
  console.press(":");
  await console.until("─ palette ");
  console.type("gam");
  await console.until(/gamma +lock/);
  console.press("enter");
  await console.until((it) => selected(it).includes("gamma"));
  console.press(":");
  console.type(">edit");
  await console.until(/needs a terminal of its own/);
  console.press("ctrl+c");
  expect(await console.ended).toEqual({ code: 0, signal: undefined });
});

it("filters by host, state and holder, says so, and takes it back with Escape", async () => {
  const console = await seat(await scene(SITE));
  await console.until(/gamma +● held/);
  for (const [filter, count] of [
    ["host:web1", 2],
    ["state:held alp", 1],
    ["holder:db1", 1],
  ] as const) {
    console.press("/");
    await console.until("─ filter locks ");
    console.press("ctrl+u");
    console.type(filter);
    await console.until(`${count} of 4`);
    console.press("enter");
    await console.until(`/ filter ${filter}: ${count} of 4`);
  }
  console.press("escape");
  await console.until(/delta +● held/);
});

it("keeps the selection on its row while rows come and go", async () => {
  const stage = await scene(SITE);
  const console = await seat(stage);
  await console.until(/gamma +● held/);
  console.type("jjj"); // in one read
  await console.until((it) => selected(it).includes("gamma"));
  await hold(stage, "aardvark", "web1.example.com");
  await console.until(/aardvark +● held/);
  await console.until((it) => selected(it).includes("gamma"));
  const { key } = stage.keys.queue("lock", "gamma");
  await stage.store.txn({ compare: [], success: [{ op: "delete", key, rangeEnd: `${key}~` }], failure: [] });
  await console.until((it) => !it.screen().some((row) => /gamma +● held/.test(row)));
  await console.until((it) => /delta|beta/.test(selected(it))); // perhaps a frame later
});

it("sorts by another column and the other way round, and remembers that for the next time", async () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-state-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const stage = await scene(SITE);
  const env = { XDG_STATE_HOME: home };
  const console = await seat(stage, { env });
  await console.until(/NAME ▲/);
  console.press("S");
  await console.until(/NAME ▼/);
  await console.until(
    (it) =>
      it.screen().findIndex((row) => /gamma +● held/.test(row)) <
      it.screen().findIndex((row) => /alpha +● held/.test(row)),
  );
  console.press("b", "]");
  await console.until((it) => !it.screen().some((row) => row.includes("EXPLORER")));
  console.press("q");
  await console.ended;
  const next = await seat(stage, { env });
  await next.until("No units are held");
  expect(next.screen().join("\n")).not.toContain("EXPLORER");
  next.press("[");
  await next.until(/NAME ▼/);
});

it("copies the name, the row as JSON, and the command line", async () => {
  const console = await seat(await scene(SITE));
  await console.until(/alpha +● held/);
  console.press("y");
  await console.until("copied lock alpha");
  console.press("Y");
  await console.until("copied the row as JSON");
  console.press("c");
  await console.until("copied signalbox show lock alpha");
  const [name, row, line] = console.clipboard;
  expect([name, line]).toEqual(["alpha", "signalbox show lock alpha"]);
  expect(JSON.parse(row ?? "")).toMatchObject({ kind: "lock", name: "alpha", state: "held" });
});

it("marks rows, and counts them", async () => {
  const console = await seat(await scene(SITE));
  await console.until(/alpha +● held/);
  console.press("space");
  await console.until(/✓ alpha/);
  console.press("v", "j", "v");
  await console.until((it) => it.screen().filter((row) => /✓ \w+ +● held/.test(row)).length === 3);
  console.press("D");
  await console.until("drain 3 rows");
  console.press("escape");
  await console.until((it) => !it.screen().some((row) => row.includes("drain 3 rows")));
  console.press("u");
  await console.until((it) => !it.screen().some((row) => /✓ \w+ +● held/.test(row)));
});

it("takes clicks and the wheel; a paste does nothing", async () => {
  const console = await seat(await scene(SITE));
  await console.until(/gamma +● held/);
  const line = console.screen().findIndex((row) => /gamma +● held/.test(row));
  console.click(40, line);
  await console.until((it) => selected(it).includes("gamma"));
  console.paste("XDq\rX");
  const tabs = console.screen()[1] ?? "";
  console.click(tabs.indexOf("Hosts") + 1, 1);
  await console.until(/HOST ▲/);
  expect(console.screen().join("\n")).not.toContain("╭─");
});

it("with --no-mouse leaves clicks to the terminal", async () => {
  const console = await seat(await scene({}), { args: ["--no-mouse"] });
  expect([1000, 1006].filter((mode) => console.modes.has(mode))).toEqual([]);
  expect(console.modes.has(2004)).toBe(true);
});
