/** The history of runs in listings, and the old words for listings. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { putDueSchedule, runShell, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";

const { test } = TestCluster.startForFile();

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
    await namespace.execute("run --lock x -- sh -c 'exit 3'");
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

describe.concurrent("the history of schedules", () => {
  test("answers what failed last night: kept failures, healed ones, and dead letters, with what they wrote", async ({
    namespace,
  }) => {
    await putDueSchedule(namespace, "dead", {
      command: runShell("echo no room; exit 3"),
      removeAfter: "end",
      keep: 1,
    });
    const flaky = 'test "$SIGNALBOX_ATTEMPT" = 2 || { echo not yet; exit 4; }';
    await putDueSchedule(namespace, "healed", { command: runShell(flaky), retries: 1, backoff: 10 });
    const worker = namespace.start("worker");
    await waitForOutcomes(namespace, "healed", 2);
    await waitForOutcomes(namespace, "dead");
    await worker.end();
    await namespace.execute(["run", "--lock", "invoices", "--", "sh", "-c", "exit 5"]);
    const words = ["ls", "history", "state:failed", "--since", "8h"];
    const table = await namespace.execute([...words, "--columns", "lock,schedule,state,exit,output"]);
    expect(table).toExit(0, {
      stdout: /^LOCK +SCHEDULE +STATE +EXIT +OUTPUT *\ninvoices +- +failed +5 +-\n/,
    });
    expect(table.stdout).toMatch(/\n- +healed +failed +4 +not yet\n/);
    const { rows } = await namespace.executeJson([...words, "--sort", "schedule"]);
    expect(rows).toMatchObject([
      { lock: "invoices", exit: 5 },
      { schedule: "dead", state: "failed", exit: 3, tail: "no room" },
      { schedule: "healed", state: "failed", exit: 4, attempt: 1, tail: "not yet" },
    ]);
    expect((await namespace.executeJson("ls history healed")).rows).toMatchObject([
      { state: "ok" },
      { state: "failed" },
    ]);
    const screen = await namespace.execute(["console", "--once", "--view", "history"]);
    for (const id of ["healed", "dead", "invoices"])
      expect(screen.stdout).toMatch(new RegExp(`Z +.*${id} .* failed `));
  });

  test("says that an answer is empty because of the filter, and where else to look", async ({
    namespace,
  }) => {
    const words = ["ls", "history", "state:failed", "--since", "8h"];
    expect(await namespace.execute(words)).toExit(0, { stderr: "No runs yet" });
    await putDueSchedule(namespace, "good", { command: ["true"] });
    const worker = namespace.start("worker");
    await waitForOutcomes(namespace, "good");
    await worker.end();
    const { stdout, stderr } = await namespace.execute(words);
    expect({ stdout, stderr }).toEqual({
      stdout: "",
      stderr: expect.stringMatching(
        /^No row matches the filter. Other rows have state:ok. etcd has .* ls history --archive\.\n$/,
      ),
    });
    for (const wrong of [["state:"], ["--state", ""], ["--host="]])
      expect(await namespace.execute(["ls", "history", ...wrong])).toExit(64, { stderr: "has no value" });
  });

  test("says if etcd does not have everything since then", async ({ namespace }) => {
    const due = Date.now() - 3_600_000;
    await putDueSchedule(namespace, "often", { cron: "* * * * *", command: ["true"], keep: 2 });
    await namespace.put(namespace.keys.due("often"), JSON.stringify({ v: 1, next: due, runAt: due }));
    const worker = namespace.start("worker");
    await waitForOutcomes(namespace, "often", 2);
    await worker.end();
    const gap = "etcd may not have all runs since";
    const early = await namespace.execute("ls history state:failed --since 8h");
    expect(early).toExit(0, { stderr: gap });
    expect(early.stderr).toContain("of schedule often, it has only newer ones");
    const since = String(Date.now() + 60_000);
    expect((await namespace.execute(["ls", "history", "--since", since])).stderr).not.toContain(gap);
  });
});
