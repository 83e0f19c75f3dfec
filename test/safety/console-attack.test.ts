/** A console under attack: by its terminal, its user's haste, the machine it runs on, and what others have put into etcd. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openTerminal, type Terminal } from "../../fixtures/console.ts";
import { FaultProxy } from "../../fixtures/proxy.ts";
import { ticketText } from "../../src/protocol/ticket.ts";
import { ticketWith } from "../protocol/samples.ts";
import { seat } from "./support/seat.ts";
import { type Stage, Theatre } from "./support/theatre.ts";

const theatre = new Theatre();

/** Puts a ticket as a run would, without one. */
async function put(stage: Stage, lock: string, more: Partial<Parameters<typeof ticketWith>[0]> = {}) {
  const run = Buffer.from(lock).toString("hex").padEnd(16, "0").slice(0, 16);
  const value = ticketText(ticketWith({ run, state: "held", ...more }));
  await stage.store.txn({
    ...{ compare: [], success: [{ op: "put", key: stage.keys.lock(lock, run), value }], failure: [] },
  });
}

async function drains(stage: Stage): Promise<number> {
  return (await stage.store.range(stage.keys.drains())).kvs.length;
}

describe("a key too many", () => {
  it("does nothing: what will happen must have been on the screen for a moment, and a held key never has its way", async () => {
    const stage = await theatre.stage("http");
    await put(stage, "invoices");
    const console = await seat(stage);
    await console.until(/invoices .*held/);
    console.press("D", "enter", "enter");
    await console.until("drain lock invoices --wait");
    const held = setInterval(() => console.press("enter"), 30);
    onTestFinished(() => clearInterval(held));
    await console.until("read it, then press Enter");
    const begun = performance.now();
    await console.until(() => performance.now() - begun > 600); // longer than it takes to be taken at one's word
    clearInterval(held);
    expect(await drains(stage)).toBe(0);
    await console.until("Enter drain");
    console.press("enter");
    await console.until(/waiting .*drain lock invoices|running .*drain lock invoices|drain lock invoices/);
    await console.until(/invoices .*drained/);
    expect(await drains(stage)).toBe(1);
  });

  it("does not end a job that is under way with the console", async () => {
    const stage = await theatre.stage("http");
    await put(stage, "invoices");
    const console = await seat(stage);
    await console.until(/invoices .*held/);
    console.press("D");
    await console.until("Enter drain");
    console.press("enter");
    await console.until(/→ drain lock invoices/);
    console.press("q");
    await console.until("would be left: again to quit");
    console.press("q");
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
    expect(console.leftBehind).toEqual([]);
  });
});

describe("a console that was stopped for a while", () => {
  it("does not show what it knew then as live, until etcd has answered again", async () => {
    const stage = await theatre.stage("http");
    await put(stage, "before");
    const proxy = await FaultProxy.start(stage.etcd.clientUrl);
    onTestFinished(() => proxy.close());
    const console = await seat(stage, { endpoint: proxy.url });
    await console.until("before");
    console.kill("SIGSTOP");
    proxy.mode = "drop";
    const begun = performance.now();
    await console.until(() => performance.now() - begun > 4_500);
    let wasLive = false;
    const look = () => {
      wasLive ||= /live rev/.test(console.screen().at(-1) ?? "");
      return /it was not asked since|does not answer|no answer/.test(console.screen().at(-1) ?? "");
    };
    const before = console.bytes;
    console.kill("SIGCONT");
    await console.until(() => console.bytes > before + 1_000);
    await console.until(look);
    expect(wasLive).toBe(false);
    proxy.mode = "forward";
    proxy.reset();
    await console.until(/live rev \d+/);
  }, 20_000);
});

describe("a terminal", () => {
  it("that has no shell behind it is not left by Ctrl+Z, where nobody could come back", async () => {
    const stage = await theatre.stage("http");
    const console = await seat(stage);
    console.press("ctrl+z");
    await console.until("there is no shell behind this console");
    expect(console.isAlternate).toBe(true);
    console.press("?");
    await console.until("Anywhere");
  });

  it.each([
    [80, 24],
    [40, 10],
  ])("of %i columns and %i rows cuts no frame open", async (columns, rows) => {
    const stage = await theatre.stage("http");
    const console = await seat(stage, { columns, rows });
    console.press("?");
    await console.until("Anywhere");
    console.press("G");
    await console.until("can be rebound");
    for (const row of console.screen().filter((line) => line.startsWith(" │")))
      expect(row).toMatch(/^ │ .* │.?$/);
  });

  it("too small for a detail shows it alone", async () => {
    const stage = await theatre.stage("http");
    await put(stage, "invoices");
    const console = await seat(stage, { columns: 60, rows: 12 });
    await console.until(/invoices .*held/);
    console.press("enter");
    await console.until("lock invoices: held");
    console.press("escape", "escape");
    await console.until(/invoices .*held/);
  });
});

describe("a folder for what is remembered", () => {
  /** The console started with it, used, and quit. */
  async function quitWith(env: Record<string, string>): Promise<Terminal> {
    const stage = await theatre.stage("http");
    const console = await seat(stage, { env });
    console.press("q");
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
    expect(console.leftBehind).toEqual([]);
    return console;
  }

  it.each(["/dev/full", "/proc/nowhere", "/dev/null/x"])("%s is no reason to fail", async (folder) => {
    await quitWith({ XDG_STATE_HOME: folder, HOME: folder });
  });

  it("in which something else has the name of the file is none either", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-attack-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "signalbox"), "a file");
    await quitWith({ XDG_STATE_HOME: folder });
    mkdirSync(join(folder, "other", "signalbox"), { recursive: true });
    await quitWith({ XDG_STATE_HOME: join(folder, "other") });
  });
});

describe("while nothing was read yet", () => {
  it("no count is shown, which would look like none", async () => {
    const proxy = await FaultProxy.start("http://127.0.0.1:9");
    onTestFinished(() => proxy.close());
    proxy.mode = "drop";
    const console = openTerminal({ args: ["console"], columns: 100, rows: 30, endpoints: [proxy.url] });
    onTestFinished(() => console.close());
    await console.until("connecting for");
    expect(console.screen().join("\n")).not.toMatch(/(Locks|Problems) +0/);
    console.press("q");
    await console.ended;
  });
});
