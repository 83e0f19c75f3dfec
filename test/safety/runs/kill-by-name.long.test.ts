/** Killing by name, of a job or of signalbox, ends the runner, and with it all processes of the job. */

import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect } from "vitest";
import type { TestProcess } from "../../../fixtures/cluster/process-group.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { SHORT_SESSIONS, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { createSleeper, listCommandLines } from "../../../fixtures/process/guarded-processes.ts";
import { GUARDIAN, killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitForDeath } from "../../../fixtures/process/wait-for-death.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** A job whose children have other names, sessions of their own, and no word of it in their environment. */
function createJob(children: string): { path: string; name: string } {
  const name = `nightly-${Math.random().toString(36).slice(2)}.sh`;
  const path = join(dirname(cluster.createPath("")), name);
  writeFileSync(path, `#!/bin/sh\nsetsid env -i ${children} &\necho up\nwait\n`);
  chmodSync(path, 0o755);
  return { path, name };
}

/** As `pkill -9 -f PATTERN` and `pkill -9 PATTERN` do together, among the processes of one run. */
function killAllNamed(run: TestProcess, pattern: string): string[] {
  const names = new Map(listMarkedProcesses(run.mark).map(({ pid, name }) => [pid, name]));
  const formatProcess = (pid: number, cmdline: string) =>
    `${names.get(pid)}\n${cmdline.replaceAll("\0", " ")}`;
  const hit = listCommandLines().filter(
    ({ pid, cmdline }) => names.has(pid) && formatProcess(pid, cmdline).includes(pattern),
  );
  for (const { pid } of hit) killProcess(pid, "SIGKILL");
  return hit.map(({ cmdline }) => cmdline.replaceAll("\0", " "));
}

async function startJob(namespace: TestNamespace, words: (path: string) => string[]) {
  const sleeper = createSleeper();
  const { path, name } = createJob(sleeper.words);
  const run = namespace.startRun("--lock job", words(path));
  await run.waitForOutput("up");
  await waitUntil("its child", sleeper.find);
  return { run, name, sleeper };
}

/** What a user would type to end a job, and which of its words that is. */
const PATTERNS: [what: string, pattern: (name: string) => string][] = [
  ["its name", (name) => name],
  ["its secret", () => "--password=swordfish"],
  ["signalbox", () => "signalbox"],
  ["its lock", () => "--lock job"],
];

/** Kills a job whose runner shows this, and waits until the next one has its lock. */
async function testKill(pattern: (name: string) => string): Promise<void> {
  const namespace = cluster.createNamespace({ env: SHORT_SESSIONS });
  const { run, name, sleeper } = await startJob(namespace, (path) => [path, "--password=swordfish"]);
  const next = namespace.startRun("--lock job --wait", "sh -c 'echo up; exec sleep 60'");
  await namespace.waitForTicket(next, "waiting", "job");
  expect(killAllNamed(run, pattern(name)).length, "the runner at least").toBeGreaterThan(0);
  await next.waitForOutput("up");
  expect(sleeper.find(), "what the job has started").toBeUndefined();
  await waitForDeath(run.mark, 5_000);
  await next.end();
}

describe("SIGKILL of everything that shows", () => {
  test.for(PATTERNS)("%s: nothing lives on when the lock is free", ([, pattern]) => testKill(pattern));

  test("guardians show no word of the run, at no moment of their start", async ({ namespace }) => {
    const name = `nightly-${Math.random().toString(36).slice(2)}`;
    const run = namespace.startRun("--lock job", ["sh", "-c", "echo up; exec sleep 60", name]);
    const words = new Set<string>();
    const look = () => {
      for (const { pid, cmdline } of listRunCommandLines(run))
        if (pid !== run.pid) words.add(cmdline.replaceAll("\0", " ").trim());
    };
    const started = run.waitForOutput("up").then(() => true);
    while (!(await Promise.race([started, new Promise((next) => setImmediate(next, false))]))) look();
    look();
    const runners = listCommandLines()
      .find(({ pid }) => pid === run.pid)
      ?.cmdline.replaceAll("\0", " ")
      .trim();
    words.delete(runners ?? ""); // a process between its fork and its exec shows what its parent shows
    expect([...words].filter((line) => line.includes(name)).every((line) => line.startsWith("sh -c"))).toBe(
      true,
    );
    expect([...words]).toContain(GUARDIAN);
    await run.end();
  });
});

function listRunCommandLines(run: TestProcess) {
  const ours = new Set(listMarkedProcesses(run.mark).map(({ pid }) => pid));
  return listCommandLines().filter(({ pid }) => ours.has(pid));
}

describe("guardians that are killed before the command starts", () => {
  test.each(["both", "the outer one", "the inner one"])(
    "%s: 125, nothing ran, the lock is free",
    async (which) => {
      const namespace = cluster.createNamespace();
      const holder = await namespace.startHolder("--lock job");
      const run = namespace.startRun("--lock job --wait", "echo ran");
      await namespace.waitForTicket(run, "waiting", "job");
      const guards = await waitUntil("guardians", () => {
        const all = listMarkedProcesses(run.mark).filter(({ name }) => name === GUARDIAN);
        return all.length === 2 && all;
      });
      const outer = guards.find(({ parent }) => parent === run.pid)?.pid ?? 0;
      const inner = guards.find(({ parent }) => parent === outer)?.pid ?? 0;
      if (which !== "the inner one") killProcess(outer, "SIGKILL");
      if (which !== "the outer one") killProcess(inner, "SIGKILL");
      await waitUntil(
        "no guardian",
        () => !listMarkedProcesses(run.mark).some(({ name }) => name === GUARDIAN),
      );
      await holder.end();
      const { code, stdout, stderr } = await run.ended;
      expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
      expect(stderr).toMatch(
        "was not started: its guardian was killed before; none of its processes is left; run it again",
      );
      expect(stderr).not.toMatch("defect");
      expect(await namespace.readQueue("job")).toEqual([]);
    },
  );
});
