import { queueTicket } from "../../../fixtures/cluster/sample-queues.ts";
/** What was, what would be, and what will be: the timeline, what-if, why it did not run, and collisions. */

import { describe, expect } from "vitest";
import { openConsole } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import { putKeys } from "../../../fixtures/schedule/sample-schedules.ts";
import { createOutcomesKey, createScheduleKeys } from "../../../fixtures/schedule/schedule-keys.ts";
import { createEndedRun, createKeyValue, toRunId } from "../../../fixtures/state/sample-snapshots.ts";
import { serializeAuditRecord } from "../../../src/core/protocol/audit.ts";
import { appendPastRun } from "../../../src/core/protocol/history.ts";
import { serializeTicket, type Ticket } from "../../../src/core/protocol/ticket.ts";
import { formatOutcomes } from "../../../src/schedule/state/outcome.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** A screen in which colours, escape codes and directions are hostile. */
const HOSTILE = "evil\u001b[31m\u202ename\u0007";

const queueUp = (namespace: TestNamespace, letter: string, change: Partial<Ticket> = {}) =>
  queueTicket(namespace, "invoices", { run: toRunId(letter), host: `${letter}.example.com`, ...change });

/** A lock that was held and failed, that was drained for a while, and is held and waited for now. */
async function putLockHistory(namespace: TestNamespace, command = "invoices.sh"): Promise<void> {
  const now = Date.now();
  const past = (letter: string, ago: number, exit: number) =>
    createEndedRun({
      run: toRunId(letter),
      host: `${letter}.example.com`,
      command,
      exit,
      held: 5 * MINUTE,
      enqueuedAt: now - ago - MINUTE,
      grantedAt: now - ago,
      endedAt: now - ago + 5 * MINUTE,
      ...(exit !== 0 && { tail: "no space left on the disk" }),
    });
  const runs = [past("p", 50 * MINUTE, 0), past("q", 40 * MINUTE, 0), past("s", 20 * MINUTE, 3)];
  const history = runs.reduce<string | undefined>((text, run) => appendPastRun(text, run), undefined) ?? "";
  const audit = (action: "drain" | "undrain", ago: number) =>
    createKeyValue(
      keys.audit(`${action}1`),
      serializeAuditRecord({
        id: `${action}1`,
        at: now - ago,
        user: "ann",
        host: "ops1",
        action,
        target: "lock invoices",
        seen: 1n,
        outcome: action === "drain" ? "drained" : "lifted",
      }),
    );
  await putKeys(namespace, [
    createKeyValue(keys.history("invoices"), history),
    audit("drain", 35 * MINUTE),
    audit("undrain", 25 * MINUTE),
  ]);
  const since = now - 4 * MINUTE;
  await queueUp(namespace, "a", { state: "held", enqueuedAt: since, grantedAt: since, command });
  await queueUp(namespace, "b", { state: "waiting", enqueuedAt: now - 2 * MINUTE, command });
}

describe("the timeline", () => {
  test.each([
    { columns: 80, rows: 24 },
    { columns: 160, rows: 50 },
  ])(
    "shows runs, waiters and lifted drains at $columns columns; zooms, moves and comes back",
    async (size) => {
      const namespace = await cluster.createTestNamespace();
      await putLockHistory(namespace);
      const console = await openConsole(namespace, {
        ...size,
        view: "locks",
        shows: /invoices .*held/,
      });
      await console.pressAndWait(
        "t",
        "timeline lock invoices: 1h until now",
        /drained +·+▒+·+/,
        /waiting +·*1.*1/,
        /s:4711 .*█▲/,
        "> b:",
        /waits since .*Z/,
      );
      await console.pressAndWait("up up", "> s:4711", "exit code 3");
      await console.pressAndWait("enter", "no space left on the disk");
      console.press("escape");
      await console.pressAndWait("+", "invoices: 30m until now");
      await console.pressAndWait("left", /invoices: 30m until 20\d\d-/);
      await console.pressAndWait("- -", "invoices: 2h until now");
      await console.pressAndWait("0", "invoices: 1h until now");
      await queueUp(namespace, "c", { state: "waiting", enqueuedAt: Date.now() - MINUTE });
      await console.waitFor("> c:");
      await console.pressAndWait("enter", /run c{16}/);
    },
  );

  test("of a resource has the units that runs and tasks held, and so have its details", async ({
    namespace,
  }) => {
    const now = Date.now();
    const span = { enqueuedAt: now - 20 * MINUTE, grantedAt: now - 20 * MINUTE, endedAt: now - 10 * MINUTE };
    const run = createEndedRun({ run: toRunId("p"), host: "p.example.com", leases: { db: 7 }, ...span });
    const outcome = {
      scheduled: span.grantedAt,
      result: "failed",
      run: toRunId("q"),
      host: "q.example.com",
      startedAt: now - 9 * MINUTE,
      endedAt: now - MINUTE,
      leases: { db: 2 },
      waited: MINUTE,
    } as const;
    await putKeys(namespace, [
      createKeyValue(keys.history("invoices"), appendPastRun(undefined, run)),
      createKeyValue(
        keys.resource("db", toRunId("a")),
        serializeTicket(
          createTicket({
            run: toRunId("a"),
            state: "held",
            count: 1,
            total: 10,
            enqueuedAt: now,
            grantedAt: now,
          }),
        ),
      ),
      ...createScheduleKeys("job"),
      createKeyValue(keys.outcomes("job"), formatOutcomes({ runs: [outcome], dead: [] })),
    ]);
    const console = await openConsole(namespace, {
      columns: 160,
      rows: 50,
      view: "resources",
      shows: /db .*1\/10/,
    });
    await console.waitFor(/units held .* at most 7, /);
    await console.pressAndWait(
      "t",
      "timeline resource db: 30m until now",
      /units, 7 at most +█+ +▃+ +▂+/,
      /q .*░.*█+▲/,
      /p:4711 .*█/,
    );
  });

  test("has ASCII signs, and shows hostile names as harmless text", async ({ namespace }) => {
    await putLockHistory(namespace, HOSTILE);
    const console = await openConsole(namespace, {
      columns: 80,
      rows: 24,
      view: "locks",
      args: ["--ascii"],
      shows: /invoices .*held/,
    });
    await console.pressAndWait("t", /waiting +\.*1/, "#!");
    expect(console.getText()).not.toMatch(/[^\n\x20-\x7e]/);
    await console.pressAndWait("escape i", "what if: drain lock invoices");
    expect(console.getText()).not.toMatch(/[^\n\x20-\x7e]/);
  });
});

describe("what-if", () => {
  test("tells who gets the lock and when, follows the queue, and leads to a drain that happens", async ({
    namespace,
  }) => {
    await putLockHistory(namespace);
    await queueUp(namespace, "c", { state: "waiting" });
    const console = await openConsole(namespace, { view: "locks", shows: /invoices .*held/ });
    await console.pressAndWait("i", /\[drain\] +reset/, /never +b\.example\.com/);
    await console.pressAndWait(
      "tab",
      /ends +a\.example\.com/,
      /now +b\.example\.com/,
      /then 1 c\.example\.com[\s\S]*expected in/,
    );
    await queueUp(namespace, "d", { state: "waiting" });
    await console.waitFor("then 2 d.example.com");
    expect((await namespace.store.readRange(namespace.keys.audits())).kvs).toHaveLength(2);
    await console.pressAndWait("tab enter", "signalbox drain lock invoices", "Enter drain");
    expect((await namespace.store.readRange(namespace.keys.drains())).kvs).toEqual([]);
    await console.pressAndWait("enter", "lock invoices is drained");
    expect((await namespace.store.readRange(namespace.keys.drains())).kvs).toHaveLength(1);
  });

  test("of a total keeps the number for the form; a read-only console refuses the form", async ({
    namespace,
  }) => {
    await putKeys(namespace, [
      createKeyValue(keys.resourceConfig("db"), JSON.stringify({ v: 1, total: "10" })),
    ]);
    const console = await openConsole(namespace, {
      columns: 80,
      rows: 24,
      view: "resources",
      shows: /db .*free/,
    });
    await console.pressAndWait("i shift+tab", /\[total\] +10/);
    await console.pressAndWait("backspace backspace", "type the new total");
    await console.typeAndWait("25", "no run would end, leave or be granted");
    await console.pressAndWait("enter", "resource db: total 10 -> 25");
    const other = await openConsole(namespace, {
      view: "resources",
      args: ["--read-only"],
      shows: /db .*free/,
    });
    await other.pressAndWait("i", "what if: drain resource db");
    await other.pressAndWait("enter", "this console is read-only");
  });
});

describe("why did it not run", () => {
  test("begins with the last expected occurrence, and takes another time", async ({ namespace }) => {
    const now = Date.now();
    const scheduled = now - (now % HOUR);
    const outcome = { scheduled, result: "skipped" as const, endedAt: scheduled + 5, reason: "no worker" };
    const next = scheduled + HOUR;
    await putKeys(namespace, [
      ...createScheduleKeys("backup", {}, { next, runAt: next }),
      createOutcomesKey("backup", { runs: [outcome] }),
    ]);
    const console = await openConsole(namespace, {
      columns: 80,
      rows: 24,
      view: "schedules",
      shows: "backup ",
    });
    await console.pressAndWait("w", "─ why backup ", "it was not started; skipped");
    console.press("ctrl+u");
    await console.typeAndWait("yesterdy 02:00", "must be a time such as");
    console.press("ctrl+u");
    await console.typeAndWait("yesterday 02:00", "no outcome of this occurrence is stored");
    await console.pressAndWait("enter", /─ why backup --at yesterday 02:00 [\s\S]*y copy/);
  });
});

describe("collisions", () => {
  test("suggest another minute, and fill it into the form of the schedule", async ({ namespace }) => {
    const cron = "0 3 * * *";
    const next = Date.now() - (Date.now() % (24 * HOUR)) + 27 * HOUR;
    const due = { next: next - 24 * HOUR > Date.now() ? next - 24 * HOUR : next };
    await putKeys(namespace, [
      ...createScheduleKeys("backup", { cron }, due),
      ...createScheduleKeys("mail", { cron: "@daily" }, { next: Date.now() }),
      ...createScheduleKeys("report", { cron }, due),
    ]);
    const console = await openConsole(namespace, {
      columns: 80,
      rows: 24,
      view: "schedules",
      shows: "report ",
    });
    await console.typeAndWait(":collisions", /collisions +schedules that compete/);
    await console.pressAndWait(
      "enter",
      /same minute[\s\S]*backup, report/,
      "or: signalbox schedule edit report --cron '1 3 * * *'",
    );
    await console.pressAndWait("down enter", "schedule edit report", /cron +1 3 \* \* \*/, /timezone +UTC/);
  });

  test("that are more than fit on the screen can all be read", async ({ namespace }) => {
    const due = { next: Date.now() + 10 * HOUR };
    await putKeys(
      namespace,
      ["a", "b", "c", "d"].flatMap((id) => createScheduleKeys(id, { cron: "0 * * * *" }, due)),
    );
    const console = await openConsole(namespace, { columns: 80, rows: 12, view: "schedules", shows: "a " });
    await console.typeAndWait(":collisions", /collisions +schedules that compete/);
    await console.pressAndWait("enter", "Enter choose", "to spread them");
    expect(console.getText()).not.toContain("same minute");
    await console.pressAndWait("up up up up up up", "same minute");
  });

  test("are those of the selected schedule", async ({ namespace }) => {
    const due = { next: Date.now() + 10 * HOUR };
    await putKeys(namespace, [
      ...["a", "b", "c"].flatMap((id) => createScheduleKeys(id, { cron: "*/10 * * * *" }, due)),
      ...["x", "y"].flatMap((id) => createScheduleKeys(id, { cron: "5 * * * *" }, due)),
    ]);
    const console = await openConsole(namespace, {
      columns: 100,
      rows: 30,
      view: "schedules",
      shows: /y +/,
    });
    const open = async () => {
      await console.typeAndWait(":collisions", /collisions +schedules that compete/);
      console.press("enter");
    };
    await console.pressAndWait("G", "schedule y:");
    await open();
    await console.waitFor(/same minute[\s\S]* x, y[\s\S]*schedule edit y/);
    expect(console.getText()).not.toContain("a, b, c");
  });
});
