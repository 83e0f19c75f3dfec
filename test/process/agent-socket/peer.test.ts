import { writeFileSync } from "node:fs";
import { createServer, Socket } from "node:net";
import { uptime } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { ConfigError } from "../../../src/base/errors.ts";
import { loadPeerAddon } from "../../../src/process/agent-socket/peer.ts";
import { locateNative } from "../../../src/process/native/locate.ts";
import { createFolder } from "./helpers.ts";

test("the peer is the process at the other end", async () => {
  const path = join(createFolder(), "socket");
  const { readPeer } = loadPeerAddon();
  const accepted: Socket[] = [];
  const server = createServer((socket) => accepted.push(socket)).listen(path);
  const client = new Socket().connect(path);
  const socket = await waitUntil("a connection", () => accepted[0]);
  expect(readPeer(socket)).toEqual({
    pid: process.pid,
    uid: process.getuid?.(),
    gid: process.getgid?.(),
    groups: expect.arrayContaining((process.getgroups?.() ?? []).filter((id) => id !== process.getgid?.())),
  });
  socket.destroy();
  expect(() => readPeer(socket)).toThrow("no descriptor");
  client.destroy();
  server.close();
});

test("the boot-time clock is that of the kernel", () => {
  const { readBootTime } = loadPeerAddon();
  const before = uptime() * 1000;
  expect(readBootTime()).toBeGreaterThan(before - 20);
  expect(readBootTime()).toBeGreaterThan(readBootTime() - 1000);
});

test("an addon that is missing or cannot be loaded is an error of the installation", () => {
  const folder = createFolder();
  expect(() => locateNative("peer.node", folder)).toThrow(ConfigError);
  expect(() => locateNative("peer.node", folder)).toThrow(
    /who connects to the agent.* is missing.*npm run build/,
  );
  const path = join(folder, "peer.node");
  writeFileSync(path, "not an addon", { mode: 0o755 });
  expect(() => loadPeerAddon(path)).toThrow(ConfigError);
  expect(() => loadPeerAddon(path)).toThrow(/cannot load .*peer\.node, which reads who connects/);
});
