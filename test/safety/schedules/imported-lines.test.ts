/** Lines of a crontab, imported: they run as under cron, or stay with it. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startWorker, waitForOutcomes } from "../../../fixtures/schedule/due-schedules.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const LINES = [
  "PATH=/usr/bin:/bin",
  "0 0 1 1 * pwd > relative.log; echo told > /dev/stderr; cat",
  "0 0 1 1 * wc -c && cat /dev/stdin%one%two",
  "0 0 1 1 * nohup sleep 30 &",
  "0 0 1 1 * [ -s pid ] || { sleep 30 & echo $! > pid; }",
];

test("a line starts at home with an empty input, or with its own, and its streams can be opened", async ({
  namespace,
}) => {
  const home = cluster.createPath();
  mkdirSync(home);
  const file = join(home, "crontab");
  writeFileSync(file, [...LINES, ""].join("\n"));
  const command = ["schedule", "import", "crontab", file, "--source", "test", "--format", "user"];
  const shown = await namespace.execute([...command, "--dry-run"]);
  expect(shown).toExit(0, {
    stdout: /^schedule pwd-\w+ would be added: [^\n]*\nschedule wc-\w+ would be added: /,
  });
  expect(shown.stderr).toMatch(
    /\nsignalbox: note: \S+:4: it leaves a process in the background \(nohup sleep 30 &\), .* stays with cron \(and in line 5\)\n$/,
  );
  expect(await namespace.execute([...command, "--yes"])).toExit(0);
  const { schedules } = JSON.parse(await namespace.expectDone("export --only schedules --format json"));
  const [first = "", second = "", ...others] = Object.keys(schedules);
  expect(others).toEqual([]);
  for (const id of [first, second]) await namespace.expectDone(`schedule trigger ${id} --env HOME=${home}`);
  await startWorker(namespace, "a.example");
  expect(await waitForOutcomes(namespace, first)).toMatchObject([{ result: "ok", tail: "told" }]);
  expect(readFileSync(join(home, "relative.log"), "utf8")).toBe(`${home}\n`);
  expect(await waitForOutcomes(namespace, second)).toMatchObject([{ result: "ok", tail: "8" }]);
  expect(existsSync(join(home, "pid"))).toBe(false);
});

test.concurrent("--strict refuses the file because of a line that would not mean the same, and takes it without this line", async ({
  namespace,
}) => {
  const file = cluster.createPath('MAILTO=""\n0 1 * * * one\n0 2 * * * nohup two &\n');
  const words = ["schedule", "import", "crontab", file, "--source", "test", "--format", "user", "--yes"];
  const countSchedules = async () => (await namespace.executeJson("ls schedules")).rows.length;
  expect(await namespace.execute([...words, "--strict"])).toFail(
    78,
    /:3: it leaves a process in the background/,
  );
  expect(await countSchedules()).toBe(0);
  writeFileSync(file, 'MAILTO=""\n0 1 * * * one\n');
  expect(await namespace.execute([...words, "--strict"])).toExit(0);
  expect(await countSchedules()).toBe(1);
});

test.concurrent("a command that leaves a process behind is named where it is defined, and in its outcome", async ({
  namespace,
}) => {
  const added = await namespace.execute([
    "schedule",
    "add",
    "left",
    "@yearly",
    "--",
    "sh",
    "-c",
    "sleep 30 &",
  ]);
  expect(added).toExit(0, {
    stderr: /^signalbox: note: it leaves a process in the background \(sleep 30 &\)/,
  });
  expect(await namespace.execute("schedule lint left")).toExit(0, {
    stdout: /left: warning: command: it leaves a process in the background/,
  });
  const site = `version: 1\nschedules:\n  other: { cron: "@yearly", timezone: UTC, command: [setsid, server] }\n`;
  for (const name of ["diff", "apply --dry-run"])
    expect((await namespace.execute(`${name} -`, { input: site })).stderr).toContain(
      "it leaves a process in the background (what setsid starts)",
    );
  await namespace.expectDone("schedule trigger left");
  await startWorker(namespace, "a.example");
  expect(await waitForOutcomes(namespace, "left")).toMatchObject([
    { result: "ok", reason: "it left processes in the background, which were ended" },
  ]);
  expect((await namespace.execute("show schedule left")).stdout).toContain(
    "it left processes in the background",
  );
});
