/** The commands `whatif`, on queues of real runs. */
import { expect } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

test("what a reset, a drain and a total would do is predicted, and nothing is changed", async ({
  namespace,
}) => {
  const predict = async (...args: string[]) =>
    JSON.parse((await namespace.execute(["whatif", ...args, "--json"])).stdout);
  const countTickets = async (what: string) => {
    const { rows } = JSON.parse((await namespace.execute(["ls", what, "--json"])).stdout);
    return rows.flatMap((row: { holders: []; waiters: [] }) => [...row.holders, ...row.waiters]).length;
  };
  await namespace.execute("resource set db 2 --yes");
  for (const [tickets, label] of ["one", "two", "three"].entries()) {
    namespace.start(["run", "--lock", "x", "--wait", "--label", label, "--", "sleep", "600"]);
    await waitUntil("its ticket", async () => (await countTickets("locks")) === tickets + 1);
  }
  for (const tickets of [1, 2]) {
    namespace.start("run --no-lock --lease db=2 --lease-timeout 10m -- sleep 600");
    await waitUntil("its lease", async () => (await countTickets("resources")) === tickets);
  }
  const reset = await predict("reset", "lock", "x");
  expect(reset).toMatchObject({
    version: 1,
    ends: [{ queues: [{ kind: "lock", name: "x" }] }],
    leaves: [],
    blocked: [],
  });
  expect(reset.grants.map(({ round, before }: Record<string, number>) => [round, before])).toEqual([
    [0, 1],
    [1, 2],
  ]);
  expect(await predict("drain", "lock", "x")).toMatchObject({ ends: [], grants: [], blocked: [{}, {}] });
  expect(await predict("total", "db", "4")).toMatchObject({ grants: [{ round: 0, before: 1 }], leaves: [] });
  expect((await namespace.execute("whatif reset lock x")).stdout).toMatch(
    /^ends .*one.*\nnow .*two.*then 1\nthen 1 .*three.*then 2\n$/,
  );
  expect((await namespace.execute("whatif reset lock free")).stdout).toBe(
    "no run would end, leave or be granted\n",
  );
  expect(await countTickets("locks")).toBe(3);
  expect(await namespace.execute("whatif total db many")).toExit(64, { stderr: 'got "many"' });
});
