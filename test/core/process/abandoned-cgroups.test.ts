/** Cgroups of commands whose guardians were killed. These tests need root, and a writable cgroup v2. */

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { compileProgram } from "../../../fixtures/process/compile-program.ts";
import {
  abandonCommand,
  canCreateCgroups,
  createCgroupHome,
  createOutput,
  findGuardians,
  WAIT_FOR_FILE,
} from "../../../fixtures/process/guarded-processes.ts";
import { launchRun, serveRun, startAgent } from "../../../fixtures/process/launcher.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const TIME_NAMESPACE = ["unshare", "--time", "--boottime", "100000", "--fork"];
const PID_NAMESPACE = ["unshare", "--pid", "--mount-proc", "--fork", "--kill-child"];
const NAMESPACES = [
  { name: "time", before: TIME_NAMESPACE },
  { name: "pid", before: PID_NAMESPACE },
].filter(({ before: [file = "", ...words] }) => spawnSync(file, [...words, "true"]).status === 0);

describe.runIf(canCreateCgroups)("a command without guardians", () => {
  test("is killed by a run that starts later, which says so", async () => {
    const home = createCgroupHome();
    const sleeper = await abandonCommand(home);
    const { stderr } = await home.start("exit 0").ended;
    expect(stderr.toString()).toMatch(
      /^signalbox: killed processes of the run \S+ in the cgroup signalbox-run-\S+: none of its guardians is alive\n$/,
    );
    await waitUntil("its end", () => sleeper.find() === undefined);
  });

  test("is killed by a run of an agent, and the launcher says so", async () => {
    const home = createCgroupHome();
    const sleeper = await abandonCommand(home);
    const agent = await startAgent();
    const run = launchRun(agent, ["true"], { before: home.before });
    await serveRun(await agent.accept(), "exit 0");
    expect((await run.ended).err).toMatch(/^signalbox: killed processes of the run /);
    await waitUntil("its end", () => sleeper.find() === undefined);
  });

  test.each(NAMESPACES)("is killed by a run in another $name namespace", async ({ before }) => {
    const home = createCgroupHome();
    const sleeper = await abandonCommand(home);
    await home.start("exit 0", {}, before).ended;
    await waitUntil("its end", () => sleeper.find() === undefined);
  });

  test("is killed soon, even if many others run there", async () => {
    const home = createCgroupHome();
    await occupy(home.path, 24);
    const sleeper = await abandonCommand(home);
    while (sleeper.find() !== undefined) await home.start("exit 0").ended; // each examines eight
  });
});

describe.runIf(canCreateCgroups)("a command with a guardian", () => {
  /** @param here  words before the runner of the command. @param there  those before a runner that starts later */
  async function testSurvival(here: readonly string[], there: readonly string[]) {
    const home = createCgroupHome();
    const out = createOutput();
    const run = home.start(`${WAIT_FOR_FILE}; exit 4`, { OUT: out.path }, here);
    await run.waitForEvent("started");
    expect((await home.start("exit 0", {}, there).ended).code).toBe(0);
    writeFileSync(out.path, "");
    expect(await run.ended).toExit(4);
  }

  test.each(NAMESPACES)("continues while others start in another $name namespace", ({ before }) =>
    testSurvival([], before),
  );

  test.each(NAMESPACES)("in another $name namespace continues while others start here", ({ before }) =>
    testSurvival(before, []),
  );

  test.each(["inner", "outer"] as const)(
    "that is killed, the %s one: others leave it to the one that is left",
    async (name) => {
      const home = createCgroupHome();
      const run = home.start("sleep 60");
      await run.waitForEvent("started");
      const guardians = findGuardians(run.mark, run.pid);
      killProcess(guardians[name === "inner" ? "outer" : "inner"], "SIGSTOP");
      killProcess(guardians[name], "SIGKILL");
      const { stderr } = await home.start("exit 0").ended;
      expect(stderr.toString()).toBe("");
      killProcess(guardians[name === "inner" ? "outer" : "inner"], "SIGCONT");
      expect(await run.ended).toExit(137);
    },
  );
});

/** Creates cgroups of runs that have a guardian: a process holds their locks. */
async function occupy(home: string, count: number) {
  for (let i = 0; i < count; i++) mkdirSync(join(home, `signalbox-run-1-${i.toString(16)}`));
  const script = `for kill in ${home}/signalbox-run-1-*/cgroup.kill; do
    exec {fd}>$kill && flock -n $fd || exit 1
  done; echo ready; exec sleep 1000`;
  const holder = spawn("bash", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(holder, "exit");
  onTestFinished(async () => {
    holder.kill("SIGKILL");
    await ended;
  });
  await Promise.race([once(holder.stdout, "data"), ended.then(() => Promise.reject(new Error("no locks")))]);
}

describe.runIf(canCreateCgroups && process.arch === "x64")("the system calls of a start", () => {
  const folder = createTestFolder(afterAll);

  async function countCalls(runs: number) {
    const home = createCgroupHome();
    await occupy(home.path, runs);
    const [agent, log] = [await startAgent(), join(folder, String(runs))];
    const counter = [compileProgram("interrupt-call", folder), log, "0", "0", "count"];
    const run = launchRun(agent, ["true"], { before: [...home.before, ...counter] });
    await serveRun(await agent.accept(), "exit 0");
    expect(await run.ended).toExit(0);
    return Number(readFileSync(log, "latin1"));
  }

  test("do not depend on the number of runs of the host", async () => {
    const few = await countCalls(10);
    expect(few).toBeGreaterThan(100);
    for (const runs of [100, 600]) expect(await countCalls(runs)).toBeLessThan(1.05 * few);
  });
});
