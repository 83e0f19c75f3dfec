import { join } from "node:path";
import { expect, test } from "vitest";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { Warnings } from "../../../fixtures/worker/events.ts";
import { startReceiver } from "../../../fixtures/worker/receiver.ts";
import { createNotifier } from "../../../src/core/process/notifier.ts";

test.each(["path", "abstract"])(
  "systemd is told by its words, over a socket with a %s address",
  async (kind) => {
    const address = kind === "path" ? join(createTestFolder(), "socket") : `@signalbox-test-${process.pid}`;
    const { words } = await startReceiver(address);
    const log = new Warnings();
    const notifier = createNotifier({ NOTIFY_SOCKET: address }, { log, isAlive: () => true });
    notifier.sendStatus("running 0 of 4\n\x1b[31mREADY=1");
    notifier.sendStatus("running 0 of 4\n\x1b[31mREADY=1");
    notifier.sendReady();
    notifier.sendReloading();
    notifier.sendStopping();
    await notifier.close();
    await waitUntil("all has come", () => words().length === 4, { describe: () => words().join(" | ") });
    const [status, ready, reloading, stopping] = words();
    expect(status).toBe("STATUS=running 0 of 4 READY=1");
    expect(ready).toBe("READY=1");
    expect(stopping).toBe("STOPPING=1");
    const [, usec] = /^RELOADING=1\nMONOTONIC_USEC=(\d+)$/.exec(reloading ?? "") ?? [];
    expect(Number(usec)).toBeLessThanOrEqual(Number(process.hrtime.bigint() / 1_000n));
    expect(Number(usec)).toBeGreaterThan(Number(process.hrtime.bigint() / 1_000n) - 60e6);
    expect(log.list).toEqual([]);
  },
);

test("the watchdog is fed while the worker is alive, and not after", async () => {
  const address = join(createTestFolder(), "socket");
  const { words } = await startReceiver(address);
  let isAlive = true;
  let asked = 0;
  const env = { NOTIFY_SOCKET: address, WATCHDOG_USEC: "40000", WATCHDOG_PID: String(process.pid) };
  const notifier = createNotifier(env, {
    log: new Warnings(),
    isAlive: () => {
      asked += 1;
      return isAlive;
    },
  });
  await waitUntil("it is fed", () => words().filter((word) => word === "WATCHDOG=1").length >= 3);
  isAlive = false;
  const before = asked;
  await waitUntil("it is asked for again", () => asked >= before + 5);
  notifier.sendStatus("end");
  await notifier.close();
  await waitUntil("the end has come", () => words().includes("STATUS=end"));
  expect(words().filter((word) => word === "WATCHDOG=1").length).toBeLessThanOrEqual(before);
});

test("a watchdog of another process is ignored", async () => {
  const address = join(createTestFolder(), "socket");
  const { words } = await startReceiver(address);
  let asked = 0;
  const isAlive = () => {
    asked += 1;
    return true;
  };
  const env = { NOTIFY_SOCKET: address, WATCHDOG_USEC: "2000", WATCHDOG_PID: "1" };
  const notifier = createNotifier(env, { log: new Warnings(), isAlive });
  await new Promise((resolve) => setTimeout(resolve, 20)); // ten times what its own would take
  notifier.sendReady();
  await notifier.close();
  await waitUntil("it has come", () => words().length > 0);
  expect(words()).toEqual(["READY=1"]);
  expect(asked).toBe(0);
});

test("without systemd nothing is started, and nothing fails", async () => {
  const notifier = createNotifier({}, { log: new Warnings(), isAlive: () => true, binary: "/nowhere" });
  notifier.sendReady();
  notifier.sendStopping();
  await notifier.close();
});

test.each([
  ["nobody listens", "/nowhere/socket", undefined, "cannot send a message to systemd"],
  ["the address is of a kind that is not known", "vsock:2:1", undefined, "neither a path nor"],
  ["the messenger is missing", "/nowhere/socket", "/nowhere/notify", "ENOENT"],
])("where %s it is logged", async (_, address, binary, message) => {
  const log = new Warnings();
  const more = binary === undefined ? {} : { binary };
  const notifier = createNotifier({ NOTIFY_SOCKET: address }, { log, isAlive: () => true, ...more });
  notifier.sendReady();
  await notifier.close();
  await waitUntil("it is logged", () => log.list.length > 0);
  expect(log.list[0]).toMatchObject({
    message: "cannot notify systemd",
    error: expect.stringContaining(message),
  });
  notifier.sendReady();
});
