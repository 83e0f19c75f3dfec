import { expect, test } from "vitest";
import { startAgent } from "../../../../fixtures/process/agent-socket.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import type { LaunchedSignal } from "../../../../src/core/process/agent-socket/launched-call.ts";
import { AGENT_REQUEST, LAUNCHER_EVENT } from "../../../../src/core/process/agent-socket/wire.ts";
import { BLOCK_MAX, encodeFrame, GUARDIAN_EVENT } from "../../../../src/core/process/guarded-command/wire.ts";

const startCall = async () => (await startAgent()).call();
const encodeSignal = (number: bigint, isDelivered = 0n) =>
  encodeFrame(LAUNCHER_EVENT.signalled, number, isDelivered);

test("a call is accepted, gets a note and output, and ends with the launcher's exit code", async () => {
  const { launcher, call } = await startCall();
  const text = "ä".repeat(BLOCK_MAX);
  call.accept();
  call.sendNote("call 1", 250.5);
  call.writeOutput(2, text);
  call.writeOutput(1, "");
  call.end(75);
  await call.closed;
  await launcher.waitForClose();
  const { accepted, note, write, end } = AGENT_REQUEST;
  expect(launcher.frames.map(({ kind }) => kind)).toEqual([accepted, note, write, write, end]);
  expect(launcher.frames.map(({ a }) => a)).toEqual([1n, 251n, 2n, 2n, 75n]);
  expect(Buffer.concat(launcher.frames.map(({ block }) => block)).toString()).toBe(`call 1${text}`);
});

test("a note of more than 4 KiB, or with a NUL, is refused", async () => {
  const { call } = await startCall();
  await expect(call.sendNote("x".repeat(4097), 0)).rejects.toThrow(RangeError);
  await expect(call.sendNote("x\0", 0)).rejects.toThrow(RangeError);
});

test("signals reach the listener by name, also those before it; unknown ones do not", async () => {
  const { launcher, call } = await startCall();
  const signals: LaunchedSignal[] = [];
  launcher.send(encodeSignal(15n), encodeSignal(0n), encodeSignal(2n ** 40n), encodeSignal(10n, 1n));
  await waitUntil("a delivered signal", () => call.takeDelivery("SIGUSR1"));
  call.onSignal((signal) => signals.push(signal));
  launcher.send(encodeSignal(2n));
  await waitUntil("three signals", () => signals.length === 3);
  expect(signals).toEqual([
    { name: "SIGTERM", isDelivered: false },
    { name: "SIGUSR1", isDelivered: true },
    { name: "SIGINT", isDelivered: false },
  ]);
  expect(call.takeDelivery("SIGUSR1")).toBe(false); // each delivery counts once
});

test("the exit code is sent when the guardians have ended", async () => {
  const { launcher, call } = await startCall();
  call.guard();
  call.guard();
  call.end(3);
  await launcher.receive(AGENT_REQUEST.guard);
  call.writeOutput(1, "before the end");
  await launcher.receive(AGENT_REQUEST.write);
  expect(launcher.frames).toEqual([]); // one GUARD, and no END
  launcher.send(encodeFrame(LAUNCHER_EVENT.guardiansEnded));
  expect((await launcher.receive(AGENT_REQUEST.end)).a).toBe(3n);
  await launcher.waitForClose();
});

test("the connection of a launcher that does not read is cut when too much waits for it", async () => {
  const { launcher, call } = await startCall();
  launcher.socket.pause();
  let sent = 0;
  let isClosed = false;
  void call.closed.then(() => {
    isClosed = true;
  });
  for (; !isClosed && sent < 50; sent++) {
    call.writeOutput(1, Buffer.alloc(BLOCK_MAX));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(sent).toBeGreaterThan(16);
  expect(sent).toBeLessThan(50);
});

test.each([
  ["a second call", encodeFrame(LAUNCHER_EVENT.words, 0n, 0n, Buffer.from("x\0"))],
  ["an event of a guardian that was not ordered", encodeFrame(GUARDIAN_EVENT.started, 1n)],
  ["guardians that ended but were not ordered", encodeFrame(LAUNCHER_EVENT.guardiansEnded)],
  ["an unknown frame", encodeFrame(50)],
  ["a frame that is too long", encodeFrame(LAUNCHER_EVENT.signalled, 0n, 0n, Buffer.alloc(BLOCK_MAX + 1))],
])("%s after the call ends the connection", async (_, bytes) => {
  const { launcher, call } = await startCall();
  launcher.send(bytes);
  await call.closed;
});

test("events that nobody takes are kept up to a limit", async () => {
  const { launcher, call } = await startCall();
  call.guard();
  launcher.send(...Array(2000).fill(encodeFrame(GUARDIAN_EVENT.pong)));
  await call.closed;
});
