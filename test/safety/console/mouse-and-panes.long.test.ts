import { expect, it } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { holdLock } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { Terminal } from "../../../fixtures/console.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const cluster = TestCluster.startForFile();

async function createNamespaceWithLocks(): Promise<TestNamespace> {
  const namespace = await cluster.createTestNamespace();
  for (const lock of ["alpha", "beta", "gamma"]) {
    await holdLock(namespace, lock, { host: `${lock}.example.com` });
  }
  return namespace;
}

function findLine(console: Terminal, wanted: RegExp): number {
  return console.getScreen().findIndex((row) => wanted.test(row));
}

it("shows what applies to the row, with its keys, and does it by key, Enter and click", async () => {
  const console = await openConsole(await createNamespaceWithLocks(), { shows: /gamma +● held/ });
  await console.pressAndWait("j .", "╭─ lock beta ");
  expect(console.getText()).toMatch(/X +Reset beta .*\n.* D +Drain lock beta /);
  expect(console.getText()).toMatch(/U +Lift the drain of lock beta \(not drained\)/);
  expect(console.getText(), "what is for schedules only").not.toMatch(/│ [PCN] +/);
  await console.pressAndWait("U", (it) => it.getScreen().at(-1)?.includes("not drained") === true);
  await console.pressAndWait("D", "╭─ drain lock beta ");
  await console.pressAndWait("escape", (it) => !it.getText().includes("╭─"));
  const line = findLine(console, /gamma +● held/);
  console.clickRight(50, line);
  await console.waitFor("╭─ lock gamma ");
  const entry = findLine(console, /Copy the name/);
  console.click((console.getScreen()[entry] ?? "").indexOf("Copy the name"), entry);
  await console.waitFor("copied lock gamma");
  await console.pressAndWait(".", "╭─ lock gamma ");
  console.click(2, 1);
  await console.waitFor((it) => !it.getText().includes("╭─"));
});

it("goes back and forward over jumps, and says when a row is gone", async () => {
  const namespace = await createNamespaceWithLocks();
  const console = await openConsole(namespace, { shows: /gamma +● held/ });
  await console.pressAndWait("<", "no earlier place");
  await console.pressAndWait("j :", "─ palette ");
  await console.typeAndWait("gam", /gamma +lock/);
  await console.pressAndWait("enter", "lock gamma: ");
  await console.pressAndWait("[", /No problems|severity|PROBLEM/i);
  await console.pressAndWait("alt+left", "lock gamma: ");
  await console.pressAndWait("<", "lock beta: ");
  const { key } = namespace.keys.getQueueRange("lock", "gamma");
  await namespace.write({ op: "delete", key, rangeEnd: `${key}~` });
  await console.waitFor((it) => !/gamma +● held/.test(it.getText()));
  await console.pressAndWait(">", "gamma is gone");
});

it("moves borders, keeps them for the next time, and resets one by a double click", async () => {
  const home = createTestFolder();
  const namespace = await createNamespaceWithLocks();
  const env = { XDG_STATE_HOME: home };
  const console = await openConsole(namespace, { env, shows: /gamma +● held/ });
  const getBorder = (it: Terminal) => (it.getScreen()[3] ?? "").indexOf("│");
  const usual = getBorder(console);
  console.drag([usual, 5], [usual + 5, 5], [usual + 12, 6]);
  await console.waitFor((it) => getBorder(it) === usual + 12);
  const line = findLine(console, / EVENTS /);
  console.drag([100, line], [100, line - 3]);
  await console.waitFor((it) => findLine(it, / EVENTS /) === line - 3);
  const detail = findLine(console, /│.* DETAIL/);
  console.drag([100, detail], [100, detail - 2]);
  await console.waitFor((it) => findLine(it, /│.* DETAIL/) === detail - 2);
  console.drag([100, detail - 2], [3, 1]); // as far as it goes
  await console.waitFor((it) => findLine(it, /│.* DETAIL/) < detail - 2);
  await console.waitFor(/alpha +● held/);
  console.press("q");
  await console.ended;
  const next = await openConsole(namespace, {
    env,
    shows: (it) => getBorder(it) === usual + 12 && findLine(it, / EVENTS /) === line - 3,
  });
  next.click(usual + 12, 5);
  next.click(usual + 12, 5);
  await next.waitFor((it) => getBorder(it) === usual);
  await next.pressAndWait("4 =", (it) => findLine(it, / EVENTS /) === line - 5);
});

it("runs the hint that is clicked, folds by the sign, and takes clicks on the fields of a dialog", async () => {
  const console = await openConsole(await createNamespaceWithLocks(), { shows: /gamma +● held/ });
  const last = console.getScreen().length - 1;
  console.click((console.getScreen().at(-1) ?? "").indexOf(" filter") + 2, last);
  await console.waitFor("─ filter locks ");
  await console.pressAndWait("escape", (it) => !it.getText().includes("─ filter locks "));
  const hosts = findLine(console, /▸ Hosts/);
  console.click((console.getScreen()[hosts] ?? "").indexOf("▸"), hosts);
  await console.waitFor("▾ Hosts");
  await console.pressAndWait("2 D", "╭─ drain lock alpha ", "waits none");
  const reason = findLine(console, /│ +(>)? *(reason|why)/);
  console.click(60, reason);
  await console.typeAndWait("disk is full", /→ signalbox drain .*disk is full/);
});

it("leaves the mouse to the terminal while Shift is held, and says so", async () => {
  const console = await openConsole(await createNamespaceWithLocks(), { isRecorded: true });
  await console.pressAndWait("?", "keys");
  await console.pressAndWait("G", "Text selection by the mouse: hold Shift");
  expect([1000, 1002, 1003].filter((mode) => console.modes.has(mode))).toEqual([1000, 1002]);
  const output = console.recording.map(({ text }) => text).join("");
  expect(output, "no request for the mouse with Shift").not.toMatch(/\x1b\[>\d*s/);
});

it("takes garbage and halves of mouse reports for nothing", async () => {
  const console = await openConsole(await createNamespaceWithLocks(), { shows: /gamma +● held/ });
  const before = console.getScreen().slice(0, -1).join("\n");
  for (const bytes of [
    "\x1b[<32;5",
    ";7M",
    "\x1b[<0;99999;99999M",
    "\x1b[<32;;M",
    "\x1b[<-1;3;4M",
    "\x1b[<35;0;0M",
    "\x1b[<0;1",
    "m",
  ])
    console.type(bytes);
  await console.pressAndWait("j", "lock beta: ");
  expect(console.getText()).not.toContain("╭─");
  expect(before).toContain("alpha");
});
