/** Agents that end, and others that take their place, while launchers wait and while commands run. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  type AgentConnection,
  type FakeAgent,
  FROM_LAUNCHER,
  STAGE,
  TO_LAUNCHER,
} from "../../../fixtures/process/fake-agent.ts";
import { createOutput, listRemains, WAIT_FOR_FILE } from "../../../fixtures/process/guarded-processes.ts";
import {
  type Deadlines,
  readBootTime,
  sendDeadlines,
  serveEnd,
  serveRun,
  serveStart,
  startCall,
  startServed,
} from "../../../fixtures/process/launcher.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  encodeFrame,
  encodeWords,
  GUARDIAN_EVENT,
  GUARDIAN_REQUEST,
} from "../../../src/core/process/guarded-command/wire.ts";

const LOST = /^signalbox: the agent has ended.*; the lock is freed when its session expires\n$/;

/** A launcher that waits, with a note. */
async function startWaiting(note = "place 1", retryMs = 10_000n) {
  const waiting = await startCall();
  const { run, connection } = waiting;
  connection.send(TO_LAUNCHER.accepted, 1n);
  connection.send(TO_LAUNCHER.note, retryMs, 0n, "earlier");
  connection.send(TO_LAUNCHER.note, retryMs, 0n, note);
  connection.send(TO_LAUNCHER.write, 2n, 0n, "noted\n");
  await once(run.process.stderr, "data"); // it has read the note
  return waiting;
}

/** Ends an agent, and starts another one at once. */
async function restart(agent: FakeAgent) {
  agent.stop();
  await agent.start();
  return agent.accept();
}

test("a waiting launcher calls the next agent, with the last note, and is served by it", async () => {
  const { agent, run, call } = await startWaiting();
  const second = await restart(agent);
  expect(await second.waitForCall()).toMatchObject({
    note: "place 1",
    stage: STAGE.waits,
    connection: 1,
    words: call.words,
    settings: call.settings,
    pid: call.pid,
    parent: call.parent,
    folder: call.folder,
  });
  second.send(TO_LAUNCHER.accepted, 1n);
  const third = await restart(agent); // again, without another note
  expect(await third.waitForCall()).toMatchObject({ note: "place 1", stage: STAGE.waits, connection: 2 });
  await serveRun(third, "exit 4");
  expect(await run.ended).toMatchObject({ code: 4, err: "noted\n" });
});

test("no next agent: the launcher falls back with its note, after the time that the note gives", async () => {
  const { agent, run } = await startWaiting("place 2", 300n);
  const before = readBootTime();
  agent.stop();
  const { out } = await run.ended;
  expect(measureSince(before), "ms").toBeGreaterThanOrEqual(290);
  expect(out).toMatch(/^fallback=the agent has ended, and none has replaced it\ncall=place 2\n/);
});

test("a note may give any time, also one that is longer than the clock can count", async () => {
  const { agent, run } = await startWaiting("place 2", 2n ** 62n);
  const called = restart(agent).then((next) => next.waitForCall());
  expect(await Promise.race([called, run.ended])).toMatchObject({ note: "place 2", stage: STAGE.waits });
});

test("the next agent declines a waiting call, or does not answer: the launcher falls back with its note", async () => {
  const { agent, run } = await startWaiting("place 3");
  const second = await restart(agent);
  await second.waitForCall();
  second.send(TO_LAUNCHER.declined, 0n, 0n, "unknown");
  expect((await run.ended).out).toMatch(/^fallback=unknown\ncall=place 3\n/);
  const silent = await startWaiting("place 4", 500n);
  await (await restart(silent.agent)).waitForCall();
  expect((await silent.run.ended).out).toMatch(/^fallback=the agent does not answer in time\ncall=place 4\n/);
});

test("agents that end each connection at once do not keep a launcher for ever", async () => {
  const { agent, run } = await startWaiting("place 5", 500n);
  agent.stop();
  await agent.start();
  let open = true;
  const closeAll = async () => {
    while (open) (await agent.accept()).close();
  };
  void closeAll();
  expect((await run.ended).out).toMatch(/call=place 5\n/);
  open = false;
});

test("a signal while no agent is there ends a waiting launcher", async () => {
  const { agent, run } = await startWaiting("place 6");
  agent.stop();
  run.process.kill("SIGTERM");
  expect(await run.ended).toMatchObject({ code: 143, out: "" });
});

test("a caller who has sent a signal gets no fallback", async () => {
  const { run, connection } = await startWaiting("place 7", 100n);
  run.process.kill("SIGINT");
  await connection.waitFor(FROM_LAUNCHER.signalled);
  connection.close();
  expect(await run.ended).toMatchObject({ code: 130, out: "" });
});

test("between GUARD and START: nothing was started, so the launcher calls again as one that waits", async () => {
  const { agent, run, connection } = await startWaiting("place 8");
  connection.send(TO_LAUNCHER.guard);
  await connection.waitFor(GUARDIAN_EVENT.place);
  connection.send(GUARDIAN_REQUEST.words, 0n, 0n, "false\0");
  const second = await restart(agent);
  expect(await second.waitForCall()).toMatchObject({ note: "place 8", stage: STAGE.waits, connection: 1 });
  await serveRun(second, "exit 6");
  expect(await run.ended).toExit(6);
});

test("a START that is read when its agent is gone starts nothing, and the launcher calls again", async () => {
  const { agent, run, connection } = await startWaiting("place 9");
  connection.send(TO_LAUNCHER.guard);
  const { a: boot } = await connection.waitFor(GUARDIAN_EVENT.hello);
  const { a: inner, b: outer } = await connection.waitFor(GUARDIAN_EVENT.place);
  sendDeadlines(connection, boot, { termIn: 20_000, killIn: 21_000 });
  const all = [run.pid, Number(outer), Number(inner)];
  for (const pid of all) killProcess(pid, "SIGSTOP");
  const out = createOutput();
  for (const frame of encodeWords(["sh", "-c", `echo twice >>${out.path}`])) connection.sendBytes(frame);
  connection.send(GUARDIAN_REQUEST.start);
  agent.stop();
  await agent.start();
  for (const pid of all.reverse()) killProcess(pid, "SIGCONT");
  const second = await agent.accept();
  expect(await second.waitForCall()).toMatchObject({ note: "place 9", stage: STAGE.waits, connection: 1 });
  await serveRun(second, "exit 6");
  expect(await run.ended).toExit(6);
  expect(out.lines()).toEqual([]);
});

/** The first bytes of a frame, as of an agent that dies while it sends. */
const HALF_FRAME = encodeFrame(GUARDIAN_REQUEST.arm, 1n, 1n).subarray(0, 9);

test("half a frame of an agent that has ended is no part of what the next one sends to a waiting launcher", async () => {
  const { agent, run, connection } = await startWaiting("place 10");
  connection.sendBytes(HALF_FRAME);
  await serveRun(await restart(agent), "exit 6");
  expect(await run.ended).toExit(6);
});

/** Serves a command that by default waits for `letEnd`, and ends with 5. */
async function startPatient(script = `${WAIT_FOR_FILE}; exit 5`, deadlines?: Deadlines) {
  const out = createOutput();
  const served = await startServed(["sh", "-c", script], deadlines, { env: { OUT: out.path } });
  return { ...served, letEnd: () => writeFileSync(out.path, "") };
}

const DEAF = "trap '' TERM; sleep 30; sleep 30";
/** Milliseconds since an instant of the boot clock. */
const measureSince = (boot: bigint) => Number(readBootTime() - boot) / 1e6;

test("while a command runs: its guardian calls the next agent, tells all news, and is served by it", async () => {
  const { agent, run, connection, inner, outer, first, letEnd } = await startPatient();
  const { words, settings } = await connection.waitForCall();
  connection.send(TO_LAUNCHER.note, 5_000n, 0n, "note 2");
  connection.send(GUARDIAN_REQUEST.ping);
  await connection.waitFor(GUARDIAN_EVENT.pong);
  const second = await restart(agent);
  expect(await second.waitForCall()).toMatchObject({
    note: "note 2",
    stage: STAGE.isGuarded,
    connection: 1,
    words,
    settings,
    pid: run.pid,
  });
  await second.waitFor(GUARDIAN_EVENT.hello);
  expect(await second.waitFor(GUARDIAN_EVENT.place)).toMatchObject({ a: BigInt(inner), b: BigInt(outer) });
  await second.waitFor(GUARDIAN_EVENT.seen);
  expect(await second.waitFor(GUARDIAN_EVENT.started)).toMatchObject({ a: BigInt(first) });
  second.send(TO_LAUNCHER.accepted, 1n);
  second.send(GUARDIAN_REQUEST.start); // nothing is started twice
  expect(await second.waitFor(GUARDIAN_EVENT.refused)).toMatchObject({ a: 3n });
  letEnd();
  expect(await serveEnd(second)).toMatchObject({ status: 5 << 8, guardians: 0 });
  expect(await run.ended).toEqual({ code: 5, signal: null, out: "", err: "" });
});

test("half a frame of an agent that has ended is no part of what the next one sends to a guardian", async () => {
  const { agent, run, connection, letEnd } = await startPatient();
  connection.sendBytes(HALF_FRAME);
  const second = await restart(agent);
  await second.waitForCall();
  second.send(GUARDIAN_REQUEST.ping);
  await second.waitFor(GUARDIAN_EVENT.pong);
  letEnd();
  await serveEnd(second);
  expect(await run.ended).toMatchObject({ code: 5, err: "" });
});

test("the next agent extends the deadlines", async () => {
  const { agent, run, boot, letEnd } = await startPatient(undefined, { termIn: 1_500, killIn: 1_500 });
  const second = await restart(agent);
  await second.waitForCall();
  sendDeadlines(second, boot, { termIn: 20_000, killIn: 20_000 });
  await waitUntil("the first deadline", () => measureSince(boot) > 1_700);
  letEnd();
  await serveEnd(second);
  expect(await run.ended).toMatchObject({ code: 5, err: "" });
});

test("a command that ends while no agent is there: the next one hears of it", async () => {
  const { agent, run, letEnd } = await startPatient();
  agent.stop();
  letEnd();
  await waitUntil("its end", () => !listRemains(run.mark).includes("sh"));
  const second = await restart(agent);
  await second.waitFor(GUARDIAN_EVENT.started);
  expect((await serveEnd(second)).status).toBe(5 << 8);
  expect(await run.ended).toMatchObject({ code: 5, err: "" });
});

test("no next agent: the command is killed at its deadline", async () => {
  const { agent, run, boot } = await startPatient(DEAF, { termIn: 700, killIn: 700 });
  agent.stop();
  expect(await run.ended).toMatchObject({ code: 125, err: expect.stringMatching(LOST) });
  expect(measureSince(boot), "ms").toBeGreaterThanOrEqual(700);
  expect(listRemains(run.mark)).toEqual([]);
});

test("a command that ends while no agent comes back: its code, at the deadline", async () => {
  const { agent, run, boot, letEnd } = await startPatient(undefined, { termIn: 900, killIn: 900 });
  agent.stop();
  letEnd();
  expect(await run.ended).toMatchObject({ code: 5, err: expect.stringMatching(LOST) });
  expect(measureSince(boot), "ms").toBeGreaterThanOrEqual(900);
});

test("the next agent declines a command that runs: it is killed at once", async () => {
  const { agent, run } = await startPatient();
  const second = await restart(agent);
  await second.waitForCall();
  second.send(TO_LAUNCHER.declined, 0n, 0n, "unknown");
  await second.waitFor(GUARDIAN_EVENT.gone);
  await second.waitFor(FROM_LAUNCHER.guardiansEnded);
  second.close();
  expect(await run.ended).toMatchObject({ code: 125, err: expect.stringMatching(LOST) });
});

test("a signal while no agent is there reaches the command", async () => {
  const { agent, run } = await startPatient(`trap 'exit 8' TERM; echo ready; ${WAIT_FOR_FILE}`);
  await run.waitForOutput();
  agent.stop();
  run.process.kill("SIGTERM");
  await waitUntil("its end", () => !listRemains(run.mark).includes("sh"));
  await agent.start();
  expect((await serveEnd(await agent.accept())).status).toBe(8 << 8);
  expect(await run.ended).toExit(8);
});

test("the launcher killed while no agent is there: the command dies, and the next agent hears of it", async () => {
  const { agent, run } = await startPatient();
  agent.stop();
  killProcess(run.pid, "SIGKILL");
  await waitUntil("its end", () => !listRemains(run.mark).includes("sh"));
  const second = await restart(agent);
  expect(await second.waitForCall()).toMatchObject({ stage: STAGE.isGuarded, pid: run.pid });
  expect(await second.waitFor(GUARDIAN_EVENT.exited)).toMatchObject({ a: 9n });
  await second.waitFor(GUARDIAN_EVENT.gone);
  second.send(GUARDIAN_REQUEST.release);
  await second.ended;
});

test("guardians killed after a reconnection: the launcher reports it over the new connection", async () => {
  const { agent, run, inner } = await startPatient();
  const second = await restart(agent);
  await second.waitFor(GUARDIAN_EVENT.started);
  killProcess(inner, "SIGKILL");
  expect(Number((await second.waitFor(FROM_LAUNCHER.guardiansEnded)).a)).toBe(4 << 8);
  second.send(TO_LAUNCHER.end, 125n);
  expect(await run.ended).toMatchObject({ code: 125, err: "" });
});

test("a command line of 900 KB, resumed", async () => {
  const words = Array.from({ length: 9 }, (_, at) => String.fromCharCode(97 + at).repeat(100_000));
  const { agent, run, connection } = await startCall(words);
  await serveStart(connection, ["sleep", "30"]);
  const second = await restart(agent);
  expect((await second.waitForCall()).words.slice(4)).toEqual(words);
  await second.waitFor(GUARDIAN_EVENT.started);
  second.send(GUARDIAN_REQUEST.terminate, 0n);
  await serveEnd(second, 125);
  expect(await run.ended).toExit(125);
});

test("garbage before GUARD: the launcher falls back", async () => {
  for (const garbage of [
    Buffer.alloc(100_000, 0xff),
    Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n".repeat(20)),
  ]) {
    const { run, connection } = await startCall();
    connection.sendBytes(garbage);
    expect((await run.ended).out).toMatch(/^fallback=the agent is of another version\ncall=none\n/);
  }
});

test("garbage together with GUARD: nothing is started", async () => {
  const { run, connection } = await startWaiting("place 9");
  const garbage = Buffer.alloc(100, 0xff);
  connection.sendBytes(Buffer.concat([encodeFrame(TO_LAUNCHER.guard), encodeFrame(99), garbage]));
  await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  connection.close();
  expect(await run.ended).toMatchObject({ code: 125, out: "" });
});

const startFlood = (connection: AgentConnection) =>
  setInterval(() => connection.send(TO_LAUNCHER.later, 0n, 0n, "x".repeat(60_000)), 0);

test("endless data without an answer: the launcher falls back in time", async () => {
  const { run, connection } = await startCall();
  const flood = startFlood(connection);
  const { out } = await run.ended.finally(() => clearInterval(flood));
  expect(out).toMatch(/^fallback=the agent does not answer in time\n/);
});

test("garbage while a command runs: no matching runner, so the command is killed", async () => {
  for (const garbage of [Buffer.alloc(100_000, 0xff), Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")]) {
    const { run, connection } = await startPatient();
    connection.sendBytes(garbage);
    await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
    connection.close();
    expect(await run.ended).toMatchObject({ code: 125, err: expect.stringMatching(LOST) });
    expect(listRemains(run.mark)).toEqual([]);
  }
});

test("endless data while a command runs: its deadline is kept", async () => {
  const { run, connection } = await startPatient(DEAF, { termIn: 600, killIn: 600 });
  const flood = startFlood(connection);
  const exited = await connection.waitFor(GUARDIAN_EVENT.exited).finally(() => clearInterval(flood));
  expect(Number(exited.a)).toBe(9);
  connection.send(GUARDIAN_REQUEST.release);
  connection.send(TO_LAUNCHER.end, 125n);
  await connection.waitFor(FROM_LAUNCHER.guardiansEnded).catch(() => {});
  connection.close();
  expect(await run.ended).toExit(125);
});
