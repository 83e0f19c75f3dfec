/** Past states in the console: what is shown, that nothing is changed, and the way back. */

import { describe, expect, type TestContext } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { openTerminal, type Terminal } from "../../../fixtures/console.ts";
import { startEtcd } from "../../../fixtures/etcd/index.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const RUN = "0000000000000001";

/** Holds a lock since a time, without a run. @returns the revision */
async function hold(namespace: TestNamespace, lock: string, grantedAt = Date.now()) {
  const value = serializeTicket(createTicket({ run: RUN, state: "held", enqueuedAt: grantedAt, grantedAt }));
  const put = { op: "put" as const, key: namespace.keys.lock(lock, RUN), value };
  return (await namespace.write(put)).revision;
}

async function release(namespace: TestNamespace, lock: string) {
  const gone = { op: "delete" as const, key: namespace.keys.lock(lock, RUN) };
  return (await namespace.write(gone)).revision;
}

async function openPast(console: Terminal, target: string) {
  await console.pressAndWait("a", "show a past time");
  console.type(target);
  console.press("enter");
}

test("two times are compared side by side: rows that differ are marked, with what happened between", async ({
  namespace,
}) => {
  const now = Date.now();
  await hold(namespace, "alpha", now - 60_000);
  const held = await hold(namespace, "beta", now - 40_000);
  await release(namespace, "beta");
  await hold(namespace, "gamma", now - 10_000);
  const console = await openConsole(namespace, { columns: 160, rows: 40, shows: /gamma +● held/ });
  await openPast(console, `rev ${held}..`);
  await console.waitFor(/LOCKS +2 of 3 differ/);
  const lines = console.getScreen();
  expect(lines.find((line) => line.includes("- beta"))).toMatch(/- beta +● held .*│ *│/);
  expect(lines.find((line) => line.includes("+ gamma"))).toMatch(/│ +│ \+ gamma +● held/);
  expect(lines.find((line) => line.includes("  alpha"))).toMatch(/alpha +● held .*│ +alpha +● held/);
  expect(console.getText()).toMatch(/BETWEEN +1 event[\s\S]*lock beta/);
  await console.pressAndWait("d", (one) => !one.getText().includes("│   alpha"));
  await console.pressAndWait("escape", /gamma +● held/);
});

describe.each(TRANSPORTS)("over %s", (transport) => {
  test("shows who held a lock then, changes nothing, steps through the changes, and returns", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    const now = Date.now();
    await hold(namespace, "alpha", now - 60_000);
    const held = await hold(namespace, "beta", now - 40_000);
    const released = await release(namespace, "beta");
    await hold(namespace, "gamma", now - 10_000);
    const console = await openConsole(namespace, { shows: /gamma +● held/ });
    expect(console.getText()).not.toContain("beta");

    // The palette knows times.
    await console.pressAndWait(":", "─ palette ");
    await console.typeAndWait("at -30s", "show everything as it was then");
    await console.pressAndWait("enter", /PAST .*read-only/, /state at revision \d+, between/);
    expect(console.getText()).toMatch(/alpha +● held/);
    expect(console.getText()).not.toContain("gamma");

    await travelTo(console, `rev ${held}`);
    await console.waitFor(/beta +● held/);
    await console.waitFor(new RegExp(`state at revision ${held}`));
    await console.pressAndWait("D", "this is the past: nothing can be changed or run");
    console.press("w");
    await console.pressAndWait(
      "}",
      new RegExp(`state at revision ${released}`),
      (it) => !/beta +● held/.test(it.getText()),
    );
    await console.pressAndWait("{", /beta +● held/);
    await console.pressAndWait("a", /live rev \d+/, /gamma +● held/);
    expect(console.getText()).not.toContain("PAST");
  });

  test("refuses what etcd has compacted, with the oldest state that it has, and a revision that does not exist", async ({
    onTestFinished,
  }) => {
    const etcd = await startEtcd();
    onTestFinished(() => etcd.stop());
    for (let at = 0; at < 20; at += 1)
      await etcd.runEtcdctl("put", "/signalbox/config/groups/web", `["h${at}"]`);
    await etcd.runEtcdctl("compact", "15");
    const console = await openOn({ onTestFinished }, etcd.clientUrl, transport);
    await openPast(console, "rev 5");
    await console.waitFor("etcd has compacted this revision: the oldest state is revision 15");
    await openPast(console, "rev 99999");
    await console.waitFor("there is no revision 99999 yet");
    await openPast(console, "rev 16");
    await console.waitFor("PAST rev 16");
    await console.waitFor("Nothing was here at this time.");
    expect(console.getText()).not.toContain("Nothing has ever run");
    await console.pressAndWait("{", "state at revision 15");
    await console.pressAndWait("{", "has compacted an earlier change");
    await console.pressAndWait("escape", /live rev \d+/);
  });
});

async function travelTo(console: Terminal, target: string) {
  console.press("a"); // returns
  await console.waitFor(/live rev \d+/);
  await openPast(console, target);
}

async function openOn(
  { onTestFinished }: Pick<TestContext, "onTestFinished">,
  endpoint: string,
  transport: "http" | "grpc" = "http",
) {
  const env = { SIGNALBOX_TRANSPORT: transport };
  const console = openTerminal({
    args: ["console", "--view", "locks"],
    columns: 140,
    rows: 40,
    endpoints: [endpoint],
    env,
  });
  onTestFinished(() => console.close());
  await console.waitFor(/live rev \d+/);
  return console;
}

test("says what it does not understand, and keeps the text", async () => {
  const console = await openConsole(await cluster.createTestNamespace());
  await openPast(console, "teatime");
  await console.waitFor(/write a time as .*teatime|write a time as/);
  expect(console.getText()).toContain("teatime");
  await console.pressAndWait("escape", (it) => !it.getText().includes("show a past time"));
});

test("a dialog that was open before the past arrived cannot be confirmed there", async ({ namespace }) => {
  await hold(namespace, "alpha");
  const console = await openConsole(namespace, { shows: /alpha +● held/ });
  await openPast(console, "rev 1"); // perhaps nothing of it is shown before the dialog
  await console.pressAndWait("D", (it) => it.getText().includes("PAST"));
  if (console.getText().includes("drain lock alpha")) {
    await console.pressAndWait("enter", "this is the past");
  }
  expect((await namespace.listKeys()).filter(({ key }) => key.includes("/drains/"))).toEqual([]);
});

test("the past stays while etcd is away; a step says so; and the console is live again when etcd is", async ({
  onTestFinished,
}) => {
  const etcd = await startEtcd();
  onTestFinished(() => etcd.stop());
  for (const name of ["one", "two", "three"])
    await etcd.runEtcdctl("put", `/signalbox/config/groups/${name}`, '["a"]');
  const console = await openOn({ onTestFinished }, etcd.clientUrl);
  await openPast(console, "rev 3");
  await console.waitFor("PAST rev 3");
  await etcd.kill();
  console.press("}");
  await console.waitFor(/the past cannot be read|no later change was found/, 30_000);
  expect(console.getText()).toContain("PAST rev 3");
  await console.pressAndWait("escape", "etcd unreachable");
  await etcd.restart();
  await console.waitFor(/live rev \d+/);
});
