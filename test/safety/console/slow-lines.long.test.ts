/** The console on slow lines, and on terminals that answer late or never. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { openTerminal, type TerminalOptions } from "../../../fixtures/console.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { TABS } from "../../../src/console/state/console-state.ts";

const { test } = TestCluster.startForFile();
const SLOW_LINK = join(import.meta.dirname, "../../../fixtures/console/slow-link.ts");

/** Opens a program that starts the console on a namespace. It ends with the test. */
function open(namespace: TestNamespace, options: TerminalOptions) {
  const terminal = openTerminal({
    endpoints: [namespace.etcd.clientUrl],
    columns: 120,
    rows: 40,
    ...options,
    env: { SIGNALBOX_PREFIX: namespace.prefix },
  });
  namespace.onClose(() => terminal.close());
  return terminal;
}

describe("a line of 2,000 bytes per second", () => {
  test("shows where the user is after many keys, not every place in between", async ({ namespace }) => {
    const names = Array.from({ length: 12 }, (_, n) => `slow${n}`);
    await Promise.all(
      names.map((name) => namespace.jobs.startAndWait(name, ["--lock", name], { hold: [9_000] })),
    );
    const terminal = open(namespace, {
      command: [process.execPath, SLOW_LINK, "2000", process.execPath, BUNDLE, "console", "--view", "locks"],
    });
    await terminal.waitFor(/slow11 +● held/);
    const before = terminal.bytes;
    await terminal.pressAndWait(
      [...TABS, ...TABS].map(() => "]"),
      /slow11 +● held/,
    );
    await terminal.pressAndWait("] ] ] ]", /HOST.*STATE|HOST +/);
    expect(terminal.bytes - before, "22 tabs of two kilobytes were not written").toBeLessThan(20_000);
    terminal.press("q");
    expect(await terminal.ended).toEqual({ code: 0, signal: undefined });
    expect(terminal.leftBehind).toEqual([]);
  });
});

describe("a line of 600 bytes per second", () => {
  test("a key that comes while a dialog is still on the line confirms nothing", async ({ namespace }) => {
    await namespace.jobs.startAndWait("slow", "--lock slow", { hold: [60_000] });
    const terminal = open(namespace, {
      command: [process.execPath, SLOW_LINK, "600", process.execPath, BUNDLE, "console", "--view", "locks"],
    });
    await terminal.waitFor(/slow +● held[\s\S]*live rev/);
    await terminal.pressAndWait("D", "drain lock slow"); // the title, and nothing of what would happen
    expect(terminal.getText()).not.toMatch(/holds lock slow/);
    await terminal.pressAndWait("enter", /Enter +drain/);
    expect(terminal.getText()).toMatch(/holds lock slow/);
    expect((await namespace.store.readRange(namespace.keys.drains())).kvs).toEqual([]);
  });
});

describe("a line of 100 bytes per second", () => {
  test("is not taken for a terminal that never answers: keys before the first picture confirm nothing", async ({
    namespace,
  }) => {
    await namespace.jobs.startAndWait("slow", "--lock slow", { hold: [60_000] });
    const terminal = open(namespace, {
      command: [process.execPath, SLOW_LINK, "100", process.execPath, BUNDLE, "console", "--view", "locks"],
    });
    await terminal.waitFor((it) => it.bytes > 0);
    await setTimeout(12_000); // longer than a terminal that never answers is waited for
    terminal.press("D");
    for (let times = 0; times < 8; times += 1) {
      await setTimeout(700); // longer than a preview must be on the screen
      terminal.press("enter");
    }
    expect(terminal.getText()).not.toContain("drain");
    expect((await namespace.store.readRange(namespace.keys.drains())).kvs).toEqual([]);
  });
});

describe("the question for the state of the terminal", () => {
  test("leaves no answer to the shell that follows", async ({ namespace }) => {
    const shell = `"$0" "$1" console; stty raw -echo min 0 time 5; printf 'left:'; dd bs=100 count=1 2>/dev/null | od -An -c; stty sane; echo done`;
    const terminal = open(namespace, { command: ["sh", "-c", shell, process.execPath, BUNDLE] });
    await terminal.waitFor(/live rev \d+/);
    await terminal.pressAndWait("] ] q", "done");
    await terminal.ended;
    expect(terminal.getText()).toMatch(/left:\s*done/);
  });
});
