/** Sockets whose path is removed or replaced while an agent listens on them. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFolder, createSocketPath, listenOn } from "../../../../fixtures/process/agent-socket.ts";
import { isRoot } from "../../../../fixtures/process/guarded-processes.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import { ListeningSocket } from "../../../../src/core/process/agent-socket/listening-socket.ts";

async function open() {
  const path = join(createFolder(), "run/agent.sock");
  const connections: Socket[] = [];
  const socket = new ListeningSocket(
    { path },
    (connection) => connections.push(connection),
    (error) => {
      throw error;
    },
  );
  await socket.open();
  onTestFinished(() => {
    socket.close();
    for (const connection of connections) connection.destroy();
  });
  return { path, socket, connections };
}

function connectTo(path: string) {
  const client = connect(path).on("error", () => {});
  onTestFinished(() => void client.destroy());
  return client;
}

describe("a socket", () => {
  test("is left alone, and one that was removed with its folder is made again, and its former connections stay", async () => {
    const { path, socket, connections } = await open();
    const former = connectTo(path);
    await waitUntil("a connection", () => connections.length === 1);
    expect(await socket.checkPath()).toEqual({ state: "found" });
    expect(readdirSync(dirname(path))).toEqual(["agent.sock"]);
    rmSync(dirname(path), { recursive: true });
    expect(await socket.checkPath()).toEqual({ state: "restored" });
    expect(await socket.checkPath()).toEqual({ state: "found" });
    connectTo(path);
    await waitUntil("a connection to the new socket", () => connections.length === 2);
    connections[0]?.write("still there");
    expect(String(await once(former, "data"))).toBe("still there");
    socket.close();
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test("that is made again has accepted what came to the former one", async () => {
    const { path, socket, connections } = await open();
    const kept = `${path}.kept`;
    renameSync(path, kept);
    const checking = socket.checkPath();
    for (let at = 0; at < 100; at++) connectTo(kept); // this process accepts none before its next turn
    expect(await checking).toEqual({ state: "restored" });
    await waitUntil("all connections", () => connections.length === 100);
  });

  test.each<[string, (path: string) => unknown]>([
    ["a file", (path) => writeFileSync(path, "precious")],
    ["a folder", (path) => mkdirSync(path)],
    ["another socket", (path) => listenOn(path)],
  ])("is not made again where %s is, until that is gone", async (_, put) => {
    const { path, socket } = await open();
    rmSync(path);
    await put(path);
    expect(await socket.checkPath()).toEqual({ state: "lost", path, why: "it was replaced" });
    expect(readdirSync(dirname(path))).toEqual(["agent.sock"]);
    rmSync(path, { recursive: true });
    expect(await socket.checkPath()).toEqual({ state: "restored" });
  });

  test.runIf(isRoot)("that got another owner is not found", async () => {
    const { path, socket } = await open();
    chownSync(path, 12_345, 12_345);
    expect(await socket.checkPath()).toMatchObject({ state: "lost", why: "it belongs to user 12345" });
  });

  test("in a folder to which others can write now is not found", async () => {
    const { path, socket } = await open();
    chmodSync(dirname(path), 0o777);
    expect(await socket.checkPath()).toMatchObject({ why: expect.stringContaining("other users can write") });
    rmSync(path);
    expect(await socket.checkPath()).toMatchObject({ why: expect.stringContaining("cannot be restored") });
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  test("that is closed meanwhile is not made again", async () => {
    const { path, socket } = await open();
    rmSync(path);
    const checking = socket.checkPath();
    socket.close();
    await checking;
    expect(readdirSync(dirname(path))).toEqual([]);
  });
});

/** Inherits a socket, and prints the result of a check for each line. */
const INHERIT = `
  import { createInterface } from "node:readline";
  import { ListeningSocket } from "${import.meta.dirname}/../../../../src/core/process/agent-socket/listening-socket.ts";
  const socket = new ListeningSocket({ descriptor: 3 }, () => {}, console.error);
  await socket.open();
  console.log("ready");
  for await (const _ of createInterface(process.stdin)) console.log(JSON.stringify(await socket.checkPath()));
  socket.close();
`;

test("an inherited socket: that was removed or replaced is reported, and is not made again", async () => {
  const path = createSocketPath();
  const server = await listenOn(path);
  const child = spawn(process.execPath, ["--input-type=module", "-e", INHERIT], {
    stdio: ["pipe", "pipe", "inherit", server._handle?.fd ?? -1],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface(child.stdio[1] as Readable)[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("ready");
  const check = async () => {
    child.stdin?.write("\n");
    return JSON.parse(String((await lines.next()).value));
  };
  expect(await check()).toEqual({ state: "found" });
  rmSync(path);
  expect(await check()).toEqual({ state: "lost", path, why: "it was removed" });
  await listenOn(path);
  expect(await check()).toEqual({ state: "lost", path, why: "it was replaced" });
  expect(await check()).toEqual({ state: "lost", path, why: "it was replaced" });
});
