/** Schedules as JSON documents: exports that can be restored, and imports that change only what they own. */
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile({ sessionTimes: "long" });
const { test } = cluster;
const JOB = { cron: "0 3 * * *", timezone: "UTC", command: ["true"] };

const write = (schedules: object, more: object = {}) =>
  cluster.createPath(JSON.stringify({ version: 1, schedules, ...more }));

test.concurrent("an export is restored with its calendars into an empty cluster", async () => {
  const source = cluster.createNamespace();
  await source.execute(["calendar", "add", "holidays", "12-25", "--note", "bank"]);
  await source.execute(["schedule", "add", "job", "0 3 * * *", "--except", "holidays", "--", "true"]);
  await source.execute(["schedule", "add", "next", "--after", "job", "--", "true"]);
  const { stdout: text } = await source.execute(["schedule", "export"]);
  const target = cluster.createNamespace();
  const load = ["schedule", "import", "json", cluster.createPath(text)];
  const diff = await target.execute(["schedule", "diff", "json", load[3] ?? ""]);
  expect(diff).toExit(1, { stdout: "2 added, 1 calendar added" });
  const done = await target.execute([...load, "--yes"]);
  expect(done).toExit(0, { stderr: "calendar holidays is added: 12-25" });
  expect((await target.execute(["schedule", "export"])).stdout).toBe(text);
  expect(await target.execute([...load, "--yes"])).toMatchObject({
    stdout: expect.stringContaining("nothing to change"),
  });
  await target.execute(["calendar", "add", "holidays", "12-26", "--yes"]);
  const { code, stderr } = await target.execute([...load, "--yes"]);
  expect({ code, stderr }).toExit(0, { stderr: /holidays differs .* is not changed/ });
  const only = cluster.createPath(
    JSON.stringify({ calendars: { freeze: { days: ["2027-01-01"] } }, schedules: {} }),
  );
  expect(await target.execute(["schedule", "import", "json", only, "--yes"])).toExit(0, {
    stderr: "calendar freeze is added: 2027-01-01",
  });
  expect((await target.execute(["calendar", "list"])).stdout).toMatch(/freeze[\s\S]*holidays/);
});

test.concurrent("with --source, an import of JSON changes and prunes only what that source has imported", async ({
  namespace,
}) => {
  for (const id of ["a", "b"]) await namespace.execute(["schedule", "add", id, "0 3 * * *", "--", "true"]);
  const load = (schedules: object, ...flags: string[]) =>
    namespace.execute(["schedule", "import", "json", write(schedules), "--yes", ...flags]);
  expect(await load({ c: JOB, d: JOB }, "--source", "git", "--prune")).toExit(0);
  const dry = await load({ c: JOB }, "--source", "git", "--prune", "--dry-run", "--json");
  expect(JSON.parse(dry.stdout).changes).toMatchObject([{ id: "d", kind: "deleted" }]);
  expect(await load({ a: JOB }, "--source", "git")).toExit(78, {
    stderr: /"a" exists already, and was not imported.*leave out --source/,
  });
  expect(await load({ c: JOB }, "--timezone", "UTC")).toExit(64, { stderr: "--timezone is for crontabs" });
});

test.concurrent("fields that do not exist are refused, and missing ones are named", async ({ namespace }) => {
  const { timezone: _, ...zoneless } = JOB;
  const file = write({ one: { ...JOB, retrys: 3 }, two: zoneless, three: { ...JOB, colour: 1 } }, { x: 1 });
  const { code, stderr } = await namespace.execute(["schedule", "import", "json", file, "--yes"]);
  expect(code).toBe(78);
  expect(stderr).toContain('schedule "one": unknown field "retrys"; did you mean "retries"?');
  expect(stderr).toContain('schedule "two": timezone is missing; set it, for example to "Europe/Berlin"');
  expect(stderr).toContain('schedule "three": unknown field "colour"; the fields are cron, timezone, ');
  expect(stderr).toContain('unknown field "x"');
});
