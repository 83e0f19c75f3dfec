import { holdLock } from "../../../fixtures/cluster/sample-queues.ts";
/** A console with hostile input: from the terminal, from a fast user, from the machine, and from etcd. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, onTestFinished, type TestContext } from "vitest";
import { openConsole, pressUntil } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { openTerminal } from "../../../fixtures/console.ts";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

async function countDrains(namespace: TestNamespace) {
  return (await namespace.store.readRange(namespace.keys.drains())).kvs.length;
}

/** Resolves when a process is no more, or only its exit code is: its terminal may tell nothing of it. */
async function waitUntilGone(pid: number): Promise<true> {
  for (;;) {
    const [, state = "Z"] = /\) (\S)/.exec(readStat(pid)) ?? [];
    if (state === "Z") return true;
    await setTimeout(20);
  }
}

function readStat(pid: number) {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return "";
  }
}

/** Presses again and again, as a terminal does for a key that is held. */
function holdKey(press: () => void): {
  /** @returns the longest time between two presses, ms */ lift(): number;
} {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    press();
  }, 30);
  const lift = () => {
    clearInterval(timer);
    return longest;
  };
  onTestFinished(() => void lift());
  return { lift };
}

describe("a key too many", () => {
  test("does nothing: what will happen must have been on the screen for a moment, and a held key never has its way", async ({
    skip,
  }) => {
    const namespace = await cluster.createTestNamespace();
    await holdLock(namespace, "invoices");
    const console = await openConsole(namespace, { shows: /invoices .*held/ });
    await console.pressAndWait("D enter enter", "drain lock invoices --wait");
    const finger = holdKey(() => console.press("enter"));
    await console.waitFor("read it, then press Enter");
    const begun = performance.now();
    await console.waitFor(() => performance.now() - begun > 600); // longer than it takes to be taken at one's word
    const pause = finger.lift();
    if (pause > 200)
      skip(`the machine was so busy that the key was let go for ${pause} ms: a press of its own`);
    expect(await countDrains(namespace)).toBe(0);
    await console.waitFor("Enter drain");
    expect(console.getText()).not.toContain("read it, then press Enter");
    await pressUntil(console, "enter", /invoices .*drained/);
    expect(await countDrains(namespace)).toBe(1);
  });

  test("acts on nothing that its user does not look at: from the explorer it leads to the row first", async ({
    namespace,
  }) => {
    for (const lock of ["alpha", "beta", "gamma"]) await holdLock(namespace, lock);
    const console = await openConsole(namespace, { shows: /gamma .*held/ });
    await console.pressAndWait("1 down down D", "row selected");
    expect(console.getText()).not.toContain("drain lock");
    await console.pressAndWait("D", "drain lock beta --wait");
    await console.pressAndWait("escape", (it) => !it.getText().includes("drain lock"));
    await console.pressAndWait("5 X", "this key acts on rows of the table: go there first");
  });

  test("does not end a job that is under way with the console", async ({ namespace }) => {
    await holdLock(namespace, "invoices");
    const console = await openConsole(namespace, { shows: /invoices .*held/ });
    await console.pressAndWait("D", "Enter drain");
    await console.pressAndWait("enter", "→ drain lock invoices");
    await console.pressAndWait("q", "press again to quit anyway");
    console.press("q");
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
    expect(console.leftBehind).toEqual([]);
  });
});

describe.concurrent("a console that was stopped for a while", () => {
  test("does not show what it knew then as live, until etcd has answered again", async ({ namespace }) => {
    await holdLock(namespace, "before");
    const proxy = await namespace.startProxy();
    const console = await openConsole(namespace, { endpoints: [proxy.url], shows: "before" });
    console.kill("SIGSTOP");
    proxy.mode = "drop";
    await setTimeout(4_500); // what it knew is too old then, and nothing else tells
    let wasLive = false;
    const look = () => {
      wasLive ||= /live rev/.test(console.getScreen().at(-1) ?? "");
      return /no requests since|no response|no answer/.test(console.getScreen().at(-1) ?? "");
    };
    const before = console.bytes;
    console.kill("SIGCONT");
    await console.waitFor(() => console.bytes > before + 1_000);
    await console.waitFor(look);
    expect(wasLive).toBe(false);
    proxy.mode = "forward";
    proxy.reset();
    await console.waitFor(/live rev \d+/);
  });
});

describe.concurrent("a terminal", () => {
  test("that has no shell behind it is not left by Ctrl+Z, where nobody could come back", async ({
    namespace,
  }) => {
    const console = await openConsole(namespace);
    await console.pressAndWait("ctrl+z", "this console was not started by a shell");
    expect(console.isAlternate).toBe(true);
    await console.pressAndWait("?", "Anywhere");
  });

  test("that takes nothing more holds up neither signals nor what the console knows", async ({
    namespace,
  }) => {
    const console = await openConsole(namespace);
    console.hold();
    for (let turn = 0; turn < 60; turn += 1) {
      console.press("ctrl+l");
      await setTimeout(10); // each a frame of its own: more than the line holds
    }
    await holdLock(namespace, "meanwhile");
    console.release();
    await console.waitFor(/meanwhile .*held/);
    console.hold();
    for (let turn = 0; turn < 60; turn += 1) {
      console.press("ctrl+l");
      await setTimeout(10);
    }
    console.kill("SIGTERM");
    const isOver = await Promise.race([waitUntilGone(console.pid), setTimeout(30_000, false)]);
    expect(isOver).toBe(true);
  });

  test("of little room cuts no frame open", async ({ namespace }) => {
    const console = await openConsole(namespace, { columns: 80, rows: 24 });
    await console.pressAndWait("? G", "can be rebound");
    const open = () => console.getScreen().filter((row) => row.startsWith(" │") && !/^ │ .* │.?$/.test(row));
    expect(open()).toEqual([]);
    console.resize(40, 10);
    await console.pressAndWait(
      "g",
      (it) => it.getScreen().length === 10 && it.getScreen()[9]?.includes("live") === true,
    );
    expect(open()).toEqual([]);
  });

  test("with no room for all tabs, and counts in the panel's titles, takes clicks for what stands there", async ({
    namespace,
  }) => {
    await holdLock(namespace, "invoices"); // on no session: a problem
    const console = await openConsole(namespace, { columns: 80, rows: 30, shows: "PROBLEMS 1" });
    await console.pressAndWait(
      Array.from({ length: 9 }, () => "]"),
      /^\d\+ .*Audit/m,
    );
    const [, tabs = ""] = console.getScreen();
    console.click(tabs.indexOf("Hosts") + 1, 1);
    await console.waitFor("HOST");
    const line = console.getScreen().findIndex((row) => row.includes("PROBLEMS 1"));
    console.click(console.getScreen()[line]?.indexOf("LOG") ?? 0, line);
    const events = "No events yet. Runs, drains";
    await console.waitFor((it) => !it.getText().includes(events)); // the log, behind which they come again
    await console.pressAndWait("]", events);
  });

  test("too small for a detail shows it alone", async ({ namespace }) => {
    await holdLock(namespace, "invoices");
    const console = await openConsole(namespace, { columns: 60, rows: 12, shows: /invoices .*held/ });
    await console.pressAndWait("enter", "lock invoices: held");
    await console.pressAndWait("escape escape", /invoices .*held/);
  });
});

describe.concurrent("a folder for what is remembered", () => {
  /** The console started with it, used, and quit. */
  async function quitWith(context: Pick<TestContext, "onTestFinished">, env: Record<string, string>) {
    const namespace = await cluster.createTestNamespace("http", context);
    const console = await openConsole(namespace, { env });
    console.press("q");
    expect(await console.ended).toEqual({ code: 0, signal: undefined });
    expect(console.leftBehind).toEqual([]);
    return console;
  }

  test.for(["/dev/full", "/proc/nowhere"])("%s is no reason to fail", async (folder, { onTestFinished }) => {
    await quitWith({ onTestFinished }, { XDG_STATE_HOME: folder, HOME: folder });
  });

  test("in which something else has the name of the file is none either", async ({ onTestFinished }) => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-attack-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "signalbox"), "a file");
    await quitWith({ onTestFinished }, { XDG_STATE_HOME: folder });
  });
});

describe.concurrent("while nothing was read yet", () => {
  test("no count is shown, which would look like none", async ({ onTestFinished }) => {
    const proxy = await FaultProxy.start("http://127.0.0.1:9");
    onTestFinished(() => proxy.close());
    proxy.mode = "drop";
    const console = openTerminal({
      args: ["console", "--view", "locks"],
      columns: 100,
      rows: 30,
      endpoints: [proxy.url],
    });
    onTestFinished(() => console.close());
    await console.waitFor("connecting for");
    expect(console.getText()).not.toMatch(/(Locks|Problems) +0/);
    console.press("q");
    await console.ended;
  });

  test("no pane says that there is nothing: it is not known, and why, where etcd was looked for, and what to set", async ({
    onTestFinished,
  }) => {
    const console = openTerminal({
      args: ["console", "--view", "locks"],
      endpoints: ["http://127.0.0.1:9"],
      columns: 80,
      rows: 30,
    });
    onTestFinished(() => console.close());
    await console.waitFor("why: ");
    await console.waitFor("etcd unreachable");
    const page = () => console.getText().replace(/\s+/g, " ");
    expect(page()).toMatch("connection refused: nothing listens there");
    expect(page()).toContain("endpoints: http://127.0.0.1:9 (environment SIGNALBOX_ENDPOINTS)");
    expect(page()).toContain("SIGNALBOX_ENDPOINTS=http://etcd1:2379");
    for (const key of ["]", "]", "[", "5", "]", "]", "]", "2"]) {
      await console.pressAndWait(key, "No data yet: etcd has not been read.");
      expect(page()).not.toMatch(/No lock is held|No problems|No events yet|No run waits/);
    }
  });

  test("a cluster that refuses is not empty either; the login is what to set", async ({ onTestFinished }) => {
    const etcd = await startEtcd({
      auth: { rootPassword: "pw", user: "op", password: "pw", prefix: "/signalbox/" },
    });
    onTestFinished(() => etcd.stop());
    const console = openTerminal({
      args: ["console", "--view", "locks"],
      endpoints: etcd.endpoints,
      columns: 120,
      rows: 40,
    });
    onTestFinished(() => console.close());
    await console.waitFor("access refused");
    expect(console.getText()).toMatch(/why: .*user name is empty[\s\S]*SIGNALBOX_USER/);
    expect(console.getText()).not.toMatch(/No lock is held|No events yet/);
  });

  test("and nothing ever ran there: the first page says how to begin", async ({ namespace }) => {
    const console = await openConsole(namespace, { shows: "signalbox run --lock hello -- sleep 60" });
    await namespace.jobs.startHolder("run", "--lock x");
    await console.waitFor(/x +● held/);
  });

  test("and there are no groups: the page names the key for the first one", async ({ namespace }) => {
    const console = await openConsole(namespace, {
      view: "groups",
      shows: "Key n: a new group, in a form.",
    });
    await console.pressAndWait("n", "signalbox group set");
  });
});
