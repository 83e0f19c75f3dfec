/** The history of runs in listings, and the old words for listings. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

describe.concurrent("the history of locks", () => {
  test("shows the last runs, newest first, and what they come to", async ({ namespace }) => {
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
    for (const run of runs) await namespace.execute(run);
    await namespace.execute("run --lock y -- true");
    const { stdout } = await namespace.execute("ls history l3");
    expect(stdout).toMatch(/^ENDED +LOCK .*\n.*Z +x .* 3 .*\n$/);
    const history = await namespace.executeJson("ls history x --limit 1");
    expect(history).toMatchObject({
      version: 1,
      view: "history",
      rows: [{ lock: "x", exit: 3, label: "l3" }],
    });
    expect(BigInt(history.revision)).toBeGreaterThan(0n);
    const stats = await namespace.executeJson("ls statistics --sort -failures");
    expect(
      stats.rows.map((one: { lock: string; runs: number; failures: number }) => [
        one.lock,
        one.runs,
        one.failures,
      ]),
    ).toEqual([
      ["x", 2, 1],
      ["y", 1, 0],
    ]);
    expect((await namespace.execute("ls statistics y")).stdout).toMatch(/^LOCK .*\ny +1 +0 .*\n$/);
  });

  test("--since leaves out what ended before, in history and in ls", async ({ namespace }) => {
    const list = async (...args: string[]) =>
      JSON.parse((await namespace.execute([...args, "--json"])).stdout);
    await namespace.execute("run --lock x -- true");
    await namespace.execute("drain lock x --yes");
    const then = String(Date.now() + 1);
    await namespace.execute("undrain lock x --yes");
    await namespace.execute(["run", "--lock", "x", "--", "sh", "-c", "exit 3"]);
    expect((await list("ls", "history", "x", "--since", "1h")).rows).toHaveLength(2);
    expect((await list("ls", "history", "--since", then)).rows).toMatchObject([{ exit: 3 }]);
    expect((await list("ls", "history", "state:ok", "--since", "1h")).rows).toHaveLength(1);
    expect((await list("ls", "audit", "--since", then)).rows).toMatchObject([{ action: "undrain" }]);
    expect((await list("ls", "audit", "--since", "1h")).rows).toHaveLength(2);
    const later = String(Date.now());
    expect(await namespace.execute(["ls", "history", "--since", later])).toExit(0, {
      stderr: "No row matches",
    });
  });

  test.for<[args: string[], message: RegExp]>([
    [["ls", "history", "x", "--since", "soon"], /--since must be a time .*; got "soon"/],
    [["ls", "audit", "--since", "+1h"], /--since must not be in the future .*; got "\+1h"/],
    [["ls", "locks", "--since", "1h"], /--since works with ls history and ls audit only; got "locks"/],
    [["ls", "--since", "1h"], /--since works with ls history and ls audit only; got "overview"/],
  ])("signalbox %j is refused", async ([args, message], { namespace }) => {
    const { code, stderr } = await namespace.execute(args);
    expect([code, stderr]).toEqual([64, expect.stringMatching(message)]);
  });

  test("says so where nothing is remembered, and reads what others have written there", async ({
    namespace,
  }) => {
    for (const view of ["history", "statistics"])
      expect(await namespace.execute(["ls", view])).toFail(0, "No runs yet");
    const hostile = {
      key: namespace.keys.history("bad"),
      value: '{"v":1,"runs":[{"run":"\\u001b]52;c;eA==\\u0007"},7]}',
    };
    await namespace.write({ op: "put", ...hostile });
    expect(await namespace.execute("ls history")).toExit(0, { stdout: "" });
    await namespace.expectDone("ls statistics");
    expect(await namespace.execute("ls statistics --sort size")).toExit(64);
  });
});
