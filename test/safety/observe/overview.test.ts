/** `signalbox overview`, on a pipe, as JSON and on a terminal. */
import { describe, expect } from "vitest";
import { startSampleQueues, TERMINAL } from "../../../fixtures/cluster/sample-queues.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const { test } = TestCluster.startForFile();

describe.concurrent("overview", () => {
  test("says of an empty site that nothing is there", async ({ namespace }) => {
    const { stdout, code } = await namespace.execute("overview");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^0 held {3}0 waiting {3}0 problems {3}0 drains/);
    expect(stdout).toContain("BUSIEST QUEUES  nobody waits");
    expect(stdout).toMatch("etcd 1/1 member");
    expect(stdout).not.toContain("\u001b");
    expect(Math.max(...stdout.split("\n").map((line) => [...line].length))).toBeLessThanOrEqual(80);
  });

  test("shows runs, queues, next runs and failures, as a picture and as JSON", async ({ namespace }) => {
    expect(await namespace.execute("run --lock broken -- false")).toExit(1);
    await namespace.execute("schedule add nightly '0 3 * * *' -- true");
    await startSampleQueues(namespace);
    const readOverview = async () => await namespace.executeJson("overview");
    const { revision, counts, queues, next, failures, activity, etcd, hosts } = await readOverview();
    expect(Number(revision)).toBeGreaterThan(0);
    expect(counts).toMatchObject({ held: 1, waiting: 2, schedules: 1, hosts: hosts.length, workers: 0 });
    expect(queues.map(({ name }: { name: string }) => name).sort()).toEqual(["db", "x"]);
    expect(next).toMatchObject([{ schedule: "nightly" }]);
    expect(failures).toMatchObject([{ kind: "lock", name: "broken", result: "exit 1" }]);
    expect(activity.holders).toHaveLength(60);
    // The average of a minute, in hundredths: a run that has just begun is nothing yet.
    await waitUntil(
      "the run is in the graph",
      async () => (await readOverview()).activity.holders.at(-1) > 0,
    );
    expect(etcd).toMatchObject({ answers: true, up: 1, total: 1 });

    const { stdout } = await namespace.execute("overview --ascii --width 120");
    expect(stdout).toMatch(/^\* 1 held {3}\. 2 waiting/);
    expect(stdout).toMatch(/^[\x20-\x7e\n]*$/);
    expect(stdout).toMatch(/lock broken on \S+ +exit 1 /);
    expect(stdout).toMatch(/^(x|db) +[_.\-=+*%]*# 1 /m);
  });

  test("is repainted on a terminal until Ctrl+C, and leaves the screen as it was", async ({ namespace }) => {
    const watch = namespace.start("overview --watch", TERMINAL);
    await watch.waitForOutput(/\x1b\[\?1049h[\s\S]*live[\s\S]*nobody waits/);
    await startSampleQueues(namespace);
    await watch.waitForOutput(/1 held[\s\S]*2 waiting/);
    watch.child.stdin?.write("\x03");
    expect(await watch.ended).toExit(130, { stdout: /\x1b\[\?25h\x1b\[\?1049l\s*$/ });
  });

  test("refuses to watch without a terminal, and names what does", async ({ namespace }) => {
    expect(await namespace.execute("overview --watch")).toExit(64, { stderr: "ls --watch" });
    expect(await namespace.execute("overview --width 39")).toExit(64);
  });
});
