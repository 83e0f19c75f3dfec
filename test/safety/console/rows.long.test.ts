import { holdLock } from "../../../fixtures/cluster/sample-queues.ts";
/** Operations in the console without changes: find, filter, sort, copy, click. */

import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const cluster = TestCluster.startForFile();

/** Locks that are held on hosts, without runs. */
async function createSampleNamespace(locks: Readonly<Record<string, string>>) {
  const namespace = await cluster.createTestNamespace();
  for (const [lock, host] of Object.entries(locks)) await holdLock(namespace, lock, { host });
  return namespace;
}

const SITE = {
  alpha: "web1.example.com",
  beta: "web2.example.com",
  gamma: "db1.example.com",
  delta: "web1.example.com",
};

/** The row that the cursor is on: the one with a bar at its left. */
function getSelectedRow(console: Terminal) {
  return console.getScreen().find((row) => row.includes("▎")) ?? "";
}

it("finds a lock by a few letters, and goes to it", async () => {
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /gamma +● held/ });
  await console.pressAndWait(":", "─ palette ");
  await console.typeAndWait("gam", /gamma +lock/);
  await console.pressAndWait("enter", (it) => getSelectedRow(it).includes("gamma"));
  console.press(":");
  await console.typeAndWait(">edit", "start it in another terminal");
  console.press("ctrl+c");
  expect(await console.ended).toEqual({ code: 0, signal: undefined });
});

it("counts and finds hosts that only hold something, or are only in a group", async () => {
  const namespace = await createSampleNamespace(SITE);
  await namespace.execute("group set web web1.example.com web7.example.com --yes");
  const console = await openConsole(namespace, { view: "hosts", shows: "Hosts 4" });
  await console.pressAndWait(":", "─ palette ");
  await console.typeAndWait("web7", /web7\.example\.com +host/);
  await console.typeAndWait("\x15db1", /db1\.example\.com +host/);
});

it("filters by host, state and holder, says so, and takes it back with Escape", async () => {
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /gamma +● held/ });
  for (const [filter, count] of [
    ["host:web1", 2],
    ["state:held alp", 1],
    ["holder:db1", 1],
  ] as const) {
    await console.pressAndWait("/", "─ filter locks ");
    console.press("ctrl+u");
    await console.typeAndWait(filter, `${count} of 4`);
    await console.pressAndWait("enter", `/ filter ${filter}: ${count} of 4`);
  }
  await console.pressAndWait("escape", /delta +● held/);
});

it("keeps the selection on its row while rows come and go", async () => {
  const namespace = await createSampleNamespace(SITE);
  const console = await openConsole(namespace, { shows: /gamma +● held/ });
  console.type("jjj"); // in one read
  await console.waitFor((it) => getSelectedRow(it).includes("gamma"));
  await holdLock(namespace, "aardvark");
  await console.waitFor(/aardvark +● held/);
  await console.waitFor((it) => getSelectedRow(it).includes("gamma"));
  const { key } = namespace.keys.getQueueRange("lock", "gamma");
  await namespace.write({ op: "delete", key, rangeEnd: `${key}~` });
  await console.waitFor((it) => !it.getScreen().some((row) => /gamma +● held/.test(row)));
  await console.waitFor((it) => /delta|beta/.test(getSelectedRow(it))); // perhaps a frame later
});

it("sorts by another column and the other way round, and remembers that for the next time", async () => {
  const home = createTestFolder();
  const namespace = await createSampleNamespace(SITE);
  const env = { XDG_STATE_HOME: home };
  const console = await openConsole(namespace, { env, shows: "NAME ▲" });
  await console.pressAndWait(
    "S",
    "NAME ▼",
    (it) =>
      it.getScreen().findIndex((row) => /gamma +● held/.test(row)) <
      it.getScreen().findIndex((row) => /alpha +● held/.test(row)),
  );
  await console.pressAndWait("b ]", (it) => !it.getScreen().some((row) => row.includes("EXPLORER")));
  console.press("q");
  await console.ended;
  const next = await openConsole(namespace, { env, view: "last", shows: "No units are held" });
  expect(next.getText()).not.toContain("EXPLORER");
  await next.pressAndWait("[", "NAME ▼");
});

it("copies the name, the row as JSON, and the command line", async () => {
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /alpha +● held/ });
  await console.pressAndWait("y", "copied lock alpha");
  await console.pressAndWait("Y", "copied the row as JSON");
  await console.pressAndWait("c", "copied signalbox show lock alpha");
  const [name, row, line] = console.clipboard;
  expect([name, line]).toEqual(["alpha", "signalbox show lock alpha"]);
  expect(JSON.parse(row ?? "")).toMatchObject({ kind: "lock", name: "alpha", state: "held" });
});

it("marks rows, and counts them", async () => {
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /alpha +● held/ });
  await console.pressAndWait("space", "✓ alpha", "1 marked");
  await console.pressAndWait("j v", "range started");
  await console.pressAndWait("j v", "3 marked");
  expect(console.getScreen().at(-1)).not.toContain("range started");
  await console.waitFor((it) => it.getScreen().filter((row) => /✓ \w+ +● held/.test(row)).length === 3);
  await console.pressAndWait("D", "drain 3 rows");
  await console.pressAndWait("escape", (it) => !it.getScreen().some((row) => row.includes("drain 3 rows")));
  console.type("/alpha");
  await console.pressAndWait("enter", "1 marked, 2 more not shown here");
  await console.pressAndWait("u", (it) => !it.getScreen().some((row) => /✓ \w+ +● held/.test(row)));
  expect(console.getText()).not.toMatch(/\d marked/);
});

it("takes clicks and the wheel; a paste does nothing", async () => {
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /gamma +● held/ });
  const line = console.getScreen().findIndex((row) => /gamma +● held/.test(row));
  console.click(40, line);
  await console.waitFor((it) => getSelectedRow(it).includes("gamma"));
  console.paste("XDq\rX");
  const tabs = console.getScreen()[1] ?? "";
  console.click(tabs.indexOf("Hosts") + 1, 1);
  await console.waitFor("HOST ▲");
  expect(console.getText()).not.toContain("╭─");
});

it("with --no-mouse leaves clicks to the terminal", async () => {
  const console = await openConsole(await createSampleNamespace({}), { args: ["--no-mouse"] });
  expect([1000, 1006].filter((mode) => console.modes.has(mode))).toEqual([]);
  expect(console.modes.has(2004)).toBe(true);
});

it("takes Escape and a key in one read for Escape, then the key", async () => {
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /alpha +● held/ });
  await console.pressAndWait("D", "Enter drain");
  await console.typeAndWait("\x1bj", (it) => !it.getText().includes("Enter drain"), "lock beta: ");
  await console.pressAndWait("?", "In lists");
  await console.typeAndWait("\x1b:", "> commands");
  expect(console.getText()).not.toContain("In lists");
});

it("takes a toast away as soon as it is no longer true", async () => {
  const refusal = "only groups, resources and schedules can be edited";
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /alpha +● held/ });
  await console.pressAndWait("e", refusal);
  await console.pressAndWait("j", (it) => !it.getText().includes(refusal));
});

it("applies each key to what the keys before it did, also while the terminal takes no output", async () => {
  const console = await openConsole(await createSampleNamespace(SITE), { shows: /gamma +● held/ });
  await console.pressAndWait(":", "─ palette ");
  console.hold();
  for (const key of [..."\x0c".repeat(20), ..."gamma", "\r"]) {
    console.type(key);
    await pause(50); // so that they do not arrive in one read
  }
  console.release();
  await console.waitFor((it) => !it.getText().includes("─ palette ") && getSelectedRow(it).includes("gamma"));
});
