/** The command `why --at`, after runs. */
import { expect } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("the plan, the holder and the actions of a past time are listed", async ({ namespace }) => {
  const start = async (...args: string[]) => await namespace.execute(args);
  await start("schedule", "add", "backup", "0 3 * * *", "--", "true");
  const { stdout } = await start("why", "backup", "--at", "1s");
  expect(stdout).toMatch(
    /^schedule backup: its plan 0 3 \* \* \* has its last occurrence until then at .* 03:00:00Z\nno outcome/,
  );
  expect(stdout).toMatch("schedule of schedule backup by ");
  await start("run", "--lock", "x", "--", "sleep", "1");
  const { rows: runs } = JSON.parse((await start("ls", "history", "x", "--json")).stdout);
  const report = JSON.parse((await start("why", "x", "--at", String(runs[0].grantedAt), "--json")).stdout);
  expect(report).toMatchObject({ version: 1, at: runs[0].grantedAt, reasons: [{ kind: "run" }] });
  expect(report.reasons[0].text).toMatch(/held it from .* exit code 0/);
  expect(await start("why", "nothing", "--at", "1h")).toExit(1);
  expect(await start("why", "x", "--at", "soon")).toExit(64);
});
