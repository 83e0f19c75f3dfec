/** Schedules whose times depend on an event: a boot of their hosts, and the end of their last run. Texts with seconds, and rules. */

import { existsSync, readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { readDue } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS } from "../../../fixtures/cluster/test-namespace.ts";
import { readOutcomes, startWorker, waitForFile } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const readLines = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);

describe.concurrent("at boot", () => {
  test("once on each host in this boot, whatever workers start and die; a schedule that is new waits for the next boot", async () => {
    const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
    const log = cluster.createPath();
    const command = ["--on", "every-host", "--", "sh", "-c", `echo $SIGNALBOX_HOST >> ${log}; sleep 1`];
    const refused = await namespace.execute("schedule add job @reboot -- true");
    expect(refused).toExit(78, { stderr: "add on: every-host (--on every-host)" });
    const added = await namespace.expectDone(
      "schedule add",
      "job",
      "@reboot",
      "--start",
      "2020-01-01T00:00Z",
      ...command,
    );
    expect(added).toContain("on every host; next at each boot of its host");
    await namespace.expectDone("schedule add", "new", "@reboot", ...command);
    const first = await Promise.all([startWorker(namespace, "web1"), startWorker(namespace, "web1")]);
    await startWorker(namespace, "web2");
    const isOver = async (id: string, host: string) => {
      const state = await readDue(namespace, id, host);
      return state?.boots?.ids.length === 1 && state.open.length === 0 && state.next === undefined;
    };
    for (const host of ["web1", "web2"])
      await waitUntil(`the runs of ${host}`, async () => (await isOver("job", host)) && isOver("new", host));
    for (const worker of first) worker.kill("SIGKILL");
    await startWorker(namespace, "web1");
    await namespace.expectDone("schedule add seen @manual --on every-host -- true");
    await waitUntil("the worker has seen all", () => readDue(namespace, "seen", "web1"));
    expect(readLines(log).sort()).toEqual(["web1", "web2"]);
    expect(await namespace.expectDone("schedule next job")).toBe("at each boot of its host\n");
    expect(await namespace.expectDone("schedule explain job")).toContain("at each boot of its host");
    expect((await namespace.execute("ls schedules")).stdout).toMatch(/job .*@reboot/);
    expect((await namespace.execute("ls schedules --json")).stdout).not.toContain('"ended"');
    const check = await namespace.execute("check schedule --all --json");
    const checked = JSON.parse(check.stdout).findings.filter(({ check }: { check: string }) =>
      /job/.test(check),
    );
    expect(checked).toHaveLength(2); // each host
    expect(await namespace.expectDone("export --only calendars --only schedules --format crontab")).toContain(
      "\n@reboot ",
    );
  });
});

describe.concurrent("after its end", () => {
  test("counts from the end of the last run, also if its worker was killed", async () => {
    const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
    const there = cluster.createPath();
    const script = `[ -e ${there} ] && exit 3; touch ${there}; sleep 60`;
    const added = await namespace.expectDone(
      "schedule add",
      "job",
      "--after-end",
      "1s",
      "--",
      "sh",
      "-c",
      script,
    );
    expect(added).toContain('"@after-end 1s" UTC');
    expect(await namespace.expectDone("schedule next job")).toMatch(/\nthen 1s after its end\n$/);
    const killed = await startWorker(namespace, "web1");
    await waitForFile(there);
    expect(await namespace.expectDone("schedule next job"), "it runs").toBe("1s after its end\n");
    killed.kill("SIGKILL");
    await startWorker(namespace, "web2");
    const runs = await waitUntil("three runs", async () => {
      const outcomes = (await readOutcomes(namespace, "job")).filter(({ result }) => result === "failed");
      return outcomes.length >= 3 && outcomes;
    });
    const [newest, ...older] = runs;
    expect(runs.at(-1)?.attempt).toBe(2);
    for (const [index, { endedAt }] of older.entries())
      expect((index === 0 ? newest : older[index - 1])?.scheduled).toBe(endedAt + 1_000);
    expect((await namespace.execute("show schedule job")).stdout).toMatch(/when +1s after its end/);
  });

  test("its wait can be changed, and nothing stands beside it", async ({ namespace }) => {
    await namespace.expectDone("schedule add job --after-end 1h --start 2090-01-01T00:00Z -- true");
    const changed = await namespace.expectDone("schedule edit job --after-end 2h");
    expect(changed).toContain('cron "@after-end 1h" -> "@after-end 2h"');
    const mixed = ["schedule", "edit", "job", "--after-end", "2h", "--cron", "@daily"];
    expect(await namespace.execute(mixed)).toExit(64, { stderr: '"@after-end 2h" must stand alone' });
    expect(await namespace.execute("schedule add x @after-end -- true")).toExit(64, {
      stderr: "such as @after-end 5m",
    });
  });
});

test("times are previewed by the flags of schedule add, without etcd", async ({ namespace }) => {
  const preview = (...args: string[]) =>
    namespace.execute(["schedule", "next", ...args], { env: { SIGNALBOX_ENDPOINTS: "http://127.0.0.1:1" } });
  const rule = ["--rrule", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO"];
  const weeks = await preview(
    ...rule,
    "--start",
    "2026-01-05T09:00",
    "--timezone",
    "Europe/Berlin",
    "--json",
  );
  expect(JSON.parse(weeks.stdout).rows.slice(0, 2)).toMatchObject([
    { at: Date.parse("2026-01-05T08:00Z") },
    { at: Date.parse("2026-01-19T08:00Z") },
  ]);
  const waits = await preview("--after-end", "5m", "--start", "2090-01-01T00:00Z");
  expect(waits.stdout).toMatch(/ 2090-01-01 00:00:00 UTC.*\nthen 5m after its end\n$/s);
  const cases: [string[], string][] = [
    [rule, "--rrule needs --start"],
    [["backup", ...rule, "--start", "2026-01-05T09:00"], "KEY excludes --rrule and --after-end"],
    [["0 3 * * *", "--start", "2026-01-05T09:00"], "--start needs --rrule or --after-end; or use --from"],
  ];
  for (const [args, stderr] of cases) expect(await preview(...args)).toExit(64, { stderr });
});

test("seconds and rules: added by flags, listed, and kept by an export and an import", async ({
  namespace,
}) => {
  await namespace.expectDone("schedule add s '*/20 * * * * *' --seconds -- true");
  const rule = ["--rrule", "FREQ=WEEKLY;INTERVAL=2;BYDAY=MO", "--start", "2026-01-05T09:00"];
  await namespace.expectDone(
    "schedule add",
    "r",
    ...rule,
    "--cron",
    "0 7 1 * *",
    "--timezone",
    "Europe/Berlin",
    "--",
    "true",
  );
  const next = await namespace.expectDone("schedule next r --from 2026-03-30T00:00 --count 2 --json");
  expect(JSON.parse(next).rows.map(({ at }: { at: number }) => new Date(at).toISOString())).toEqual([
    "2026-03-30T07:00:00.000Z",
    "2026-04-01T05:00:00.000Z",
  ]);
  const state = await readDue(namespace, "r");
  expect(state?.next, "a rule whose first day has passed begins with the next one").toBeGreaterThan(
    Date.now(),
  );
  const exported = await namespace.expectDone("export --only calendars --only schedules --format json");
  expect(JSON.parse(exported).schedules).toMatchObject({
    s: { cron: "@seconds */20 * * * * *" },
    r: { cron: ["0 7 1 * *", "@rrule FREQ=WEEKLY;INTERVAL=2;BYDAY=MO from 2026-01-05T09:00"] },
  });
  const other = cluster.createNamespace();
  expect(await other.execute("apply - --yes", { input: exported })).toExit(0);
  expect(
    JSON.parse(await other.expectDone("export --only calendars --only schedules --format json")),
  ).toEqual(JSON.parse(exported));
  expect(await namespace.execute(["schedule", "add", "x", ...rule.slice(0, 2), "--", "true"])).toExit(64, {
    stderr: "--rrule needs --start",
  });
  await startWorker(namespace, "web1");
  const outcomes = await waitUntil("two runs", async () => {
    const found = await readOutcomes(namespace, "s");
    return found.length >= 2 && found;
  });
  const scheduled = outcomes.map((one) => one.scheduled / 1_000).slice(0, 2);
  expect(scheduled.map((at) => at % 20)).toEqual([0, 0]);
});
