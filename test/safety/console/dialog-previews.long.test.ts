/** The dialogs of a drain, a reset and a new total name the runs that would be granted, also on a small screen. */

import { describe, it, type TestContext } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import { putKeys } from "../../../fixtures/schedule/sample-schedules.ts";
import { createKeyValue, toRunId } from "../../../fixtures/state/sample-snapshots.ts";
import { serializeTicket, type Ticket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const SIZES = [
  { columns: 80, rows: 24 },
  { columns: 160, rows: 50 },
];

/** A console on a lock and a resource that are held and waited for. */
async function openBusyConsole(context: TestContext, size: (typeof SIZES)[number], view = "locks") {
  const namespace = await cluster.createTestNamespace("http", context);

  const put = (key: string, letter: string, more: Partial<Ticket>) =>
    createKeyValue(
      key,
      serializeTicket(createTicket({ run: toRunId(letter), host: `${letter}.example.com`, ...more })),
    );
  await putKeys(namespace, [
    createKeyValue(keys.resourceConfig("db"), JSON.stringify({ v: 1, total: "10" })),
  ]);
  const held = { state: "held", grantedAt: Date.now() } as const;
  const all: [string, string, Partial<Ticket>][] = [
    ["lock", "a", held],
    ...["b", "c", "d", "e", "f"].map((letter): [string, string, Partial<Ticket>] => ["lock", letter, {}]),
    ["resource", "g", { ...held, count: 8, total: 10 }],
    ["resource", "h", { count: 4, total: 10 }],
    ["resource", "i", { count: 2, total: 10 }],
  ];
  for (const [kind, letter, more] of all) {
    const run = toRunId(letter);
    const key = kind === "lock" ? keys.lock("invoices", run) : keys.resource("db", run);
    await putKeys(namespace, [put(key, letter, more)]);
  }
  return await openConsole(namespace, { ...size, args: ["--view", view] });
}

it("drain all in the palette drains everything, whatever row is selected", async (context) => {
  const console = await openBusyConsole(context, { columns: 120, rows: 40 });
  await console.waitFor(/invoices .*held/);
  console.press(":");
  await console.typeAndWait("drain all", "drain the whole cluster");
  await console.pressAndWait("enter", "signalbox drain all");
});

it("an action and a name in the palette act on this row only, independent of selection and marks", async (context) => {
  const console = await openBusyConsole(context, { columns: 120, rows: 40 }, "resources");
  await console.waitFor(/db .*held/);
  await console.pressAndWait("space", "1 marked");
  await console.pressAndWait(":", "palette");
  await console.typeAndWait("why invoices", /why invoices +lock/);
  await console.pressAndWait("enter", /why invoices(?:.|\n)*b\.example\.com/);
  await console.press("escape");
  await console.pressAndWait(":", "palette");
  await console.typeAndWait("reset invoices", /reset invoices +lock/);
  await console.pressAndWait("enter", "signalbox reset lock invoices");
});

describe.each(SIZES)("at $columns columns", (size) => {
  it("a reset names the runs that follow", async (context) => {
    const console = await openBusyConsole(context, size);
    await console.waitFor(/invoices .*held/);
    await console.pressAndWait("X", /then granted: b\.example\.com\S* at once, c\.example\.com/);
  });

  it("a drain says that none of the waiting runs is granted", async (context) => {
    const console = await openBusyConsole(context, size);
    await console.waitFor(/invoices .*held/);
    await console.pressAndWait("D", "then granted: none of the waiting runs");
  });

  it("the reset of a waiter names the run that no longer waits behind the one that leaves", async (context) => {
    const console = await openBusyConsole(context, size, "queues");
    await console.waitFor(/h\.example|h:/);
    console.press("/");
    console.type("host:h.example.com");
    await console.pressAndWait("enter", "1 of");
    await console.pressAndWait("X", /then granted: i\.example\.com\S* at once/);
  });

  it("a larger total names the run that fits then", async (context) => {
    const console = await openBusyConsole(context, size, "resources");
    await console.waitFor(/db .*10/);
    await console.pressAndWait("e", "signalbox resource set db 10");
    console.press("tab", "backspace", "backspace");
    await console.typeAndWait(
      "12",
      "signalbox resource set db 12",
      /then granted: h\.example\.com\S* at once/,
    );
  });
});
