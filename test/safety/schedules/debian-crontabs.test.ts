/** The crontabs of a Debian 12 host become schedules, which workers on two hosts run. */

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { startWorker } from "../../../fixtures/schedule/due-schedules.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import type { Definition } from "../../../src/schedule/definition.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const SOURCE = new URL("../../cli/commands/schedule/crontab/debian-12/", import.meta.url).pathname;
const FILES = ["crontab", ...readdirSync(join(SOURCE, "cron.d")).map((name) => `cron.d/${name}`)];

/** Programs and scripts that the crontabs run, under another root. */
const PROGRAMS = [
  ...["hourly", "daily", "weekly", "monthly"].map((often) => `etc/cron.${often}/job`),
  "usr/lib/sysstat/debian-sa1",
  "usr/lib/x86_64-linux-gnu/e2fsprogs/e2scrub_all_cron",
  "sbin/e2scrub_all",
  "usr/sbin/invoke-rc.d",
  "etc/init.d/anacron",
];

/** Makes a folder in which the paths of the crontabs are, with programs that write a line into a journal. */
function createRoot() {
  const root = cluster.createPath();
  const journal = join(root, "journal");
  for (const program of PROGRAMS) {
    const path = join(root, program);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `#!/bin/sh\necho "$SIGNALBOX_HOST ${program} $*" >> ${journal}\n`);
    chmodSync(path, 0o755);
  }
  mkdirSync(join(root, "etc/cron.d"));
  const files = FILES.map((name) => {
    const path = join(root, "etc", name);
    const text = readFileSync(join(SOURCE, name), "utf8");
    writeFileSync(path, text.replaceAll(/(?<=[\s=:])\/(?=(?:etc|usr|run|sbin)\/)/g, `${root}/`));
    return path;
  });
  return { journal, files };
}

/** Reads the lines of a crontab as cron(8) describes them: five fields, the user, and the command; and its PATH. */
function readLines(path: string) {
  const text = readFileSync(path, "utf8");
  const [, search] = /^PATH=(.*)$/m.exec(text) ?? [];
  return [...text.matchAll(/^([\d*][^\s]*(?:\s+\S+){4})\s+root\s+(.*)$/gm)].map(
    ([, times = "", command = ""]) => ({
      cron: times.split(/\s+/).join(" "),
      command,
      path: search,
    }),
  );
}

test("all lines become schedules that run on each host, with the times, the PATH and the shell of cron", async ({
  namespace,
}) => {
  const { journal, files } = createRoot();
  const words = [...files, "--timezone", "UTC"];
  const imported = await namespace.execute(["schedule", "import", "crontab", ...words, "--yes"]);
  expect(imported).toExit(0, { stderr: /crontab:\d+: .*\(run-parts\): .* runs on every host/ });
  expect(await namespace.execute(["schedule", "diff", "crontab", ...words, "--prune"])).toExit(0, {
    stdout: "the schedules are up to date: nothing to change",
    stderr: /./,
  });

  const { kvs } = await namespace.store.readRange(namespace.keys.schedules());
  const definitions = kvs.map(({ value }) => JSON.parse(value) as Definition);
  const lines = files.flatMap(readLines);
  expect(lines).toHaveLength(9);
  const sort = (texts: string[]) => texts.sort();
  expect(
    sort(definitions.map(({ cron, command, env, on }) => JSON.stringify([cron, command, env?.PATH, on]))),
  ).toEqual(
    sort(
      lines.map(({ cron, command, path }) =>
        JSON.stringify([cron, ["/bin/sh", "-c", command], path, "every-host"]),
      ),
    ),
  );

  for (const host of ["web1", "web2"]) await startWorker(namespace, host);
  const ids = kvs.map(({ key }) => key.slice(namespace.keys.schedules().key.length));
  await waitUntil("all hosts have states", async () => {
    const states = await namespace.store.readRange(namespace.keys.dues());
    return states.kvs.filter(({ key }) => /\/web[12]$/.test(key)).length === 2 * ids.length;
  });
  expect(await namespace.execute(["schedule", "trigger", ...ids])).toExit(0, { stdout: /./ });
  const expected = ["web1", "web2"].flatMap((host) =>
    [
      "etc/cron.daily/job",
      "etc/cron.hourly/job",
      "etc/cron.monthly/job",
      "etc/cron.weekly/job",
      "sbin/e2scrub_all -A -r",
      "usr/lib/sysstat/debian-sa1 1 1",
      "usr/lib/sysstat/debian-sa1 60 2",
      "usr/lib/x86_64-linux-gnu/e2fsprogs/e2scrub_all_cron",
      "usr/sbin/invoke-rc.d anacron start",
    ].map((what) => `${host} ${what}`),
  );
  const journaled = await waitUntil("all have run", () => {
    const found = existsSync(journal) ? readFileSync(journal, "utf8").trim().split("\n") : [];
    const ran = new Set(found.map((line) => line.trim())); // one may have come due meanwhile, and have run twice
    return ran.size >= expected.length && [...ran];
  });
  expect(sort(journaled)).toEqual(sort(expected));
});
