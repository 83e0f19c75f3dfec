/** How long runs should take: what is told about those that take longer, or have succeeded sooner. */

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS } from "../../../fixtures/cluster/test-namespace.ts";
import {
  buildWaitingScript,
  putDueSchedule,
  runShell,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";
import { putKeys } from "../../../fixtures/schedule/sample-schedules.ts";
import { createWorkerKey } from "../../../fixtures/schedule/schedule-keys.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { formatDefinition } from "../../../src/schedule/definition.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";
import { formatOutcomes } from "../../../src/schedule/state/outcome.ts";
import { formatRunning } from "../../../src/schedule/state/running-record.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const MINUTE = 60_000;
const RUNNING = { worker: "w", host: "web1", pid: 7, run: "r", scheduled: 1, attempt: 1, late: 0 };

/** Hooks that write the JSON documents that they get into a file, and what reads it, sorted: hooks run beside each other. */
function createHookLog(...names: string[]) {
  const path = cluster.createPath();
  const hook = runShell(`cat >> ${path}`);
  const read = () =>
    existsSync(path)
      ? readFileSync(path, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line))
          .sort((a, b) => a.attempt - b.attempt || (a.event < b.event ? -1 : 1))
      : [];
  return { hooks: Object.fromEntries(names.map((name) => [name, hook])), read };
}

test.concurrent("mistakes that would fail at every start are told when the schedule is written", async ({
  namespace,
}) => {
  const path = cluster.createPath();
  const definition = { cron: "@daily", timezone: "UTC", command: ["./x"] };
  writeFileSync(path, JSON.stringify({ version: 1, schedules: { job: definition, other: definition } }));
  const { stderr } = await namespace.execute(["apply", path, "--yes"]);
  expect(stderr).toMatch(/note: schedule "job": "\.\/x" is a path in the working folder/);
  const add = async (id: string, ...words: string[]) =>
    (await namespace.execute(["schedule", "add", id, "@daily", ...words])).stderr;
  expect(await add("a", "--lease", "db=2", "--", "true")).toMatch(
    /note: resource "db" has no total: .*signalbox resource set db TOTAL/,
  );
  expect(await add("b", "--lease", "db=2:10", "--lease", "FQDN_mem=1", "--", "true")).toBe("");
  expect(await add("c", "--", "/bin/echo hi > /tmp/x")).toMatch(
    /note: .* name of a program; it is one word: /,
  );
  expect(await add("d", "--", "LANG=C", "date")).toMatch(
    /note: .*; no shell sets variables here; write: env LANG=C/,
  );
  const spaced = `${cluster.createPath()} with blanks`;
  writeFileSync(spaced, "");
  expect(await add("f", "--", spaced)).toBe("");
  await namespace.expectDone("resource set db 10");
  expect(await add("e", "--lease", "db=2", "--", "cd", "/")).toMatch(/^.*note: "cd" .*sh -c 'COMMAND'\n$/);
});

test.concurrent("an overrun is told once for each start while it runs, also if the worker is killed then", async () => {
  const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
  const [there, gate] = [cluster.createPath(), cluster.createPath()];
  const { hooks, read } = createHookLog("start", "overrun", "success", "too-short");
  const command = runShell(buildWaitingScript(there, gate));
  await putDueSchedule(namespace, "slow", { command, expect: "50ms..400ms", hooks });
  const first = namespace.start("worker --metrics 127.0.0.1:0");
  await first.waitForOutput(/metrics are served at=\S+\n/);
  const [, address] = /metrics are served at=(\S+)/.exec(first.output.stderr) ?? [];
  await waitUntil("overrun", () => read().length >= 2);
  const overrun = {
    schedule: "slow",
    event: "overrun",
    attempt: 1,
    bound: 400,
    startedAt: expect.any(Number),
  };
  expect(read()).toMatchObject([overrun, { event: "start", attempt: 1 }]);
  const metrics = await (await fetch(`http://${address}/metrics`)).text();
  expect(metrics).toContain('signalbox_worker_deviations_total{type="slow",deviation="overrun"} 1');

  first.kill("SIGKILL");
  const second = namespace.start("worker");
  await waitUntil("overrun of the second start", () => read().length >= 4);
  expect(read().slice(2)).toMatchObject([
    { ...overrun, attempt: 2 },
    { event: "start", attempt: 2 },
  ]);
  await second.waitForOutput("takes longer than expected");
  writeFileSync(gate, "");
  const [outcome] = await waitForOutcomes(namespace, "slow");
  expect(outcome).toMatchObject({ result: "ok", attempt: 2, deviation: "overrun" });
  await waitUntil("success", () => read().length >= 5);
  expect(read().at(-1)).toMatchObject({ event: "success", deviation: "overrun" });
});

test.concurrent("a run that takes longer than expected is a problem, and a state of its schedule", async ({
  namespace,
}) => {
  for (const id of ["slow", "quick"])
    await namespace.expectDone(`schedule add ${id} @yearly --expect 50ms..400ms -- true`);
  await putKeys(namespace, [createWorkerKey("w", { host: "web1", pid: 7, wall: Date.now() })]);
  await namespace.store.grant(4711n, 600);
  const value = formatRunning({ ...RUNNING, since: Date.now() - MINUTE });
  await namespace.write({ op: "put", key: namespace.keys.running("slow"), value, session: 4711n });
  expect(await namespace.execute("ls problems")).toExit(0, {
    stdout: /overrun +schedule slow.*has run it for \S+; expected: at most/s,
  });
  expect((await namespace.execute("overview")).stdout).toMatch(/1 problem/);
  const { rows } = await namespace.executeJson("ls schedules");
  const states = rows.map((row: { schedule: string; states: string[] }) => [row.schedule, row.states]);
  expect(Object.fromEntries(states)).toMatchObject({
    slow: ["overrun", "running", "waiting"],
    quick: ["waiting"],
  });
  expect((await namespace.execute("show schedule slow")).stdout).toMatch(/expected +50ms to 400ms/);
});

test.concurrent("check schedule --expect finds a run that takes too long, and one that took too long", async ({
  namespace,
}) => {
  await namespace.expectDone("schedule add slow @yearly --expect 50ms..400ms -- true");
  const { keys } = namespace;
  const since = Date.now() - MINUTE;
  await namespace.put(keys.running("slow"), formatRunning({ ...RUNNING, since }));
  const check = "check schedule slow --expect";
  expect(await namespace.execute(check)).toExit(2, {
    stdout: /slow.*has run for \S+ on \S+; expected: 50ms to 400ms/,
  });
  expect(await namespace.execute("check schedule slow"), "nobody has asked").toExit(0);
  await namespace.delete(keys.running("slow"));
  const last = {
    scheduled: 1,
    startedAt: since,
    endedAt: since + 9_000,
    late: 0,
    result: "ok",
    run: "r",
  } as const;
  await namespace.put(keys.due("slow"), formatDue({ next: 1e15, runAt: 1e15, open: [], last }));
  const runs = [{ ...last, deviation: "overrun" } as const];
  await namespace.put(keys.outcomes("slow"), formatOutcomes({ runs, dead: [] }));
  expect((await namespace.execute("ls problems")).stdout).not.toContain("overrun");
  expect((await namespace.execute("show schedule slow")).stdout).toMatch(/ok +.*\d+s overrun/);
  expect(await namespace.execute(check)).toExit(1, {
    stdout: /its last run took \S+ \(overrun\); expected: 50ms to 400ms/,
  });
});

test.concurrent("a success that comes too soon is told after it, a failure is only a failure", async ({
  namespace,
}) => {
  const { hooks, read } = createHookLog("success", "failure", "too-short");
  await putDueSchedule(namespace, "empty", { command: ["true"], expect: "30s..", hooks });
  await putDueSchedule(namespace, "bad", { command: ["false"], expect: "30s..", hooks });
  namespace.start("worker");
  const [outcome] = await waitForOutcomes(namespace, "empty");
  expect(outcome).toMatchObject({ result: "ok", deviation: "too-short" });
  const [failed] = await waitForOutcomes(namespace, "bad");
  expect(failed).not.toHaveProperty("deviation");
  await waitUntil("three hooks", () => read().length === 3);
  const events = (id: string) =>
    read()
      .filter(({ schedule }) => schedule === id)
      .map(({ event }) => event);
  expect([events("empty"), events("bad")]).toEqual([["success", "too-short"], ["failure"]]);
  expect((await namespace.execute("show schedule empty")).stdout).toMatch(/\ds too-short/);
  const check = await namespace.execute("check schedule empty --expect");
  expect(check).toExit(1, { stdout: /took \d+s \(too-short\); expected: at least 30s/ });
});

test.concurrent("flags, messages, and one file for a site", async ({ namespace }) => {
  const add = (id: string, expected: string) =>
    namespace.execute(["schedule", "add", id, "0 3 * * *", "--expect", expected, "--", "true"]);
  expect(await add("job", "5s..20m")).toExit(0);
  expect(await add("bad", "20m")).toExit(64, { stderr: '--expect "20m" does not say how long a run takes' });
  expect((await namespace.execute("schedule explain job")).stdout).toContain("should take 5s to 20m");
  const edited = await namespace.execute("schedule edit job --expect ..1h --yes");
  expect(edited.stdout).toContain("expect 5s..20m -> ..1h");
  const exported = await namespace.execute("export");
  expect(exported.stdout).toContain("expect: ..1h");
  const path = cluster.createPath();
  writeFileSync(path, exported.stdout);
  const other = cluster.createNamespace();
  await other.expectDone(`apply ${path} --yes`);
  expect((await other.execute("export")).stdout).toBe(exported.stdout);
  writeFileSync(path, exported.stdout.replace("..1h", "1h"));
  expect(await other.execute(`diff ${path}`)).toMatchObject({
    stderr: expect.stringContaining('expect "1h"'),
  });
  await namespace.put(
    namespace.keys.schedule("plain"),
    formatDefinition({ cron: "@daily", timezone: "UTC" }),
  );
  await namespace.put(namespace.keys.due("plain"), JSON.stringify({ v: 1, next: 1e15, runAt: 1e15 }));
  const refused = await namespace.execute("check schedule plain --expect");
  expect(refused).toExit(64, { stderr: '"plain" does not say how long a run should take' });
  await namespace.expectDone("check schedule --all --expect");
});
