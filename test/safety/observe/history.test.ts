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

  it("--since leaves out what ended before, in history and in ls", async () => {
    const namespace = await cluster.createTestNamespace("http");
    const start = async (...args: string[]) => await namespace.start(args).ended;
    const list = async (...args: string[]) => JSON.parse((await start(...args, "--json")).stdout);
    await start("run", "--lock", "x", "--", "true");
    await start("drain", "lock", "x", "--yes");
    const then = String(Date.now() + 1);
    await start("undrain", "lock", "x", "--yes");
    await start("run", "--lock", "x", "--", "sh", "-c", "exit 3");
    expect((await list("history", "x", "--since", then)).runs).toMatchObject([{ exit: 3 }]);
    expect((await list("history", "x", "--since", "1h")).runs).toHaveLength(2);
    expect((await list("ls", "history", "--since", then)).rows).toMatchObject([{ exit: 3 }]);
    expect((await list("ls", "history", "state:ok", "--since", "1h")).rows).toHaveLength(1);
    expect((await list("ls", "audit", "--since", then)).rows).toMatchObject([{ action: "undrain" }]);
    expect((await list("ls", "audit", "--since", "1h")).rows).toHaveLength(2);
    const later = String(Date.now());
    expect(await start("history", "x", "--since", later)).toMatchObject({
      code: 0,
      stdout: "",
      stderr: expect.stringMatching(/no run of lock "x" has ended since \d{4}-.*Z/),
    });
    expect(await start("ls", "history", "--since", later)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("No row matches"),
    });
  });

  it.each([
    [["history", "x", "--since", "soon"], /--since must be a time .*; got "soon"/],
    [["ls", "audit", "--since", "+1h"], /--since must not be in the future .*; got "\+1h"/],
    [["ls", "locks", "--since", "1h"], /--since works with ls history and ls audit only; got "locks"/],
    [["ls", "--since", "1h"], /--since works with ls history and ls audit only; got "overview"/],
  ])("signalbox %j is refused", async (args, message) => {
    const namespace = await cluster.createTestNamespace("http");
    const { code, stderr } = await namespace.start(args).ended;
    expect([code, stderr]).toEqual([64, expect.stringMatching(message)]);
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
