/** `signalbox check lock` and `check schedule` on real runs and a real worker. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const { test } = TestCluster.startForFile();

describe.concurrent("signalbox check lock", () => {
  test("knows a success, a failure since, and a lock that nobody remembers", async ({ namespace }) => {
    const run = (lock: string, code: number) =>
      namespace.start(["run", "--lock", lock, "--", "sh", "-c", `exit ${code}`]).ended;
    await run("good", 0);
    await run("worse", 0);
    await run("worse", 3);
    await run("bad", 4);
    const check = (...words: string[]) => namespace.execute(["check", "lock", ...words]);
    expect(await check("good")).toExit(0, { stdout: /^ok +lock good: succeeded/ });
    expect(await check("good", "worse")).toExit(1, {
      stdout: /warning lock worse: its last run failed .* exit 3 on .*\n +signalbox ls history worse/,
    });
    const all = await check("good", "worse", "bad", "never", "--nagios");
    expect(all).toExit(2, {
      stdout: /^SIGNALBOX CRITICAL - 2 failures, 1 warning: .* \| jobs=4 overdue=2;;0 failed_since=1;0\n$/,
    });
    const json = JSON.parse((await check("good", "--json")).stdout);
    expect(json).toMatchObject({ state: "ok", figures: { jobs: 1, overdue: 0, failed_since: 0 } });
    expect(json.figures.oldest_success).toBeGreaterThanOrEqual(0);
  });

  test("counts from the end of the success, and tells a run that is still going", async ({ namespace }) => {
    await namespace.execute("run --lock x -- true");
    const running = namespace.start("run --lock x -- sh -c 'echo up; sleep 600'");
    await running.waitForOutput("up");
    const late = await namespace.execute("check lock x --within 0");
    expect(late).toExit(2, {
      stdout: /no run succeeded within 0s; the last success was \d+s ago; a run has been going/,
    });
    await running.end();
  });

  test("refuses what it cannot check", async ({ namespace }) => {
    expect(await namespace.execute("check lock")).toExit(64);
    expect(await namespace.execute("check lock x --within soon")).toExit(64, {
      stderr: '"soon" is not a duration',
    });
    const away = await namespace.start(
      "check lock x --nagios --endpoints http://127.0.0.1:1 --connect-timeout 200ms",
    ).ended;
    expect(away).toExit(3, { stdout: /^SIGNALBOX UNKNOWN - / });
  });
});

describe.concurrent("signalbox check schedule", () => {
  test("finds a schedule with a malformed key: it does not run", async ({ namespace }) => {
    for (const id of ["state", "host", "definition"])
      await namespace.execute(`schedule add ${id} @daily --on every-host --yes -- true`);
    await namespace.put(namespace.keys.due("state"), "{");
    await namespace.put(namespace.keys.due("host", "web1"), "{");
    await namespace.put(namespace.keys.schedule("definition"), "{");
    for (const words of ["definition host state", "--all"])
      expect(await namespace.execute(`check schedule ${words}`)).toExit(2, {
        stdout:
          /schedule definition: its definition cannot be read.*schedule host: .*that of web1: .*schedule state: its due time cannot be read/s,
      });
  });

  test("reads what the schedule remembers, and names what was probably meant", async ({ namespace }) => {
    const schedule = (...words: string[]) => namespace.execute(["schedule", ...words]);
    await schedule("add", "good", "0 0 1 1 *", "--yes", "--", "true");
    await schedule("add", "bad", "0 0 1 1 *", "--yes", "--", "false");
    const check = (...words: string[]) => namespace.execute(["check", "schedule", ...words]);
    expect(await check("good")).toExit(0, {
      stdout: /^ok +schedule good: has not run yet; its first run is due in /,
    });
    const worker = namespace.start("worker");
    await schedule("trigger", "good", "--yes");
    await schedule("trigger", "bad", "--yes");
    await waitUntil("the success is seen", async () => /: succeeded /.test((await check("good")).stdout));
    const bad = await waitUntil("the failure is seen", async () => {
      const ended = await check("bad");
      return /the last run failed/.test(ended.stdout) && ended;
    });
    expect(bad).toExit(2, {
      stdout: /none of the last \d+ runs succeeded; the last run failed .*, failed with exit 1 on /,
    });
    expect(await check("good", "--within", "25h", "--nagios")).toExit(0, {
      stdout: /^SIGNALBOX OK - .* \| jobs=1 overdue=0;;0 failed_since=0;0/,
    });
    expect(await check("good", "--within", "0")).toExit(2, {
      stdout: "schedule good: no run succeeded within 0s",
    });
    await schedule("add", "team", "0 0 1 1 *", "--tag", "team=x", "--yes", "--", "true");
    await schedule("add", "rested", "0 0 1 1 *", "--tag", "team=x", "--paused", "--yes", "--", "true");
    await schedule("add", "manual", "@manual", "--tag", "team=x", "--yes", "--", "true");
    const listJobs = async (...words: string[]) =>
      [...(await check(...words)).stdout.matchAll(/schedule (\w+): /g)].map(([, name]) => name).sort();
    expect(await listJobs("--tag", "team=x")).toEqual(["team"]);
    expect(await listJobs("good", "manual", "--tag", "team=x")).toEqual(["good", "manual", "team"]);
    expect(await listJobs("--all")).toEqual(["bad", "good", "team"]);
    expect(await check("--tag", "team=y")).toExit(1, { stderr: "no schedule is selected" });
    expect(await check()).toExit(64, { stderr: "ID is missing" });
    expect(await check("goods")).toExit(1, { stderr: 'did you mean "good"?' });
    const { rows } = await namespace.executeJson("ls workers");
    await namespace.execute(["group", "set", "work", rows[0].host]);
    expect(await namespace.execute("check hosts work")).toExit(0, {
      stdout: /^ok +group work: 1 of 1 host is active/,
    });
    await worker.end();
    expect(await namespace.execute("check hosts work"), "a worker ran there").toExit(0, {
      stdout: /^ok +group work: 1 of 1 host is active/,
    });
  });
});
