/** The archive of a worker, and `ls history --archive`, which reads it. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { putDueSchedule, runShell, waitForOutcomes } from "../support/due-schedules.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const readLines = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");

test("has what etcd does not keep any more, with the filters, columns and fields of the history", async () => {
  const path = join(createTestFolder(), "deep", "history.jsonl");
  const namespace = cluster.createNamespace({ env: { SIGNALBOX_ARCHIVE_FILE: path } });
  const missing = await namespace.execute("ls history --archive");
  expect(missing).toExit(1, { stderr: /cannot read the archive ".*history.jsonl"/ });
  await putDueSchedule(namespace, "good", { command: ["true"], expect: "1h..", keep: 1 });
  await putDueSchedule(namespace, "bad", { command: runShell("echo oh; exit 3"), retries: 1, backoff: 10 });
  const due = Date.now() - 3_600_000;
  await putDueSchedule(namespace, "late", { cron: "* * * * *", catchup: "latest", command: ["true"] });
  await namespace.put(namespace.keys.due("late"), JSON.stringify({ v: 1, next: due, runAt: due }));
  const worker = namespace.start(["worker"]);
  await waitForOutcomes(namespace, "good");
  await waitForOutcomes(namespace, "bad", 2);
  await waitForOutcomes(namespace, "late", 2);
  await waitUntil("five lines", () => readLines(path).length >= 5);
  worker.child.kill("SIGTERM");
  await worker.ended;

  // Of another host or none: the archive needs no etcd.
  const offline = cluster.createNamespace({ endpoints: ["http://127.0.0.1:9"] });
  const list = (...words: string[]) => offline.execute(["ls", "history", `--archive=${path}`, ...words]);
  const table = await list();
  expect(table.stdout).toMatch(/^ENDED +SCHEDULE +WHO +STATE/);
  expect(table.stdout).not.toContain("LOCK");
  const failed = JSON.parse((await list("state:failed", "bad", "--json")).stdout);
  expect(failed).toMatchObject({ version: 1, archive: path, view: "history" });
  const common = { schedule: "bad", state: "failed", exit: 3, reason: "exit code 3" };
  expect(failed.rows).toMatchObject([
    { ...common, attempt: 2 },
    { ...common, attempt: 1 },
  ]);
  const good = JSON.parse((await list("good", "--json")).stdout).rows;
  expect(good).toMatchObject([{ state: "ok", deviation: "too-short", held: expect.any(Number) }]);
  const skipped = JSON.parse((await list("--state", "skipped", "--json")).stdout).rows;
  expect(skipped).toMatchObject([{ schedule: "late", count: expect.any(Number) }]);
  expect(
    (await list("--since", "1h", "--limit", "1", "--columns", "schedule,scheduled,attempt")).stdout,
  ).toMatch(/^SCHEDULE +SCHEDULED +ATTEMPT\n.*\n$/);
  expect((await list("--since", "2100-01-01T00:00Z")).stdout).toBe("");
  expect((await list("--output", "csv")).stdout.split("\n")[0]).toContain("ended,lock,schedule,");

  // A worker was killed in the middle of a line; another one has written the same outcome.
  const [first = ""] = readLines(path);
  writeFileSync(path, `${readFileSync(path, "utf8")}${first}\n{"v":1,"id":"x","sch`);
  const after = await list("--json");
  expect(after.stderr).toContain("left out a line that is not a record");
  expect(JSON.parse(after.stdout).rows).toHaveLength(readLines(path).length - 2);
  expect(await list("--watch")).toExit(64);
  expect(await offline.execute("ls locks --archive")).toExit(64, { stderr: /works with ls history only/ });
  expect(await offline.execute("ls history --archive")).toExit(64, { stderr: /set archiveFile/ });
});

test("a file that cannot be written is told, and the worker goes on", async () => {
  const path = join(cluster.createPath("a file"), "history.jsonl");
  const namespace = cluster.createNamespace({ env: { SIGNALBOX_ARCHIVE_FILE: path } });
  await putDueSchedule(namespace, "one", { command: ["true"] });
  const worker = namespace.start(["worker"]);
  await worker.waitForOutput(/records wait to be archived.*EEXIST/);
  await putDueSchedule(namespace, "two", { command: ["true"] });
  await waitForOutcomes(namespace, "two");
  worker.child.kill("SIGTERM");
  expect(await worker.ended).toExit(0);
  expect(worker.output.stderr).toMatch(/records were not archived.*records=2/);
});
