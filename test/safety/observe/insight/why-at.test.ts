/** The command `why --at`, after runs. */
import { expect } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("the plan, the holder and the actions of a past time are listed", async ({ namespace }) => {
  await namespace.execute(["schedule", "add", "backup", "0 3 * * *", "--", "true"]);
  const { stdout } = await namespace.execute("why backup --at 1s");
  expect(stdout).toMatch(
    /^schedule backup: its plan 0 3 \* \* \* has its last occurrence until then at .* 03:00:00Z\nno outcome/,
  );
  expect(stdout).toMatch("schedule of schedule backup by ");
  await namespace.execute("run --lock x -- sleep 1");
  const { rows: runs } = JSON.parse((await namespace.execute("ls history x --json")).stdout);
  const report = JSON.parse(
    (await namespace.execute(["why", "x", "--at", String(runs[0].grantedAt), "--json"])).stdout,
  );
  expect(report).toMatchObject({ version: 1, at: runs[0].grantedAt, reasons: [{ kind: "run" }] });
  expect(report.reasons[0].text).toMatch(/held it from .* exit code 0/);
  expect(await namespace.execute("why nothing --at 1h")).toExit(1);
  expect(await namespace.execute("why x --at soon")).toExit(64);
});
