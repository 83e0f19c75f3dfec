/** Stories of operators, from the first key to the effect in etcd. docs/console.md lists their keystrokes. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { openConsoleInShell } from "../../../../fixtures/cluster/open-console.ts";
import { listAudits, listDrains, readSchedule } from "../../../../fixtures/cluster/read-keys.ts";
import { holdLock } from "../../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../../fixtures/cluster/test-namespace.ts";
import type { Terminal } from "../../../../fixtures/console.ts";
import { createTicket } from "../../../../fixtures/protocol/samples.ts";
import { putKeys } from "../../../../fixtures/schedule/sample-schedules.ts";
import {
  createOutcomesKey,
  createScheduleKeys,
  createWorkerKey,
} from "../../../../fixtures/schedule/schedule-keys.ts";
import { createTestFolder } from "../../../../fixtures/test-folder.ts";
import { grantOnce } from "../../../../src/core/etcd/session/session.ts";
import { serializeTicket } from "../../../../src/core/protocol/ticket.ts";
import { Operator, openOverview, playStory, readDocumentedStories } from "./operator.ts";

const { test } = TestCluster.startForFile();
const HOUR = 3_600_000;

/** Tickets of runs that wait for a lock, whose sessions live on. */
async function queueUp(namespace: TestNamespace, lock: string, count: number): Promise<void> {
  const session = BigInt(Math.floor(Math.random() * 2 ** 52));
  await grantOnce(namespace.store, session, 600);
  const success = Array.from({ length: count }, (_, at) => {
    const run = `w${String(at).padStart(15, "0")}`;
    const value = serializeTicket(createTicket({ run, pid: 10_000 + at, enqueuedAt: Date.now() - 60_000 }));
    return { op: "put" as const, key: namespace.keys.lock(lock, run), value, session };
  });
  await namespace.write(...success);
}

test("drain a rack", async ({ namespace }) => {
  const made = namespace.start("group set rack12 web1.example.com web2.example.com --yes");
  expect(await made.ended).toExit(0);
  await playStory(namespace, "drain a rack", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("rack", /rack12 +group/);
    await operator.press(["enter"], /rack12 +.*web1/);
    await operator.press(["D"], "Enter drain");
    await operator.press(["enter"], /done .*drain group rack12/);
  });
  expect(await listAudits(namespace, ["action", "target", "reason"])).toContain("drain | group rack12");
  expect(await namespace.readValue(namespace.keys.drain("group", "rack12"))).toBeDefined();
});

test("a stuck holder with forty waiters", async ({ namespace }) => {
  for (const lock of ["alpha", "beta"]) await namespace.jobs.startHolder(lock, ["--lock", lock]);
  const stuck = await namespace.jobs.startHolder("stuck", "--lock orders");
  await queueUp(namespace, "orders", 40);
  await playStory(namespace, "a stuck holder with forty waiters", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("ord", /orders +lock/);
    await operator.press(["enter"], /orders +● held .* 40 /);
    await operator.press(["X"], "type orders to confirm");
    await operator.type("orders", /Enter reset/);
    await operator.press(["enter"], /done .*reset lock orders/);
  });
  expect(await stuck.ended).toExit(125);
  expect(await listAudits(namespace, ["action", "target", "reason"])).toEqual(["reset | lock orders"]);
});

test("a schedule that fails since Tuesday", async ({ namespace }) => {
  const now = Date.now();
  const failed = Array.from({ length: 5 }, (_, days) => {
    const scheduled = now - (days + 1) * 24 * HOUR;
    const times = { scheduled, startedAt: scheduled + 250, endedAt: scheduled + 9_000, late: 250 };
    const tail = "pg_dump: no space left on device\n";
    return { ...times, run: `r${days}`, result: "failed" as const, host: "web1.example.com", code: 7, tail };
  });
  await putKeys(namespace, [
    createWorkerKey("w1"),
    ...createScheduleKeys("mail", {}, { runAt: now + 2 * HOUR }),
    ...createScheduleKeys("report", {}, { runAt: now + HOUR, ...(failed[0] && { last: failed[0] }) }),
    createOutcomesKey("report", { runs: failed }),
  ]);
  await playStory(namespace, "a schedule that fails since Tuesday", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("rep", /report +schedule/);
    await operator.press(["enter"], /report +▲ failed[\s\S]*no space left on device/);
    await operator.press(["P"], "Enter schedule pause");
    await operator.press(["enter"], /done .*schedule pause report/);
  });
  expect((await readSchedule(namespace, "report")).definition?.pause).toBeDefined();
});

test("raise a total safely", async ({ namespace }) => {
  await namespace.expectDone("resource set db 4 --yes");
  await playStory(namespace, "raise a total safely", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("db", /db +resource/);
    await operator.press(["enter"], /resource db: /);
    await operator.press(["e"], "Enter resource set");
    await operator.press(["tab", "ctrl+u"], /> total/);
    await operator.type("6", /resource "?db"?.*6[\s\S]*resource set db 6[\s\S]*Enter resource set/);
    await operator.press(["enter"], /done .*resource set/);
  });
  expect(await namespace.readValue(namespace.keys.resourceConfig("db"))).toContain('"6"');
});

test("the nightly backup did not run", async ({ namespace }) => {
  const now = Date.now();
  await putKeys(namespace, [
    createWorkerKey("w1"),
    ...createScheduleKeys("mail", {}, { runAt: now + 2 * HOUR }),
    ...createScheduleKeys("backup", { type: "tape" }, { runAt: now - 9 * HOUR }),
  ]);
  await playStory(namespace, "the nightly backup did not run", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("back", /backup +schedule/);
    await operator.press(["enter"], /no worker/);
    await operator.press(["N"], "Enter schedule trigger");
    await operator.press(["enter"], /done .*schedule trigger backup/);
  });
  expect((await readSchedule(namespace, "backup")).due?.open).toMatchObject([{ kind: "trigger" }]);
});

test("twelve dead letters", async ({ namespace }) => {
  const now = Date.now();
  const dead = Array.from({ length: 12 }, (_, hours) => {
    const scheduled = now - (hours + 1) * HOUR;
    const times = { scheduled, startedAt: scheduled + 250, endedAt: scheduled + 9_000, late: 250 };
    return { ...times, run: `r${hours}`, result: "failed" as const, host: "web1.example.com", code: 7 };
  });
  await putKeys(namespace, [
    ...createScheduleKeys("bill", {}, { runAt: now + HOUR, dead: 12 }),
    createOutcomesKey("bill", { runs: dead.slice(0, 1), dead }),
  ]);
  await playStory(namespace, "twelve dead letters", async (operator) => {
    await operator.press(["d"], /SCHEDULED[\s\S]*(bill +\S+ \S+ +▲ failed[\s\S]*){12}/);
    await operator.press(["a"], /(✓ bill[\s\S]*){12}/);
    await operator.press(["enter"], /schedule trigger bill --dead all[\s\S]*Enter schedule trigger/);
    await operator.press(["enter"], /no dead letters[\s\S]*done .*schedule trigger .*bill/);
  });
  const { due } = await readSchedule(namespace, "bill");
  expect(due?.open.length).toBe(12);
  expect(due?.dead).toBeUndefined();
});

test("who did that", async ({ namespace }) => {
  for (const scope of ["web1", "db1", "db2"]) {
    const drained = namespace.start(["drain", "host", scope, "--reason", `disks of ${scope}`, "--yes"]);
    expect(await drained.ended).toExit(0);
  }
  await playStory(namespace, "who did that", async (operator) => {
    await operator.press(["M", "[", "["], /drain +host db2/);
    await operator.press(["/"], "─ filter audit ");
    await operator.type("db1", /1 of 3/);
    await operator.press(["enter"], /drain +host db1[\s\S]*disks of db1/);
  });
});

test("a runaway job's output", async ({ namespace }) => {
  const folder = createTestFolder();
  const source = join(folder, "source");
  writeFileSync(source, Array.from({ length: 300 }, (_, at) => `retry ${at}: connection refused\n`).join(""));
  const env = { SIGNALBOX_OUTPUT_DIRECTORY: join(folder, "kept"), SIGNALBOX_OUTPUT_SIZE: "64KiB" };
  const command = ["tail", "--follow", "--lines=+1", source];
  const run = namespace.startRun("--capture --lock sync", command, { env });
  await run.waitForOutput("retry 299");
  await playStory(namespace, "a runaway job's output", async (operator) => {
    await operator.press(["]"], /sync +● held/);
    await operator.press(["l"], /output of sync[\s\S]*retry 299: connection refused/);
    await operator.press(["escape"], /sync +● held/);
    await operator.press(["X"], "type sync to confirm");
    await operator.type("sync", /Enter reset/);
    await operator.press(["enter"], /done .*reset lock sync/);
  });
  expect(await run.ended).toExit(125);
});

test("evacuate before an etcd upgrade", async ({ namespace }) => {
  const folder = createTestFolder();
  const over = join(folder, "over");
  const job = await namespace.jobs.startAndWait("import", "--lock import", { hold: ["until", over] });
  await playStory(namespace, "evacuate before an etcd upgrade", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("drains", /drains? /i);
    await operator.press(["enter"], "Nothing is drained");
    await operator.press(["n"], "a new drain");
    await operator.type("all", /signalbox drain all --wait[\s\S]*Enter drain/);
    await operator.press(["shift+tab"], /> .*type all|type all to confirm/);
    await operator.type("all", /Enter drain/);
    await operator.press(["enter"], /running .*drain .*waiting for/);
    writeFileSync(over, "");
    await operator.terminal.waitFor(/done .*drain/);
  });
  expect(await job.ended).toExit(0);
  expect((await namespace.store.readRange(namespace.keys.drains())).count).toBe(1);
});

test("the host is repaired", async ({ namespace }) => {
  await namespace.expectDone("drain host web1.example.com --reason disk --yes");
  await playStory(namespace, "the host is repaired", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("web1", /web1\.example\.com +host/);
    await operator.press(["enter"], /web1\.example\.com[\s\S]*disk/);
    await operator.press(["U"], "Enter undrain");
    await operator.press(["enter"], /done .*undrain host web1/);
  });
  expect(await namespace.readValue(namespace.keys.drain("host", "web1.example.com"))).toBeUndefined();
});

test("why does it wait", async ({ namespace }) => {
  await namespace.jobs.startHolder("first", "--lock orders");
  await queueUp(namespace, "orders", 2);
  await playStory(namespace, "why does it wait", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("why ord", /orders/);
    await operator.press(["enter"], /waits for lock orders[\s\S]*holds|held by/);
  });
});

test("take one waiter out of a queue", async ({ namespace }) => {
  await namespace.jobs.startHolder("first", "--lock orders");
  const waiter = await namespace.jobs.startWaiter("second", "--lock orders --wait");
  await playStory(namespace, "take one waiter out of a queue", async (operator) => {
    await operator.press(["f5"], /orders .*waiting/);
    await operator.press(["X"], /type \w+ to confirm/);
    const [, run = ""] = /type (\w+) to confirm/.exec(operator.terminal.getText()) ?? [];
    await operator.type(run, /Enter reset/);
    await operator.press(["enter"], /done .*reset/);
  });
  expect(await waiter.ended).not.toExit(0);
  expect(await namespace.listTickets()).toHaveLength(1);
});

test("dead letters that nobody needs", async ({ namespace }) => {
  const now = Date.now();
  const times = { scheduled: now - HOUR, startedAt: now - HOUR, endedAt: now - HOUR + 9_000, late: 0 };
  const dead = [{ ...times, run: "r1", result: "failed" as const, host: "web1.example.com", code: 7 }];
  await putKeys(namespace, [
    ...createScheduleKeys("bill", {}, { runAt: now + HOUR, dead: 1 }),
    createOutcomesKey("bill", { runs: dead, dead }),
  ]);
  await playStory(namespace, "dead letters that nobody needs", async (operator) => {
    await operator.press(["d"], /SCHEDULED[\s\S]*bill/);
    await operator.press(["b"], "Enter schedule bury");
    await operator.press(["enter"], /no dead letters[\s\S]*done .*schedule bury/);
  });
  const { due } = await readSchedule(namespace, "bill");
  expect([due?.dead, due?.open ?? []]).toEqual([undefined, []]);
});

test("is etcd slow or full", async ({ namespace }) => {
  await playStory(namespace, "is etcd slow or full", async (operator) => {
    await operator.press(["M"], /● leader[\s\S]*quota [\s\S]*latency/);
  });
});

test("who waits longest, and why", async ({ namespace }) => {
  await namespace.jobs.startHolder("first", "--lock orders");
  await queueUp(namespace, "orders", 3);
  await playStory(namespace, "who waits longest, and why", async (operator) => {
    await operator.press(["f5"], /WAITS[\s\S]*has waited .* for lock orders/);
  });
});

test("drain one host", async ({ namespace }) => {
  await holdLock(namespace, "busy", { host: "web1.example.com" });
  await playStory(namespace, "drain one host", async (operator) => {
    await operator.press([":"], "─ palette ");
    await operator.type("drain web1", /^[^\n]*│▎. drain web1/m);
    await operator.press(["enter"], /signalbox drain host web1\.example\.com --wait[\s\S]*Enter drain/);
    await operator.press(["enter"], /running .*drain host web1.*waiting for/);
  });
  expect(await listDrains(namespace)).toMatchObject([{ scope: "host", name: "web1.example.com" }]);
});

/** Holds the lock orders, for which another run waits. */
async function startHolderAndWaiter({ jobs }: TestNamespace) {
  const holder = await jobs.startHolder("first", "--lock orders");
  await jobs.startWaiter("second", "--lock orders --wait", { hold: ["until", "/nonexistent"] });
  return holder;
}

async function typeReset(operator: Operator) {
  await operator.press(["]"], /orders +● held/);
  await operator.press(["X"], "type orders to confirm");
  await operator.type("orders", "Enter reset");
}

test("two operators reset one lock", async ({ namespace }) => {
  const first = await startHolderAndWaiter(namespace);
  const colleague = new Operator(await openOverview(namespace));
  await typeReset(colleague);
  const done = /done .*reset lock orders/;
  const told = /nothing was changed, because|the runs to end have changed|▲ type orders to confirm/;
  const isAnswered = (terminal: Terminal) => [done, told].some((one) => one.test(terminal.getText()));
  await playStory(namespace, "two operators reset one lock", async (operator) => {
    await typeReset(operator);
    colleague.terminal.press("enter");
    await operator.press(["enter"], isAnswered);
    await colleague.terminal.waitFor(isAnswered);
    const screens = [operator, colleague].map(({ terminal }) => terminal.getText());
    expect(screens.map((text) => [done.test(text), told.test(text)]).sort()).toEqual([
      [false, true],
      [true, false],
    ]);
  });
  expect(await first.ended).toExit(125);
  await namespace.jobs.waitForTickets("second", "held");
  expect(await listAudits(namespace, ["action", "target"])).toEqual(["reset | lock orders"]);
});

test("etcd is killed under a dialog", async ({ namespace }) => {
  const job = await namespace.jobs.startHolder("job", "--lock orders");
  await playStory(namespace, "etcd is killed under a dialog", async (operator) => {
    await operator.press(["]"], /orders +● held/);
    await operator.press(["D"], "Enter drain");
    await namespace.etcd.kill();
    await operator.terminal.waitFor("etcd unreachable");
    await operator.press(["enter"], "etcd is unreachable: changes are not possible now");
    await namespace.etcd.restart();
    await operator.terminal.waitFor("nothing was changed: press Enter again");
    expect(await listDrains(namespace)).toEqual([]);
    await operator.press(["enter"], /running .*drain .*waiting for/);
    await namespace.etcd.kill();
    await operator.terminal.waitFor("etcd unreachable");
    await namespace.etcd.restart();
    await operator.terminal.waitFor(/live rev \d+/);
    expect(await job.finish()).toExit(0);
    await operator.terminal.waitFor(/done .*drain lock orders/);
  });
  expect(await listDrains(namespace)).toMatchObject([{ scope: "lock", name: "orders" }]);
  expect(await listAudits(namespace, ["action", "target"])).toEqual(["drain | lock orders"]);
});

test("leave a dialog for the shell, and come back", async ({ namespace }) => {
  const first = await startHolderAndWaiter(namespace);
  const play = async (operator: Operator) => {
    const { terminal } = operator;
    await typeReset(operator);
    await operator.press(["ctrl+z"], "Stopped");
    expect([terminal.isAlternate, terminal.modes.has(1000), terminal.modes.has(25)]).toEqual([
      false,
      false,
      true,
    ]);
    expect(await first.finish()).toExit(0);
    await namespace.jobs.waitForTickets("second", "held");
    await operator.type("fg\r", "the runs to end have changed: read the preview again");
    expect(terminal.isAlternate).toBe(true);
    await operator.press(["enter"], "▲ type orders to confirm");
  };
  await playStory(namespace, "leave a dialog for the shell, and come back", play, openConsoleInShell);
  expect(await listAudits(namespace)).toEqual([]);
  await namespace.jobs.waitForTickets("second", "held");
});

test("the documentation lists exactly the stories that are played", () => {
  const played = [...readFileSync(import.meta.filename, "utf8").matchAll(/playStory\(namespace, "([^"]+)"/g)];
  expect([...readDocumentedStories().keys()].sort()).toEqual(played.map(([, name]) => name).sort());
});
