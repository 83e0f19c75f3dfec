/** The command `timeline`, after runs. */
import { expect, test } from "vitest";
import { TestCluster } from "../../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();

test("holds are drawn, in ASCII where the locale has no UTF-8", async () => {
  const namespace = await cluster.createTestNamespace("http");
  const start = async (...args: string[]) => await namespace.execute(args);
  expect((await start("timeline")).stdout).toBe("nothing is recorded in this time\n");
  for (const lock of ["x", "y"]) await start("run", "--lock", lock, "--", "true");
  const report = JSON.parse((await start("timeline", "--json", "x")).stdout);
  expect(report).toMatchObject({
    version: 1,
    tracks: [
      {
        subject: "lock x",
        intervals: expect.arrayContaining([expect.objectContaining({ kind: "hold", result: "0" })]),
      },
    ],
  });
  const { stdout } = await start("timeline", "--since", "1d", "--width", "40");
  expect(stdout).toMatch(/^ +\S+ \S+Z +\S+ \S+Z\nlock x +[·.]{39}[█#]\nlock y +[·.]{39}[█#]\n.* held /);
  expect((await start("timeline", "z")).stdout).toBe('nothing is recorded of "z" in this time\n');
  expect((await start("timeline", "--since", "+1h")).code).toBe(64);
});
