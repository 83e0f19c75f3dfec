/** The archive of workers and runs of one host, and `ls history --archive`, which reads it. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished } from "vitest";
import { connectLibrary } from "../../../fixtures/cluster/connect-library.ts";
import { HostAgent } from "../../../fixtures/cluster/host-agent.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { putDueSchedule, runShell, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { Worker, type WorkerTask } from "../../../src/library/index.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const readLines = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");

test("has what etcd does not keep any more, with the filters, columns and fields of the history", async () => {
  const path = join(createTestFolder(), "deep", "history.jsonl");
  const namespace = cluster.createNamespace({ env: { SIGNALBOX_ARCHIVE_FILE: path } });
  await putDueSchedule(namespace, "good", { command: ["true"], expect: "1h..", keep: 1 });
  await putDueSchedule(namespace, "bad", { command: runShell("echo oh; exit 3"), retries: 1, backoff: 10 });
  const due = Date.now() - 3_600_000;
  await putDueSchedule(namespace, "late", { cron: "* * * * *", catchup: "latest", command: ["true"] });
  await namespace.put(namespace.keys.due("late"), JSON.stringify({ v: 1, next: due, runAt: due }));
  const worker = namespace.start("worker");
  await waitForOutcomes(namespace, "good");
  await waitForOutcomes(namespace, "bad", 2);
  await waitForOutcomes(namespace, "late", 2);
  await waitUntil("five lines", () => readLines(path).length >= 5);
  await worker.end();

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
});

test("a line that a killed worker left, and an outcome that two workers wrote, are no rows", async ({
  namespace,
}) => {
  const record = { v: 1, id: "a", schedule: "job", type: "job", scheduled: 1, endedAt: 9, result: "skipped" };
  const line = `${JSON.stringify({ ...record, count: 2, until: 3 })}\n`;
  const path = cluster.createPath(`${line}${line}{"v":1,"id":"x","sch`);
  const list = await namespace.execute(`ls history --archive=${path} --json`);
  expect(list.stderr).toContain("left out a line that is not a record");
  expect(JSON.parse(list.stdout).rows).toHaveLength(1);
});

test("an archive is for ls history only, without --watch, and must be there", async ({ namespace }) => {
  const ends = async (words: string, env?: Record<string, string>) =>
    await namespace.execute(`ls ${words} --archive`, env && { env });
  expect(await ends("history")).toExit(64, { stderr: "set archiveFile" });
  expect(await ends("locks")).toExit(64, { stderr: "works with ls history only" });
  const env = { SIGNALBOX_ARCHIVE_FILE: join(createTestFolder(), "history.jsonl") };
  expect(await ends("history --watch", env)).toExit(64);
  expect(await ends("history", env)).toExit(1, { stderr: /cannot read the archive ".*history.jsonl"/ });
});

test("a file that cannot be written is told, and the worker goes on", async () => {
  const path = join(cluster.createPath("a file"), "history.jsonl");
  const namespace = cluster.createNamespace({ env: { SIGNALBOX_ARCHIVE_FILE: path } });
  await putDueSchedule(namespace, "one", { command: ["true"] });
  const worker = namespace.start("worker");
  await worker.waitForOutput(/records wait to be archived.*EEXIST/);
  await putDueSchedule(namespace, "two", { command: ["true"] });
  await waitForOutcomes(namespace, "two");
  expect(await worker.end()).toExit(0);
  expect(worker.output.stderr).toMatch(/records were not archived.*records=2/);
});

interface ArchivedRow {
  lock?: string;
  schedule?: string;
  run: string;
  state: string;
}

async function listArchive(namespace: TestNamespace, ...words: string[]): Promise<ArchivedRow[]> {
  return (await namespace.executeJson(["ls", "history", "--archive", ...words])).rows;
}

test("runs of locks are in the same file, as the history has them, and more of them", async () => {
  const path = join(createTestFolder(), "history.jsonl");
  const namespace = cluster.createNamespace({ env: { SIGNALBOX_ARCHIVE_FILE: path } });
  const labelled = ["run", "--lock", "a", "--lock", "b", "--lease", "db=2:9", "--label", "nightly"];
  expect(await namespace.execute([...labelled, "--", ...runShell("exit 3")])).toExit(3);
  await namespace.expectDone("run --lock a --no-history -- true");
  await namespace.expectDone("run --lease db=2:9 -- true");
  await namespace.expectDone("run --lock a --grace 1s -- true");
  await putDueSchedule(namespace, "one", { command: ["true"] });
  const worker = namespace.start("worker");
  await waitForOutcomes(namespace, "one");
  await worker.end();

  const rows = await listArchive(namespace);
  expect(rows.map(({ lock, schedule, state }) => [lock ?? schedule, state]).sort()).toEqual([
    ["a", "failed"],
    ["a", "ok"],
    ["b", "failed"],
    ["one", "ok"],
    ["true", "ok"], // the command's name
  ]);
  const stored: ArchivedRow[] = (await namespace.executeJson("ls history")).rows;
  const sort = (list: ArchivedRow[]) =>
    list.toSorted((one, other) => `${one.lock}${one.run}`.localeCompare(`${other.lock}${other.run}`));
  expect(sort(rows), "of schedules, too").toEqual(sort(stored));
  expect(rows.filter(({ lock }) => lock === "b")).toMatchObject([
    { label: "nightly", exit: 3, leases: { db: 2 } },
  ]);
});

test("tasks of a program that uses the library are in it if its worker has the option", async () => {
  const archiveFile = join(createTestFolder(), "history.jsonl");
  const namespace = cluster.createNamespace({ env: { SIGNALBOX_ARCHIVE_FILE: archiveFile } });
  const signalbox = await connectLibrary(namespace);
  const handle = async ({ data }: WorkerTask) => {
    if (data === 2) throw new Error("no paper");
  };
  for (const [type, options] of Object.entries({ plain: {}, kept: { archiveFile } })) {
    const worker = new Worker(signalbox, { handlers: { [type]: handle }, ...options });
    let ended = 0;
    worker.on("ended", () => {
      ended += 1;
    });
    const running = worker.run();
    for (const data of [1, 2]) await signalbox.jobs.add(type, data, { retries: 0 });
    await waitUntil("both have ended", () => ended === 2);
    await worker.stop();
    await running;
  }
  const rows = await listArchive(namespace);
  expect(rows.map(({ schedule, state }) => [schedule?.split(".")[0], state]).sort()).toEqual([
    ["kept", "failed"],
    ["kept", "ok"],
  ]);
  const create = () => new Worker(signalbox, { handlers: {}, archiveFile: "" });
  expect(create).toThrow('archiveFile: "" is not a path');
});

test("of a hundred runs at once, by themselves and by an agent, each is in the archive once", async () => {
  const path = join(createTestFolder(), "history.jsonl");
  const env = {
    SIGNALBOX_ARCHIVE_FILE: path,
    SIGNALBOX_ARCHIVE_SIZE: "8K",
    SIGNALBOX_ARCHIVE_COUNT: "1000",
    SIGNALBOX_TTL: "5m",
  };
  const { namespace, process: agent } = await HostAgent.start(cluster, env);
  const names = Array.from({ length: 100 }, (_, n) => `job-${n}`);
  const ends = names.map((name, n) => {
    const use = n % 4 === 0 ? "never" : "always";
    return namespace.execute(["run", "--agent", use, "--lock", name, "--lock", `${name}b`, "--", "true"], {
      env: { SIGNALBOX_AGENT: use },
    });
  });
  const ended = await Promise.all(ends);
  for (const end of ended) expect(end).toExit(0);
  const findAll = async () => {
    const found = await listArchive(namespace);
    return found.length >= 200 && found;
  };
  const describe = () => agent.output.stderr + ended.map(({ stderr }) => stderr).join("");
  const rows = await waitUntil("all runs", findAll, { describe });
  expect(rows.map(({ lock }) => lock).sort()).toEqual(names.flatMap((name) => [name, `${name}b`]).sort());
  expect(readdirSync(join(path, "..")).length).toBeGreaterThan(2);
});

describe.each(["a folder that is a file", "a full disk (as root)"])(
  "a run whose archive is in %s",
  (where) => {
    test.runIf(where.startsWith("a folder") || process.getuid?.() === 0)(
      "ends as its command, with a warning",
      async () => {
        const folder = createTestFolder();
        const isFull = where.startsWith("a full");
        if (isFull) {
          execFileSync("mount", ["-t", "tmpfs", "-o", "size=8k", "tmpfs", folder]);
          onTestFinished(() => void execFileSync("umount", [folder]));
        }
        writeFileSync(join(folder, "taken"), "x".repeat(isFull ? 8_192 : 1));
        const path = join(folder, ...(isFull ? [] : ["taken"]), "history.jsonl");
        const namespace = cluster.createNamespace({ env: { SIGNALBOX_ARCHIVE_FILE: path } });
        const options = ["--agent", "never", "--lock", "a"]; // the warning of an agent is in its own log
        const end = await namespace.execute(["run", ...options, "--", ...runShell("echo well; exit 3")]);
        expect(end).toExit(3, { stdout: "well\n" });
        expect(end.stderr.match(/archive/g)).toHaveLength(1);
        expect(end.stderr).toMatch(
          /records were not archived.*records=1 error="?(Error: )?(EEXIST|ENOSPC|ENOTDIR|the disk is full)/,
        );
        expect((await namespace.executeJson("ls history")).rows).toMatchObject([{ exit: 3 }]);
      },
    );
  },
);
