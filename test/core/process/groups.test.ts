/** The cgroup of a command. These tests need root, and a writable cgroup v2. */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  canCreateCgroups,
  canHideCgroups,
  createCgroupHome,
  createMark,
  createOutput,
  createSleeper,
  findGuardians,
  getFixturePath,
  killTogether,
  NO_CGROUPS,
  readCgroupPath,
  startRunner,
  WAIT_FOR_FILE,
  waitUntilDead,
} from "../../../fixtures/process/guarded-processes.ts";
import { killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { locateNative } from "../../../src/core/process/native/locate.ts";

const NOBODY = 65_534;

describe.runIf(canCreateCgroups)("a command's cgroup", () => {
  test("is below the runner's own, holds the command and nobody else, and goes with it", async () => {
    const { path, start, groups } = createCgroupHome();
    const out = createOutput();
    const run = start(WAIT_FOR_FILE, { OUT: out.path });
    const { pid = 0 } = await run.waitForEvent("started");
    const [group = ""] = groups();
    expect(readCgroupPath(pid)).toBe(join(path, group));
    const { outer, inner } = findGuardians(run.mark, run.pid);
    expect([run.pid, outer, inner].map(readCgroupPath)).toEqual([path, path, path]);
    writeFileSync(out.path, "");
    expect(await run.ended).toExit(0);
    expect(groups()).toEqual([]);
  });

  test("gives back what is left behind on purpose", async () => {
    const { path, start, groups } = createCgroupHome();
    const daemon = createSleeper();
    expect((await start(`setsid ${daemon.words} >/dev/null 2>&1 &`).ended).code).toBe(0);
    expect(readCgroupPath(await waitUntil("the daemon", daemon.find))).toBe(path);
    expect(groups()).toEqual([]);
  });

  test("all three killed at the same instant: the next guardian there ends what is left", async () => {
    const { start, groups } = createCgroupHome();
    const daemon = createSleeper();
    const run = start(`setsid env -i ${daemon.words} >/dev/null 2>&1 & sleep 60`);
    await run.waitForEvent("started");
    await waitUntil("a daemon", daemon.find);
    const { outer, inner } = findGuardians(run.mark, run.pid);
    killTogether(inner, outer, run.pid);
    await waitUntil("their death", () => listMarkedProcesses(run.mark).every(({ name }) => name === "sleep"));
    expect(daemon.find(), "nobody is left to end it").toBeDefined();
    const [group] = groups();
    await start("exit 0").ended;
    await waitUntil("its end", () => daemon.find() === undefined);
    await start("exit 0").ended;
    expect(groups()).not.toContain(group);
  });

  test("what others guard is left alone by the next guardian", async () => {
    const { start, groups } = createCgroupHome();
    const out = createOutput();
    const run = start(`${WAIT_FOR_FILE}; exit 4`, { OUT: out.path });
    await run.waitForEvent("started");
    expect((await start("exit 0").ended).code).toBe(0);
    expect(groups()).toHaveLength(1);
    writeFileSync(out.path, "");
    expect(await run.ended).toExit(4);
    expect(groups()).toEqual([]);
  });

  test("of a run inside a run is below that one's, and ends with it", async () => {
    const { before, start, groups } = createCgroupHome();
    const deep = createSleeper();
    const mark = createMark();
    const inside = {
      command: ["sh", "-c", `echo up >&2; exec ${deep.words}`],
      termIn: 60_000,
      killIn: 61_000,
    };
    const words = [process.execPath, getFixturePath("runner.ts"), JSON.stringify(inside)];
    const run = startRunner(
      mark,
      { command: ["sh", "-c", `"$@" 3>/dev/null & sleep 60`, "sh", ...words] },
      {},
      before,
    );
    const pid = await waitUntil("the deep one", deep.find);
    await waitUntil("its cgroup", () => readCgroupPath(pid).split("/signalbox-").length === 3);
    killProcess(run.pid, "SIGUSR1");
    await run.ended;
    expect(deep.find()).toBeUndefined();
    await waitUntilDead(mark, 10_000);
    await start("exit 0").ended; // the outer run's guardian may have been killed too
    expect(groups()).toEqual([]);
  });

  test("is made by an ordinary user too, where the cgroup is delegated; others' processes in it are ended as well", async () => {
    const { path, before, groups } = createCgroupHome();
    const guardian = createOutput().path;
    execFileSync("cp", [locateNative("guardian"), guardian]);
    chmodSync(dirname(guardian), 0o755);
    for (const name of ["", "cgroup.procs", "cgroup.subtree_control"])
      chownSync(join(path, name), NOBODY, NOBODY);
    const user = [...before, "setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
    const run = startRunner(createMark(), { command: ["sleep", "60"], guardian }, {}, user);
    const { pid = 0 } = await run.waitForEvent("started");
    expect(readCgroupPath(pid)).toBe(join(path, groups()[0] ?? "no cgroup"));
    const others = spawn("sleep", ["60"]);
    const ended = once(others, "exit");
    writeFileSync(join(readCgroupPath(pid), "cgroup.procs"), `${others.pid}`);
    killProcess(run.pid, "SIGUSR1");
    expect(await run.ended).toExit(143);
    expect(await ended).toEqual([null, "SIGKILL"]);
    expect(groups()).toEqual([]);
  });
});

test.runIf(canHideCgroups)(
  "where none may be made, the command runs all the same, in the runner's own",
  async () => {
    const out = createOutput();
    const command: [string, ...string[]] = ["sh", "-c", "cat /proc/self/cgroup >$OUT"];
    const run = startRunner(createMark(), { command }, { OUT: out.path }, NO_CGROUPS);
    expect(await run.ended).toExit(0);
    expect(out.lines().join("\n")).toBe(readFileSync("/proc/self/cgroup", "latin1").trim());
  },
);
