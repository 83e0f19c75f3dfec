import { spawn } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync } from "node:fs";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFolder, startAgent, type TestAgent } from "../../../../fixtures/process/agent-socket.ts";
import { addon, encodeCall } from "../../../../fixtures/process/fake-launcher.ts";
import {
  clock,
  createMark,
  createOutput,
  findGuardians,
  isRoot,
  killTogether,
  listRemains,
  startSleep,
  waitForSleepers,
} from "../../../../fixtures/process/guarded-processes.ts";
import { launch } from "../../../../fixtures/process/launcher.ts";
import { killProcess } from "../../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import { addMs, subtractTime, toBootNanos, toBootTime } from "../../../../src/core/base/clock.ts";
import { EXIT } from "../../../../src/core/base/errors.ts";
import {
  createLaunchedCommandHost,
  LaunchedGuardian,
} from "../../../../src/core/process/agent-socket/launched-command.ts";
import { AGENT_REQUEST, LAUNCHER_EVENT } from "../../../../src/core/process/agent-socket/wire.ts";
import type { CommandSpec } from "../../../../src/core/process/guarded-command/command.ts";
import { readProcess } from "../../../../src/core/process/guarded-command/processes.ts";
import {
  encodeFrame,
  GUARDIAN_EVENT,
  GUARDIAN_REQUEST,
  WIRE_VERSION,
} from "../../../../src/core/process/guarded-command/wire.ts";

const HELLO = encodeFrame(GUARDIAN_EVENT.hello, toBootNanos(addon.readBootTime()), WIRE_VERSION);
const encodePlace = (inner: number, outer: number, cgroup = "") =>
  encodeFrame(GUARDIAN_EVENT.place, BigInt(inner), BigInt(outer), Buffer.from(cgroup));

/** Encodes SEEN for processes that are alive. */
function encodeSeen(pids: readonly number[]) {
  const entries = pids.map((pid) => {
    const entry = Buffer.alloc(16);
    entry.writeUInt32LE(pid, 0);
    entry.writeBigUInt64LE(BigInt(readProcess(pid)?.born ?? 0), 8);
    return entry;
  });
  return encodeFrame(GUARDIAN_EVENT.seen, 0n, 0n, Buffer.concat(entries));
}

/** What is ordered of a command that no guardian of a test starts. */
const EMPTY: CommandSpec = { file: "x", args: [], env: {} };
const ports = { clock, readBootTime: addon.readBootTime };
const inTime = (ms = 20_000) => ({ termAt: addMs(clock.now(), ms), killAt: addMs(clock.now(), ms + 1000) });

async function prepare(agent: TestAgent, command: [string, ...string[]], spec: Partial<CommandSpec> = {}) {
  const { launcher, call } = await agent.call();
  const [file, ...args] = command;
  const it = await createLaunchedCommandHost(call, ports).prepare({ file, args, env: {}, ...spec });
  return { launcher, call, it };
}

/** Starts a command under real guardians, which a fake launcher forks. */
async function startGuarded(script: string) {
  const mark = createMark();
  const { launcher, it } = await prepare(await startAgent(), ["sh", "-c", script]);
  it.arm(inTime());
  const starting = it.start({ SIGNALBOX_RUN: mark });
  await launcher.startGuardians({ TEST_MARK: mark });
  await starting;
  return { mark, it, ...findGuardians(mark) };
}

/** Orders a command whose guardians are frames that a test sends. */
async function startScripted(options: Partial<CommandSpec> = {}) {
  const { launcher, call, it } = await prepare(await startAgent(), ["job", "word"], options);
  it.arm(inTime());
  const starting = it.start({ A: "1" });
  starting.catch(() => {});
  await launcher.receive(AGENT_REQUEST.guard);
  return { launcher, call, it, starting };
}

// These tests run as root, and a defect may kill whatever they report: they report no process that they have not started,
// least of all process 1, from which all others descend.
const asUser = (uid: number) => ["setpriv", `--reuid=${uid}`, "--clear-groups"];

const waitForExec = (pid: number, name = "sleep") =>
  waitUntil("the exec", () => readProcess(pid)?.name === name);

async function stop(...pids: number[]) {
  for (const pid of pids) killProcess(pid, "SIGSTOP");
  await waitUntil("the stop", () => pids.every((pid) => readProcess(pid)?.isStopped));
}

describe("under real guardians", () => {
  test("stopped guardians are woken", async () => {
    const { it, outer, inner } = await startGuarded("exec sleep 30");
    await stop(outer, inner);
    it.terminate(addMs(clock.now(), 1000));
    expect(await it.exited).toMatchObject({ signal: 15, terminated: true });
    killProcess(outer, "SIGCONT");
  });

  test("both guardians killed at once: all dead, by the agent's hand", async () => {
    const { mark, it, outer, inner } = await startGuarded("setsid sleep 1000 & sleep 1000");
    await waitForSleepers(mark, 2);
    killTogether(outer, inner);
    await it.gone;
    expect(listRemains(mark)).toEqual([]);
    expect(await it.exited).toMatchObject({ signal: 9, terminated: true });
  });
});

describe("requests", () => {
  test("nothing is ordered before the first deadline, and a call that is released has no guardians", async () => {
    const { launcher, call, it } = await prepare(await startAgent(), ["true"]);
    await it.release();
    call.end(75);
    await launcher.waitForClose();
    expect(launcher.frames.map(({ kind }) => kind)).toEqual([AGENT_REQUEST.end]);
  });

  test("follow GUARD at once: the guardians have the clock of the caller", async () => {
    const { launcher, it } = await startScripted({ removed: ["SECRET", "TOKEN"] });
    it.signal("SIGUSR2");
    await launcher.receive(GUARDIAN_REQUEST.signal);
    const { arm, environment, words, start } = GUARDIAN_REQUEST;
    expect(launcher.frames.map(({ kind }) => kind)).toEqual([arm, environment, words, start]);
    const blocks = launcher.frames.map(({ block }) => block.toString());
    expect(blocks).toEqual(["", "SECRET\0TOKEN\0", "job\0word\0", "A=1\0"]);
    const ahead = subtractTime(toBootTime(Number(launcher.frames[0]?.a ?? 0n) / 1e6), addon.readBootTime());
    expect(ahead).toBeLessThanOrEqual(20_000);
    expect(ahead).toBeGreaterThan(0);
  });

  test("a signal that the guardian has passed on is not sent again", async () => {
    const { launcher, call, it } = await startScripted();
    call.onSignal(({ name }) => it.signal(name));
    launcher.send(HELLO, encodeFrame(LAUNCHER_EVENT.signalled, 1n, 1n));
    launcher.send(encodeFrame(LAUNCHER_EVENT.signalled, 10n, 0n));
    expect((await launcher.receive(GUARDIAN_REQUEST.signal)).a).toBe(10n);
    launcher.send(encodeFrame(GUARDIAN_EVENT.gone)); // answered by RELEASE
    await launcher.receive(GUARDIAN_REQUEST.release);
    expect(launcher.frames.filter(({ kind }) => kind === GUARDIAN_REQUEST.signal)).toEqual([]);
  });

  test("a variable to remove needs a name; a word has no NUL", async () => {
    const agent = await startAgent();
    for (const removed of ["", "A=B", "A\0"])
      await expect(prepare(agent, ["true"], { removed: [removed] })).rejects.toThrow(RangeError);
    await expect(prepare(agent, ["a\0"])).rejects.toMatchObject({ exitCode: EXIT.notExecutable });
  });
});

describe("the end", () => {
  test("guardians that cannot guard there", async () => {
    const { launcher, starting } = await startScripted();
    launcher.send(encodeFrame(LAUNCHER_EVENT.guardiansEnded, 5n << 8n));
    await expect(starting).rejects.toMatchObject({ exitCode: EXIT.config });
  });

  test("guardians of another version", async () => {
    const { launcher, starting } = await startScripted();
    launcher.send(encodeFrame(GUARDIAN_EVENT.hello, 1n, 2n));
    await expect(starting).rejects.toMatchObject({ exitCode: EXIT.config });
    await launcher.waitForClose();
  });

  test("a connection that ends before the start", async () => {
    const { launcher, call, it } = await prepare(await startAgent(), ["true"]);
    launcher.socket.destroy();
    await call.closed;
    it.arm(inTime());
    await expect(it.start({})).rejects.toMatchObject({ exitCode: EXIT.lost });
    await it.release();
  });

  test("a connection that ends with the start", async () => {
    const { launcher, starting } = await startScripted();
    launcher.socket.destroy();
    await expect(starting).rejects.toMatchObject({ exitCode: EXIT.lost });
  });

  test("after GONE, the end of the connection is no loss", async () => {
    const { launcher, it, starting } = await startScripted();
    const exited = encodeFrame(GUARDIAN_EVENT.exited, 3n << 8n);
    launcher.send(HELLO, encodeFrame(GUARDIAN_EVENT.started, 5n), exited, encodeFrame(GUARDIAN_EVENT.gone));
    await it.gone;
    launcher.socket.destroy();
    expect(await starting).toBe(5);
    expect(await it.exited).toMatchObject({ code: 3, terminated: false });
    await it.release();
  });
});

describe("a resumed call", () => {
  async function resume(...events: Buffer[]) {
    const agent = await startAgent();
    const launcher = agent.connect();
    const options = { pid: process.ppid, state: 2n, note: "n", connectionNumber: 1n };
    launcher.send(encodeCall(options), ...events);
    const call = await waitUntil("a call", () => agent.calls[0]);
    expect(call.peer.pid).toBe(process.pid);
    expect(call.request).toMatchObject({ state: "running", pid: process.ppid });
    return { launcher, it: await createLaunchedCommandHost(call, ports, "run-1").prepare(EMPTY) };
  }

  test("has a command that runs, and gets deadlines", async () => {
    const { launcher, it } = await resume(HELLO, encodePlace(startSleep().pid, 0));
    it.arm(inTime());
    await launcher.receive(GUARDIAN_REQUEST.arm);
    launcher.send(encodeFrame(GUARDIAN_EVENT.exited, 0n, 1n));
    expect(await it.exited).toMatchObject({ code: 0, leftovers: true });
    launcher.send(encodeFrame(GUARDIAN_EVENT.gone));
    await it.gone;
    await launcher.receive(GUARDIAN_REQUEST.release);
    expect(launcher.frames).toEqual([]); // no GUARD, no START
  });

  test("may report a command that has ended", async () => {
    const { it } = await resume(
      HELLO,
      encodeFrame(GUARDIAN_EVENT.started, 5n),
      encodeFrame(GUARDIAN_EVENT.exited, 9n, 2n),
      encodeFrame(GUARDIAN_EVENT.gone),
    );
    expect(await it.exited).toMatchObject({ signal: 9, terminated: true });
    await it.gone;
  });

  test("whose guardians and launcher die loses its command, also if it was never armed", async () => {
    const victim = startSleep();
    const { launcher, it } = await resume(HELLO, encodeSeen([victim.pid]));
    launcher.socket.end();
    expect(await victim.ended).toEqual([null, "SIGKILL"]);
    await it.gone;
    expect(await it.exited).toMatchObject({ signal: 9, terminated: true });
  });
});

describe.runIf(isRoot)("a hostile client of another user, and an agent of root", () => {
  /** A process of another user that makes a call, then sends what it is told, and ends when it is told. */
  async function callAsUser(uid: number) {
    const agent = await startAgent();
    const [file = "", ...words] = [...asUser(uid), process.execPath, "-e", CLIENT, agent.path];
    const client = spawn(file, words, {
      stdio: ["pipe", "inherit", "inherit"],
      env: { CALL: encodeCall().toString("hex") },
    });
    onTestFinished(() => void client.kill("SIGKILL"));
    const call = await waitUntil("the call", () => agent.calls[0]);
    expect(call.peer.uid).toBe(uid);
    return {
      call,
      client,
      tell: (...frames: Buffer[]) => client.stdin.write(`${Buffer.concat(frames).toString("hex")}\n`),
    };
  }
  const CLIENT = `
    const call = Buffer.from(process.env.CALL, "hex");
    call.writeUInt32LE(process.pid, 24);
    const socket = require("net").connect(process.argv[1]).resume();
    socket.write(call);
    require("readline").createInterface({ input: process.stdin })
      .on("line", (hex) => socket.write(Buffer.from(hex, "hex")));
  `;

  test("kills and wakes only processes of that user that can be its guardians", async () => {
    const { call, client, tell } = await callAsUser(12_345);
    const [foreign, own] = [startSleep(), startSleep(asUser(12_345))];
    await waitForExec(own.pid);
    call.guard();
    for (const { pid } of [foreign, own]) {
      const guardian = new LaunchedGuardian(call, clock, () => {});
      tell(encodePlace(pid, pid));
      await waitUntil("the place", () => guardian.pid === pid);
      guardian.setInnerPid(pid);
      await stop(pid);
      guardian.wake();
      guardian.kill();
      await guardian.ended;
      expect(readProcess(pid)).toMatchObject({ isStopped: true, isDead: false });
    }
    // Not the launcher itself either, which is not below the launcher.
    for (const pid of [2 ** 40, client.pid ?? 0]) {
      const guardian = new LaunchedGuardian(call, clock, () => {});
      guardian.setInnerPid(pid);
      guardian.kill();
      await guardian.ended;
    }
    expect(readProcess(client.pid ?? 0)).toMatchObject({ isDead: false });
  });

  test("kills only processes of that user when its guardians are lost", async () => {
    const { call, client, tell } = await callAsUser(12_345);
    const it = await createLaunchedCommandHost(call, ports).prepare(EMPTY);
    it.arm(inTime());
    const run = createMark();
    const starting = it.start({ SIGNALBOX_RUN: run });
    const [foreign, own] = [startSleep(["env", `SIGNALBOX_RUN=${run}`]), startSleep(asUser(12_345))];
    for (const { pid } of [own, foreign]) await waitForExec(pid);
    const folder = `${createFolder()}/signalbox-1-2-3`;
    mkdirSync(folder);
    tell(
      HELLO,
      encodePlace(own.pid, foreign.pid, folder),
      encodeSeen([foreign.pid, own.pid]),
      encodeFrame(GUARDIAN_EVENT.started, 5n),
    );
    await starting;
    client.kill("SIGKILL");
    expect(await own.ended).toEqual([null, "SIGKILL"]);
    await it.gone;
    expect(readProcess(foreign.pid)).toMatchObject({ isDead: false });
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("guardians that do not answer", () => {
  test("are killed if they are below the launcher", async () => {
    const { call } = await (await startAgent()).call();
    const guardian = new LaunchedGuardian(call, clock, () => {});
    guardian.send(encodeFrame(GUARDIAN_REQUEST.ping));
    const [below, other] = [startSleep(), startSleep()];
    guardian.setInnerPid(below.pid);
    guardian.kill(); // this process is the launcher
    expect(await below.ended).toEqual([null, "SIGKILL"]);
    expect(await guardian.ended).toEqual({ code: undefined }); // although the launcher does not say so
    expect(readProcess(other.pid)).toMatchObject({ isDead: false });
  });

  test("are not there yet, as the launcher is stopped: it starts nothing later", async () => {
    const [agent, output] = [await startAgent(), createOutput()];
    const words = ["run", "--lock", "x", "--", "true"];
    const run = launch(words, { env: { SIGNALBOX_AGENT_SOCKET: agent.path } });
    const call = await waitUntil("a call", () => agent.calls[0]);
    call.accept();
    call.sendNote("note 1", 10_000);
    call.writeOutput(1, "noted\n");
    await run.waitForOutput();
    killProcess(run.pid, "SIGSTOP");
    const spec = { file: "sh", args: ["-c", `echo late >${output.path}`], env: {} };
    const it = await createLaunchedCommandHost(call, ports).prepare(spec);
    it.arm(inTime());
    it.start({}).catch(() => {});
    it.terminate(clock.now()); // as after a reset
    await it.gone;
    call.end(EXIT.lost);
    killProcess(run.pid, "SIGCONT");
    expect(await run.ended).toMatchObject({ code: EXIT.lost });
    expect(output.lines()).toEqual([]);
  });

  test("are found by their name when the launcher has ended", async () => {
    const launcher = startSleep();
    launcher.child.kill("SIGKILL");
    await launcher.ended;
    const agent = await startAgent();
    agent.connect().sendCall({ pid: launcher.pid, state: 2n });
    const call = await waitUntil("a call", () => agent.calls[0]);
    const folder = createFolder();
    copyFileSync("/bin/sleep", `${folder}/sbxgd`);
    const [named, other] = [startSleep([], `${folder}/sbxgd`), startSleep()];
    await waitForExec(named.pid, "sbxgd");
    await waitForExec(other.pid);
    for (const { pid } of [named, other]) {
      const guardian = new LaunchedGuardian(call, clock, () => {});
      guardian.setInnerPid(pid);
      guardian.kill();
      await guardian.ended;
    }
    expect(await named.ended).toEqual([null, "SIGKILL"]);
    expect(readProcess(other.pid)).toMatchObject({ isDead: false });
  });
});
