/** `ls schedules`, `ls workers` and `show schedule`, with keys as workers write them. */

import { describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { running, worker } from "../../views/schedules.ts";
import { putKeys, putSampleSchedules } from "../support/sample-schedules.ts";

const cluster = TestCluster.startForFile();
describe.each(TRANSPORTS)("over %s, schedules", (transport) => {
  it("are listed for people, with what runs next first, and for programs", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    await putSampleSchedules(namespace);
    const { stdout } = await namespace.start(["ls", "schedules", "--columns", "schedule,state,next,on,last"])
      .ended;
    expect(stdout).toMatch(
      /^SCHEDULE .*\nold +late +1h over .*\nbackup +running +in \S+ +web1\.example\.com .*\nmail +failed +in \S+ .* failed\nbill +no-worker +in \S+ .*\n$/,
    );
    const json = JSON.parse(
      (await namespace.start(["ls", "schedules", "state:failed", "--json"]).ended).stdout,
    );
    expect(json).toMatchObject({
      view: "schedules",
      rows: [{ schedule: "mail", state: "failed", task: "mail", definition: { cron: "0 * * * *" } }],
    });
    const hosts = await namespace.start(["ls", "schedules", "--host", "web1", "--columns", "schedule"]).ended;
    expect(hosts.stdout).toBe("SCHEDULE\nbackup\n");
    const workers = await namespace.start(["ls", "workers", "--json"]).ended;
    expect(JSON.parse(workers.stdout).rows).toMatchObject([{ worker: "w1", running: 1, concurrency: 4 }]);
    const runs = await namespace.start(["ls", "runs", "holder:web1", "--columns", "who,schedule,command"])
      .ended;
    expect(runs.stdout).toMatch(/\nweb1\.example\.com:42 +backup +db-dump --all\n$/);
  });

  it("are shown one at a time: what it does, its runs, and the end of what they wrote, made harmless", async () => {
    const namespace = await cluster.createTestNamespace(transport);
    await putSampleSchedules(namespace);
    const { stdout, code } = await namespace.start(["show", "schedule", "mail"]).ended;
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^schedule mail: failed, waiting\n[\s\S]*next runs[\s\S]*history[\s\S]* 7 *\n/,
      ),
    });
    expect(stdout).toMatch(/output of the run that ended .*: failed\n +no .*space\n/);
    expect(stdout).not.toMatch(/[\x07\x1b]/u);
    const json = await namespace.start(["show", "schedule", "mail", "--json"]).ended;
    expect(JSON.parse(json.stdout)).toMatchObject({
      kind: "schedule",
      row: { schedule: "mail", state: "failed", dead: 1 },
      dead: [{ code: 7 }],
      history: [{ result: "failed", code: 7 }],
    });
    const unknown = await namespace.start(["show", "schedule", "maiil"]).ended;
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringMatching(/did you mean "mail"/) });
  });
});

describe("schedules", () => {
  it("that need somebody are problems, each with a remedy", async () => {
    const namespace = await cluster.createTestNamespace("http");
    await putSampleSchedules(namespace);
    const { stdout } = await namespace.start(["ls", "problems", "--json"]).ended;
    const rows = (JSON.parse(stdout) as { rows: { kind: string; subject: string }[] }).rows;
    expect(rows.map(({ kind, subject }) => `${kind} ${subject}`)).toEqual(
      expect.arrayContaining(["late schedule old", "no-worker schedule bill", "dead-letter schedule mail"]),
    );
  });

  it("are told as they change, and not again when nothing has", async () => {
    const namespace = await cluster.createTestNamespace("http");
    await putSampleSchedules(namespace);
    const watching = namespace.start(["ls", "schedules", "--watch", "--json", "backup"]);
    await watching.waitForOutput(/"event":"ready"/);
    await putKeys(namespace, [worker("w1", { running: 1, beat: 4 }), running("backup", { pid: 77 })]);
    await watching.waitForOutput(/"event":"row".*"pid":77/);
    watching.child.kill("SIGINT");
    const { stdout } = await watching.ended;
    expect(stdout.split("\n").filter((line) => line.includes('"event":"row"'))).toHaveLength(2);
  });
});
