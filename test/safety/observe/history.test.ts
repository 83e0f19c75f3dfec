/** The history of runs, in `history` and `stats`. */

import { describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();

describe("the history of locks", () => {
  it("shows the last runs, newest first, and what they come to", async () => {
    const namespace = await cluster.createTestNamespace("http");
    const runs = [0, 3].map((code) => [
      "run",
      "--lock",
      "x",
      "--label",
      `l${code}`,
      "--",
      "sh",
      "-c",
      `exit ${code}`,
    ]);
    for (const run of runs) await namespace.start(run).ended;
    await namespace.start(["run", "--lock", "y", "--", "true"]).ended;
    const { stdout } = await namespace.start(["history", "x"]).ended;
    expect(stdout).toMatch(/^ENDED +HOST .*\n.*Z +\S+:\d+ +sh +0s +0s +3 .* l3\n.* 0 .* l0\n$/);
    const history = JSON.parse(
      (await namespace.start(["history", "x", "--json", "--limit", "1"]).ended).stdout,
    );
    expect(history).toMatchObject({ version: 1, lock: "x", runs: [{ exit: 3, label: "l3" }] });
    expect(BigInt(history.revision)).toBeGreaterThan(0n);
    const stats = JSON.parse((await namespace.start(["stats", "--json", "--sort", "failures"]).ended).stdout);
    expect(
      stats.locks.map((one: { lock: string; runs: number; failures: number }) => [
        one.lock,
        one.runs,
        one.failures,
      ]),
    ).toEqual([
      ["x", 2, 1],
      ["y", 1, 0],
    ]);
    expect((await namespace.start(["stats", "y"]).ended).stdout).toMatch(/^LOCK .*\ny +1 +0 .*\n$/);
  });

  it("says so where nothing is remembered, and what was probably meant", async () => {
    const namespace = await cluster.createTestNamespace("http");
    expect(await namespace.start(["stats"]).ended).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringContaining("no runs"),
    });
    await namespace.start(["run", "--lock", "invoices", "--", "true"]).ended;
    const typo = await namespace.start(["history", "invoces"]).ended;
    expect(typo).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining('mean "invoices"?') });
    const hostile = {
      key: namespace.keys.history("bad"),
      value: '{"v":1,"runs":[{"run":"\\u001b]52;c;eA==\\u0007"},7]}',
    };
    await namespace.store.commitTxn({ compare: [], success: [{ op: "put", ...hostile }], failure: [] });
    expect(await namespace.start(["history", "bad"]).ended).toMatchObject({ code: 0, stdout: "" });
    expect((await namespace.start(["stats", "bad"]).ended).code).toBe(0);
    expect((await namespace.start(["stats", "bad", "none"]).ended).code).toBe(1);
    expect((await namespace.start(["stats", "--sort", "size"]).ended).code).toBe(64);
  });
});
