/** Guardians that a debugger holds: SIGCONT does not wake them, and SIGKILL leaves a zombie that only the debugger can reap. */
import { spawn } from "node:child_process";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { compileProgram } from "../../../fixtures/process/compile-program.ts";
import { FROM_LAUNCHER, TO_LAUNCHER } from "../../../fixtures/process/fake-agent.ts";
import {
  createMark,
  createSleeper,
  findGuardians,
  getFixturePath,
  isRoot,
  listRemains,
  startGuarded,
  startProcessTree,
  startRunner,
  WAYS,
  waitForSleepers,
  waitUntilDead,
} from "../../../fixtures/process/guarded-processes.ts";
import { sendDeadlines, startServed } from "../../../fixtures/process/launcher.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { GUARDIAN_EVENT, GUARDIAN_REQUEST } from "../../../src/core/process/guarded-command/wire.ts";

const program = compileProgram("hold-process", createTestFolder(afterAll));

/** Holds a process until the end of the test. */
async function hold(pid: number) {
  const debuggerProcess = spawn(program, [String(pid)], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void debuggerProcess.kill("SIGKILL"));
  const isHeld = await new Promise((resolve) => {
    debuggerProcess.stdout.once("data", () => resolve(true));
    debuggerProcess.once("exit", () => resolve(false));
  });
  expect(isHeld, "whether the process is held").toBe(true);
}

/** Where a debugger may hold processes that it did not start. */
const canHold = isRoot;

type Guardians = Record<"outer" | "inner", number>;
const NAMES = ["outer", "inner"] as const;
const findOther = (name: keyof Guardians) => (name === "outer" ? "inner" : "outer");

describe.runIf(canHold)("with a runner", () => {
  test.each(NAMES)(
    "the %s guardian held, the other one killed: all dead, and the runner is told why",
    async (name) => {
      const { mark, it, ...guardians } = await startProcessTree();
      await hold(guardians[name]);
      killProcess(guardians[findOther(name)], "SIGKILL");
      await it.gone;
      expect(listRemains(mark)).toEqual([]);
      const why = "its guardian was killed, or held by a debugger";
      expect(await it.exited).toMatchObject({ signal: 9, terminated: true, why });
      await it.release();
    },
  );

  test("the outer guardian held: a run ends, and what it has left behind on purpose continues", async () => {
    const mark = createMark();
    const daemon = createSleeper();
    const { it } = await startGuarded(mark, ["sh", "-c", `${daemon.words} & exit 5`]);
    await hold(findGuardians(mark).outer);
    expect(await it.exited).toMatchObject({ code: 5, terminated: false });
    await it.release();
    expect(daemon.find()).toBeDefined();
  });
});

describe.runIf(canHold).each(WAYS)("with a runner, $name", ({ before }) => {
  async function startHeld(name: keyof Guardians, order = {}) {
    const mark = createMark();
    const run = startRunner(mark, { command: [getFixturePath("process-tree.sh")], ...order }, {}, before);
    await run.waitForEvent("started");
    const guardians = findGuardians(mark, run.pid);
    await hold(guardians[name]);
    return { mark, run, guardians };
  }

  test.each(NAMES)("the %s guardian held, the runner killed: all dead", async (name) => {
    const { mark, run, guardians } = await startHeld(name);
    killProcess(run.pid, "SIGKILL");
    await waitUntilDead(mark, 15_000, name === "outer" ? [guardians.outer] : []);
  });

  test.each(NAMES)("the %s guardian held, the runner stopped: all dead by the deadline", async (name) => {
    const { mark, run, guardians } = await startHeld(name, { termIn: 3_000, killIn: 3_000 });
    killProcess(run.pid, "SIGSTOP");
    await waitUntilDead(mark, 15_000, [run.pid, guardians.outer, guardians.inner]);
  });
});

describe.runIf(canHold).each(WAYS)("with an agent, $name", ({ before }) => {
  async function startHeld(name: keyof Guardians) {
    const served = await startServed([getFixturePath("process-tree.sh")], undefined, { before });
    await waitForSleepers(served.run.mark, 8);
    await hold(served[name]);
    return served;
  }
  const listCommand = (mark: string) => listRemains(mark).filter((name) => name !== "launcher");

  test.each(NAMES)(
    "the %s guardian held, the other one killed: all dead, and the agent is told",
    async (name) => {
      const { run, connection, ...guardians } = await startHeld(name);
      killProcess(guardians[findOther(name)], "SIGKILL");
      const ended = await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
      expect(Number(ended.a)).toBe(9);
      expect(listCommand(run.mark)).toEqual([]);
      connection.send(TO_LAUNCHER.end, 125n);
      expect(await run.ended).toExit(125);
    },
  );

  test("the inner guardian held, the launcher killed: all dead, and the connection ends", async () => {
    const { run, connection } = await startHeld("inner");
    killProcess(run.pid, "SIGKILL");
    await connection.ended;
    await waitUntilDead(run.mark, 15_000);
  });

  test("the outer guardian held, the launcher killed: all dead, and the agent is told", async () => {
    const { run, connection } = await startHeld("outer");
    killProcess(run.pid, "SIGKILL");
    await connection.waitFor(GUARDIAN_EVENT.gone);
    expect(listRemains(run.mark)).toEqual([]);
  });

  test("the inner guardian held: all dead by a deadline that it has received", async () => {
    const { run, connection, boot, inner } = await startServed(
      [getFixturePath("process-tree.sh")],
      undefined,
      {
        before,
      },
    );
    await waitForSleepers(run.mark, 8);
    sendDeadlines(connection, boot, { termIn: 10_000, killIn: 10_000 });
    connection.send(GUARDIAN_REQUEST.ping);
    await connection.waitFor(GUARDIAN_EVENT.pong);
    await hold(inner);
    await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
    expect(listCommand(run.mark)).toEqual([]);
    connection.send(TO_LAUNCHER.end, 125n);
    expect(await run.ended).toExit(125);
  });
});
