/** Schedules that run on every host, by the commands, with workers of several hosts that die, freeze and come back. */

import { existsSync, readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { readDue } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, splitFirst, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { readOutcomes, startWorker, waitForFile } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";
import { formatOutcomes } from "../../../src/schedule/state/outcome.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const MINUTE = 60_000;

const runSchedule = (namespace: TestNamespace, ...args: string[]) =>
  namespace.execute(["schedule", ...splitFirst(args)]);

/** Makes occurrences due: the next one of a host was so many minutes ago. */
async function moveBack(namespace: TestNamespace, host: string, minutes: number) {
  const next = (Math.floor(Date.now() / MINUTE) - minutes) * MINUTE;
  const state = await waitUntil(`state of ${host}`, () => readDue(namespace, "job", host));
  await namespace.put(namespace.keys.due("job", host), formatDue({ ...state, next, runAt: next }));
}

/** The results of a host, as scheduled minutes by result. */
async function readResults(namespace: TestNamespace, host: string) {
  return (await readOutcomes(namespace, "job", host)).map((one) => `${one.result} ${one.scheduled / MINUTE}`);
}

const waitForResults = (namespace: TestNamespace, host: string, count: number) =>
  waitUntil(`${count} results of ${host}`, async () => {
    const results = await readResults(namespace, host);
    return results.length >= count && results;
  });

const readLines = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);

describe.concurrent("a schedule on every host", () => {
  test("runs on each, is shown with the results of all, and leaves nothing behind", async ({ namespace }) => {
    const script = '[ "$SIGNALBOX_HOST" != web2 ]';
    const added = await runSchedule(namespace, "add job @manual --on every-host -- sh -c", script);
    expect(added).toExit(0, { stdout: "on every host" });
    expect(await runSchedule(namespace, "trigger job")).toExit(64, {
      stderr:
        'no host runs schedule "job" yet: a worker begins it within seconds, so try again; or start one on a host',
    });
    for (const host of ["web1", "web2", "web3"]) {
      await startWorker(namespace, host);
      await waitUntil(`state of ${host}`, () => readDue(namespace, "job", host));
    }
    const triggered = await runSchedule(namespace, "trigger job");
    expect(triggered).toExit(0, { stdout: /schedule job on web1 triggered.*web2.*web3/s });
    for (const host of ["web1", "web2", "web3"]) await waitForResults(namespace, host, 1);
    expect((await namespace.execute("ls schedules")).stdout).toContain("2 of 3 ok, web2 failed");
    const shown = (await namespace.execute("show schedule job")).stdout;
    expect(shown).toMatch(/runs on +every host/);
    expect(shown).toMatch(/web2 +failed/);
    const [row] = (await namespace.executeJson("ls schedules")).rows;
    expect(row.hosts.map((one: { host: string; dead: number }) => `${one.host} ${one.dead}`)).toEqual([
      "web1 0",
      "web2 1",
      "web3 0",
    ]);
    expect(await namespace.execute("check schedule job")).toExit(2, { stdout: "job on web2" });
    expect((await namespace.execute("schedule dead")).stdout).toContain("job");
    expect(await runSchedule(namespace, "trigger job --dead all")).toExit(0, { stdout: "on web2" });
    await waitForResults(namespace, "web2", 2);
    expect(await readResults(namespace, "web1")).toHaveLength(1);
    expect(await runSchedule(namespace, "bury job --yes")).toExit(0);
    expect((await readDue(namespace, "job", "web2"))?.dead).toBeUndefined();

    expect(await runSchedule(namespace, "delete job --yes")).toExit(0);
    for (const range of [namespace.keys.dues(), namespace.keys.outcomeHistories(), namespace.keys.runnings()])
      expect((await namespace.store.readRange(range)).kvs).toEqual([]);
  });

  test("on one of two workers of a host; killed, the other one goes on, and other hosts do not", async () => {
    const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
    const [log, there] = [cluster.createPath(), cluster.createPath()];
    const script = `echo $SIGNALBOX_HOST $SIGNALBOX_ATTEMPT >> ${log}; [ -e ${there} ] && exit 0; [ $SIGNALBOX_HOST = web2 ] && exit 0; touch ${there}; sleep 60`;
    await runSchedule(
      namespace,
      "add job",
      "0 0 1 1 *",
      "--on",
      "every-host",
      "--catchup",
      "latest",
      "--",
      "sh",
      "-c",
      script,
    );
    const workers = [await startWorker(namespace, "web1"), await startWorker(namespace, "web1")];
    await startWorker(namespace, "web2");
    for (const host of ["web1", "web2"])
      await waitUntil(`state of ${host}`, () => readDue(namespace, "job", host));
    await runSchedule(namespace, "trigger job");
    await waitForFile(there);
    const { kvs } = await namespace.store.readRange(namespace.keys.getOccurrenceRange("job", "web1"));
    const first = workers.find(({ pid }) => kvs.some(({ value }) => value.includes(`"pid":${pid},`)));
    expect(first, "one of both runs it").toBeDefined();
    first?.child.kill("SIGKILL");
    expect(await waitForResults(namespace, "web1", 1)).toEqual([expect.stringMatching(/^ok /)]);
    expect(await waitForResults(namespace, "web2", 1)).toHaveLength(1);
    expect(readLines(log).sort()).toEqual(["web1 1", "web1 2", "web2 1"]);
  });

  test("frozen, its command has ended before another worker of the host takes the occurrence", async () => {
    const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
    const [log, there] = [cluster.createPath(), cluster.createPath()];
    const script = `trap '' TERM; [ -e ${there} ] && exit 0; touch ${there}; while :; do date +%s%N > ${log}; sleep 0.05; done`;
    await runSchedule(namespace, "add job @manual --on every-host -- sh -c", script);
    const frozen = await startWorker(namespace, "web1");
    await waitUntil("state of web1", () => readDue(namespace, "job", "web1"));
    await runSchedule(namespace, "trigger job");
    await waitForFile(there);
    frozen.kill("SIGSTOP");
    await startWorker(namespace, "web1");
    expect(await waitForResults(namespace, "web1", 1)).toEqual([expect.stringMatching(/^ok /)]);
    const [{ startedAt = 0 } = {}] = await readOutcomes(namespace, "job", "web1");
    expect(Number(readLines(log)[0]) / 1e6, "the frozen worker's command still worked").toBeLessThan(
      startedAt,
    );
    frozen.kill("SIGCONT");
    await frozen.waitForOutput(/the worker has no session|another worker took over a task|did not succeed/);
    expect(await readResults(namespace, "web1")).toHaveLength(1);
  });

  test("a host that was away catches up as its rule says, and one that is new does not", async ({
    namespace,
  }) => {
    await runSchedule(namespace, "add job", "* * * * *", "--on", "every-host", "--", "true");
    const worker = await startWorker(namespace, "web1");
    await waitUntil("state of web1", () => readDue(namespace, "job", "web1"));
    await worker.end();
    await moveBack(namespace, "web1", 3);
    await startWorker(namespace, "web2");
    await startWorker(namespace, "web1");
    const missed = await waitForResults(namespace, "web1", 3);
    expect(new Set(missed).size, "each once").toBe(missed.length);
    expect(
      (await namespace.executeJson("schedule next job --count 1")).rows[0].at,
      "not what the host has missed",
    ).toBeGreaterThan(Date.now() - MINUTE);
    await waitUntil("state of web2", () => readDue(namespace, "job", "web2"));
    expect((await readResults(namespace, "web2")).length).toBeLessThanOrEqual(1);
  });

  test("an edit reaches every host; one host again, the states of the hosts are gone", async ({
    namespace,
  }) => {
    await runSchedule(namespace, "add job", "0 0 1 1 *", "--on", "every-host", "--", "true");
    await startWorker(namespace, "web1");
    await startWorker(namespace, "web2");
    for (const host of ["web1", "web2"])
      await waitUntil(`state of ${host}`, () => readDue(namespace, "job", host));
    expect(await runSchedule(namespace, "edit job --cron", "0 0 2 1 *")).toExit(0);
    const day = (at: number | undefined) => new Date(at ?? 0).getUTCDate();
    for (const host of ["web1", "web2"]) expect(day((await readDue(namespace, "job", host))?.next)).toBe(2);
    expect(await runSchedule(namespace, "delete job --host web9 --yes")).toExit(1, {
      stderr: 'no state on host "web9"; it has them on web1, web2',
    });
    const { next } = (await readDue(namespace, "job", "web1")) ?? {};
    expect(await runSchedule(namespace, "delete job --host web1 --yes")).toExit(0, {
      stdout: "schedule job on web1 deleted",
    });
    const again = await waitUntil("web1 begins again", () => readDue(namespace, "job", "web1"));
    expect(again.next).toBe(next);
    expect(await runSchedule(namespace, "edit job --on", "")).toExit(0);
    for (const host of ["web1", "web2"]) expect(await readDue(namespace, "job", host)).toBeUndefined();
  });

  test.for(["a schedule on one host", "nothing"])(
    "states that an earlier version left behind do not count: after %s",
    async (before) => {
      const namespace = cluster.createNamespace();
      const plan = ["0 0 1 1 *", "--", "true"];
      if (before !== "nothing") await runSchedule(namespace, "add job", ...plan);
      const left = { next: 0, runAt: 0, open: [], dead: 3 };
      for (const host of ["web1", "gone"]) {
        await namespace.put(namespace.keys.due("job", host), formatDue(left));
        await namespace.put(namespace.keys.outcomes("job", host), formatOutcomes({ runs: [], dead: [] }));
      }
      const on = ["--on", "every-host"];
      if (before === "nothing") await runSchedule(namespace, "add job", ...on, ...plan);
      else expect(await runSchedule(namespace, "edit job", ...on, "--yes")).toExit(0);
      const { kvs } = await namespace.store.readRange(namespace.keys.dues());
      expect(kvs.map(({ key }) => key)).toEqual([namespace.keys.due("job")]);
      expect((await namespace.store.readRange(namespace.keys.outcomeHistories())).kvs).toEqual([]);
      await startWorker(namespace, "web1");
      const state = await waitUntil("state of web1", () => readDue(namespace, "job", "web1"));
      expect(state?.dead).toBeUndefined();
      expect(state?.next).toBeGreaterThan(Date.now());
    },
  );

  test("what it cannot be is refused, with the reason", async ({ namespace }) => {
    await runSchedule(namespace, "add job @daily --on every-host -- true");
    await runSchedule(namespace, "add one @daily -- true");
    const cases: [string[], RegExp][] = [
      [
        ["add", "next", "--after", "job", "--", "true"],
        /"next" cannot follow schedule "job", which runs on every host/,
      ],
      [["add", "x", "--after", "one", "--on", "every-host", "--", "true"], /cannot follow another one/],
      [["add", "x", "@daily", "--on", "every-host", "--remove-after", "end", "--", "true"], /removeAfter/],
      [
        ["add", "x", "@daily", "--on", "success", "--", "true"],
        /--on needs --after.*every-host, got success/,
      ],
    ];
    for (const [args, why] of cases) {
      const { code, stderr } = await runSchedule(namespace, ...args);
      expect([args, code === 0, stderr]).toEqual([args, false, expect.stringMatching(why)]);
    }
    await runSchedule(namespace, "add next --after one -- true");
    expect(await runSchedule(namespace, "edit one --on every-host")).toExit(78, {
      stderr: '"next" cannot follow schedule "one", which runs on every host',
    });
  });
});
