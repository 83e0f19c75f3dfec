/** `schedule lint --collisions`, by its old word, with schedules in etcd. */
import { expect } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("collisions are listed, and the printed command ends them", async ({ namespace }) => {
  expect((await namespace.execute("collisions")).stdout).toBe("no schedules compete within 1d\n");
  for (const id of ["a", "b"])
    await namespace.execute(["schedule", "add", id, "0 3 * * *", "--lease", "db=2", "--", "true"]);
  await namespace.execute("resource set db 3 --yes");
  const report = JSON.parse((await namespace.execute("collisions --json")).stdout);
  expect(report).toMatchObject({
    version: 1,
    schedules: 2,
    starts: [{ ids: ["a", "b"], minutes: 1 }],
    leases: [{ resource: "db", total: 3, peak: 4, ids: ["a", "b"] }],
    suggestions: [{ id: "b", flag: "delay", value: 60_000, command: "signalbox schedule edit b --delay 1m" }],
  });
  const { stdout } = await namespace.execute("collisions --within 24h");
  expect(stdout).toMatch(/^same minute\nMINUTES +FIRST +SCHEDULES\n1 .*a, b\n\nmore units than the total\n/);
  expect(stdout).toContain("  signalbox schedule edit b --delay 1m\n");
  await namespace.execute(["schedule", "add", "late", "0 5 * * *", "--", "true"]);
  expect((await namespace.execute("collisions late")).stdout).toBe(
    "no schedules compete with late within 1d\n",
  );
  expect((await namespace.execute("collisions late a --json")).stdout).toContain('"peak":4');
  expect(await namespace.execute("collisions c")).toExit(1, { stderr: "there is no schedule" });
  const [, ...words] = report.suggestions[0].command.split(" ");
  expect(await namespace.execute([...words, "--yes"])).toExit(0);
  expect((await namespace.execute("collisions")).stdout).toBe("no schedules compete within 1d\n");
  expect(await namespace.execute("collisions --within 40d")).toExit(64, {
    stderr: "--within must be greater than 0 and at most 31d; got 40d",
  });
});
