/** Schedules with a user: which workers take them, and that their commands die with what guards them. Needs root. */

import { chmodSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, SHORT_TTL_MS } from "../../../fixtures/cluster/test-namespace.ts";
import {
  createMark,
  isRoot,
  killTogether,
  waitUntilDead,
} from "../../../fixtures/process/guarded-processes.ts";
import { GUARDIAN, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import {
  putDueSchedule,
  readOutcomes,
  runShell,
  WORKER_JOINED,
  waitForOutcomes,
} from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { buildPrefixRange } from "../../../src/core/protocol/txn.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const NOBODY = { before: ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"], cwd: "/" };

const createWorkerFile = (content: object) => cluster.createPath(JSON.stringify(content), 0o644);

describe.runIf(isRoot)("a schedule with a user", () => {
  test("is run by a worker that may become this user, and waits without one", async ({ namespace }) => {
    const script = 'id -un; case $PASSWORD in hunter?) echo value; esac; echo "$PASSWORD"';
    await namespace.expectDone(
      "schedule add a @manual --run-as daemon --secret PASSWORD=db -- sh -c",
      script,
    );
    await namespace.expectDone("schedule trigger a");
    const other = namespace.start("worker");
    await other.waitForOutput(WORKER_JOINED);
    const shown = await namespace.expectDone("show schedule a");
    expect(shown).toMatch(/user +daemon/);
    expect(shown).toMatch(/secrets +PASSWORD=db/);
    expect(shown).toMatch(/none is running that may run commands as daemon and has its secrets/);
    expect(await readOutcomes(namespace, "a")).toEqual([]);

    const db = cluster.createPath("hunter2\n", 0o600);
    const file = createWorkerFile({ users: ["daemon"], secrets: { db } });
    const worker = namespace.start(["worker", "--handlers", file]);
    const [last] = await waitForOutcomes(namespace, "a");
    expect(last).toMatchObject({ result: "ok", tail: "daemon\nvalue\n***" });
    expect(JSON.stringify(await namespace.executeJson("ls workers"))).toMatch(
      '"types":["$command:daemon","$secret:db"]',
    );
    expect(await namespace.expectDone("ls workers")).toMatch(/\(commands as daemon\) \(secret db\)/);
    expect(await namespace.expectDone("ls audit")).toMatch(/schedule a +added, to run as daemon/);
    expect(await namespace.expectDone("export --only schedules")).toMatch(/runAs: daemon/);
    const { kvs } = await namespace.store.readRange(buildPrefixRange(namespace.keys.prefix));
    expect(kvs.map(({ value }) => value).join("\n")).not.toMatch("hunter2");
    for (const one of [other, worker]) {
      const { stdout, stderr } = await one.end();
      expect(stdout + stderr).not.toMatch("hunter2");
    }
  });

  test("is run by a worker of root that has only what docs/systemd.md gives it", async ({ namespace }) => {
    const page = readFileSync(resolve(import.meta.dirname, "../../../docs/systemd.md"), "utf8");
    const names = /^CapabilityBoundingSet=(CAP_.*)$/m.exec(page)?.[1]?.toLowerCase().split(" ") ?? [];
    const bounds = ["-all", ...names.map((name) => name.replace("cap_", "+"))].join();
    const before = ["setpriv", "--no-new-privs", `--bounding-set=${bounds}`]; // as the unit's sandbox
    const script = 'id -un; id -Gn; grep -E "^(CapEff|CapPrm|NoNewPrivs)" /proc/self/status';
    const command = runShell(script);
    await putDueSchedule(namespace, "a", { command, runAs: "daemon", folder: "/" });
    namespace.start(["worker", "--handlers", createWorkerFile({ users: ["daemon"] })], { before });
    expect(await waitForOutcomes(namespace, "a")).toMatchObject([
      { tail: "daemon\ndaemon\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nNoNewPrivs: 1" },
    ]);
  });

  test("is taken by a worker of this user, which becomes no other", async ({ namespace }) => {
    for (const user of ["root", "nobody"])
      await namespace.expectDone(`schedule add ${user} @manual --run-as ${user} -- id -un`);
    await namespace.expectDone("schedule trigger root nobody");
    const worker = namespace.start("worker", NOBODY);
    expect(await waitForOutcomes(namespace, "nobody")).toMatchObject([{ result: "failed" }]); // /nonexistent is no home
    await namespace.expectDone("schedule edit nobody --folder /");
    await namespace.expectDone("schedule trigger nobody");
    expect(await waitForOutcomes(namespace, "nobody", 2)).toMatchObject([{ tail: "nobody" }, {}]);
    expect(await readOutcomes(namespace, "root")).toEqual([]);
    await worker.end();
    const file = createWorkerFile({ users: ["root", "nobody"] });
    chmodSync(dirname(file), 0o711);
    expect(await namespace.start(["worker", "--handlers", file], NOBODY).ended).toExit(78, {
      stdout: /^$/,
      stderr: /this worker runs as nobody, so it cannot run commands as root/,
    });
  });

  /** Starts a worker with a command of the user that ignores TERM, with a child that has left its session. */
  async function startStubborn() {
    const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
    const worker = namespace.start(["worker", "--handlers", createWorkerFile({ users: ["daemon"] })]);
    await worker.waitForOutput(WORKER_JOINED);
    const mark = createMark();
    const loop = "trap '' TERM; while :; do sleep 1; done";
    const command = runShell(`setsid sh -c "${loop}" & ${loop}`);
    await putDueSchedule(namespace, "a", { command, runAs: "daemon", env: { TEST_MARK: mark } });
    const listOwn = () => listMarkedProcesses(mark);
    await waitUntil("both run", () => listOwn().length >= 4);
    return { worker, mark, listOwn };
  }

  test("is dead when its worker is killed", async () => {
    const { worker, mark } = await startStubborn();
    worker.kill("SIGKILL");
    await waitUntilDead(mark, SHORT_TTL_MS);
  });

  test("is dead when its worker is frozen past the horizon", async () => {
    const { worker, mark } = await startStubborn();
    worker.kill("SIGSTOP");
    await waitForDeath(mark, SHORT_TTL_MS);
    worker.kill("SIGCONT");
  });

  test("is dead when both guardians are killed", async () => {
    const { worker, mark } = await startStubborn();
    const guardians = listMarkedProcesses(worker.mark).filter(({ name }) => name === GUARDIAN);
    expect(guardians).toHaveLength(2);
    killTogether(...guardians.map(({ pid }) => pid));
    await waitUntilDead(mark, SHORT_TTL_MS);
  });
});
