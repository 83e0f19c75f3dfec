/** The command `since`, after runs and actions. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();

test("failures, recoveries and actions are listed, and how far history reaches", async () => {
  const namespace = await cluster.createTestNamespace("http");
  const start = async (...args: string[]) => await namespace.start(args).ended;
  for (const code of [3, 4, 0]) await start("run", "--lock", "x", "--", "sh", "-c", `exit ${code}`);
  await start("drain", "lock", "x", "--yes", "--reason", "new disks");
  await start("undrain", "lock", "x", "--yes");
  const report = JSON.parse((await start("since", "1h", "--json")).stdout);
  const kinds = report.events.map(({ kind, subject }: Record<string, string>) => `${kind} ${subject}`);
  expect(kinds).toEqual([
    "failed lock x",
    "failed lock x",
    "recovered lock x",
    "drained lock x",
    "undrained lock x",
  ]);
  expect(report).toMatchObject({ version: 1, gaps: [], completeFrom: report.from });
  const { stdout } = await start("since");
  expect(stdout).toMatch(/^WHAT .*\nfailed +lock x +2 .* exit code 4\nrecovered +lock x +1 /);
  expect(stdout).toMatch(/drained .*new disks\n(.*\n)*the history is complete since .*Z\n$/);
  expect((await start("since", "1s", "--json")).code).toBe(0);
  expect(await start("since", "yesterday")).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('got "yesterday"'),
  });
  expect(await start("since", "+1h")).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("in the future"),
  });
});
