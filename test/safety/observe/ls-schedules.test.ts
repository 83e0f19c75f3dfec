/** `ls schedules`, `ls workers` and `show schedule`, with keys as workers write them. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { putKeys, putSampleSchedules } from "../../../fixtures/schedule/sample-schedules.ts";
import { createRunningKey, createWorkerKey } from "../../../fixtures/schedule/schedule-keys.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
describe.concurrent.each(TRANSPORTS)("over %s, schedules", (transport) => {
  test("are listed for people, with what runs next first, and for programs", async ({ onTestFinished }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    await putSampleSchedules(namespace);
    const { stdout } = await namespace.execute("ls schedules --columns schedule,state,next,on,last");
    expect(stdout).toMatch(
      /^SCHEDULE .*\nold +late +1h over .*\nbackup +running +in \S+ +web1\.example\.com .*\nmail +failed +in \S+ .* failed\nbill +no-worker +in \S+ .*\n$/,
    );
    expect(await namespace.executeJson("ls schedules state:failed")).toMatchObject({
      view: "schedules",
      rows: [{ schedule: "mail", state: "failed", task: "mail", definition: { cron: "0 * * * *" } }],
    });
    const hosts = await namespace.execute("ls schedules --host web1 --columns schedule");
    expect(hosts.stdout).toBe("SCHEDULE\nbackup\n");
    expect((await namespace.executeJson("ls workers")).rows).toMatchObject([
      { worker: "w1", running: 1, concurrency: 4 },
    ]);
    const runs = await namespace.execute("ls runs holder:web1 --columns who,schedule,command");
    expect(runs.stdout).toMatch(/\nweb1\.example\.com:42 +backup +db-dump --all\n$/);
  });

  test("are shown one at a time: what it does, its runs, and the end of what they wrote, made harmless", async ({
    onTestFinished,
  }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    await putSampleSchedules(namespace);
    const { stdout, code } = await namespace.execute("show schedule mail");
    expect({ code, stdout }).toExit(0, {
      stdout: /^schedule mail: failed, waiting\n[\s\S]*next runs[\s\S]*history[\s\S]* 7 *\n/,
    });
    expect(stdout).toMatch(/output of the run that ended .*: failed\n +no .*space\n/);
    expect(stdout).not.toMatch(/[\x07\x1b]/u);
    expect(await namespace.executeJson("show schedule mail")).toMatchObject({
      kind: "schedule",
      row: { schedule: "mail", state: "failed", dead: 1 },
      dead: [{ code: 7 }],
      history: [{ result: "failed", code: 7 }],
    });
    const unknown = await namespace.execute("show schedule maiil");
    expect(unknown).toExit(1, { stderr: 'did you mean "mail"' });
  });
});

describe.concurrent("schedules", () => {
  test("that need somebody are problems, each with a remedy", async ({ namespace }) => {
    await putSampleSchedules(namespace);
    const rows = (
      (await namespace.executeJson("ls problems")) as { rows: { kind: string; subject: string }[] }
    ).rows;
    expect(rows.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual(
      expect.arrayContaining(["late schedule old", "no-worker schedule bill", "dead-letter schedule mail"]),
    );
  });

  test("are told as they change, and not again when nothing has", async ({ namespace }) => {
    await putSampleSchedules(namespace);
    const watching = namespace.start("ls schedules --watch --json backup");
    await watching.waitForOutput('"event":"ready"');
    await putKeys(namespace, [
      createWorkerKey("w1", { running: 1, beat: 4 }),
      createRunningKey("backup", { pid: 77 }),
    ]);
    await watching.waitForOutput(/"event":"row".*"pid":77/);
    const { stdout } = await watching.end("SIGINT");
    expect(stdout.split("\n").filter((line) => line.includes('"event":"row"'))).toHaveLength(2);
  });
});
