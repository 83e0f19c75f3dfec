/** Schedules with several cron texts: how they are added, shown, changed, exported, and run. */

import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { readOutcomes, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";

const { test } = TestCluster.startForFile();
const MINUTE = 60_000;

test.concurrent("one schedule, at the times of each text", async ({ namespace }) => {
  const added = await namespace.expectDone(
    "schedule add job --cron '0 9 * * 1-5' --cron '0 12 * * 6' -- true",
  );
  expect(added).toContain('schedule job added: "0 9 * * 1-5; 0 12 * * 6" UTC, runs true');
  const rows = JSON.parse(
    await namespace.expectDone("schedule next job --from 2026-11-26T10:00Z --count 3 --json"),
  );
  expect(rows).toMatchObject({ cron: ["0 9 * * 1-5", "0 12 * * 6"] });
  const expected = ["2026-11-27T09:00", "2026-11-28T12:00", "2026-11-30T09:00"];
  const toText = ({ at }: { at: number }) => new Date(at).toISOString().slice(0, 16);
  expect(rows.rows.map(toText)).toEqual(expected);
  const texts = ["--cron", "0 9 * * 1-5", "--cron", "0 12 * * 6"];
  const bare = JSON.parse(
    await namespace.expectDone(
      "schedule next",
      ...texts,
      "--from",
      "2026-11-26T10:00Z",
      "--count",
      "3",
      "--json",
    ),
  );
  expect(bare.rows.map(toText)).toEqual(expected);
  expect(await namespace.expectDone("schedule explain job")).toContain(
    "at 09:00, Monday to Friday; and at 12:00, Saturday, UTC",
  );
  expect(await namespace.expectDone("export --only calendars --only schedules --format crontab")).toContain(
    "0 9 * * 1-5 true\n0 12 * * 6 true\n",
  );
  const exported = JSON.parse(
    await namespace.expectDone("export --only calendars --only schedules --format json"),
  );
  expect(exported.schedules.job.cron).toEqual(["0 9 * * 1-5", "0 12 * * 6"]);
  expect((await namespace.execute("ls schedules")).stdout).toContain("0 9 * * 1-5; 0 12 * * 6");

  await namespace.expectDone("schedule edit job --cron '0 7 * * *'");
  expect(
    JSON.parse(await namespace.expectDone("export --only calendars --only schedules --format json")).schedules
      .job.cron,
    "one text stays a text",
  ).toBe("0 7 * * *");
  const refused = await namespace.execute("schedule edit job --cron '0 7 * * *' --cron @manual");
  expect(refused).toExit(64, { stderr: 'cron text "@manual" must stand alone' });
});

test.concurrent("an interval counts from --start, or from the moment at which it was added", async ({
  namespace,
}) => {
  const readCron = async (id: string) => {
    const { stdout } = await namespace.execute("export --only calendars --only schedules --format json");
    return JSON.parse(stdout).schedules[id].cron;
  };
  const start = new Date(Math.floor(Date.now() / MINUTE) * MINUTE + 2 * 3_600_000).toISOString();
  const added = await namespace.execute([
    "schedule",
    "add",
    "a",
    "@every 90m",
    "--start",
    start,
    "--",
    "true",
  ]);
  expect(added).toExit(0, { stdout: `next: ${start.slice(0, 10)} ${start.slice(11, 16)} UTC` });
  expect(await readCron("a")).toBe(`@every 90m from ${start}`);
  const before = Date.now();
  await namespace.expectDone("schedule add b '@every 2s' --catchup all -- true");
  const cron: string = await readCron("b");
  expect(Date.parse(cron.replace("@every 2s from ", ""))).toBeGreaterThan(before - 2_000);
  await namespace.expectDone("schedule edit b --note x");
  expect(await readCron("b"), "its instant stays").toBe(cron);
  namespace.start("worker");
  const runs = await waitForOutcomes(namespace, "b", 3);
  const [third = 0, second = 0, first = 0] = runs.map(({ scheduled }) => scheduled);
  expect([second - first, third - second]).toEqual([2_000, 2_000]);
});

test.concurrent("a worker runs what several texts share once", async ({ namespace }) => {
  const next = Math.floor(Date.now() / MINUTE - 4) * MINUTE;
  const definition = { cron: ["* * * * *", "*/2 * * * *"], timezone: "UTC", command: ["true"] };
  await namespace.put(namespace.keys.due("job"), formatDue({ next, runAt: next, open: [] }));
  await namespace.put(
    namespace.keys.schedule("job"),
    JSON.stringify({ v: 1, ...definition, catchup: "all", end: next + 3 * MINUTE }),
  );
  namespace.start("worker");
  await waitForOutcomes(namespace, "job", 4);
  const minutes = (await readOutcomes(namespace, "job")).map(({ scheduled }) => (scheduled - next) / MINUTE);
  expect(minutes).toEqual([3, 2, 1, 0]);
});
