/** The agent on a socket that it inherits, as systemd passes it on. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BUNDLE, createCleanEnv, LAUNCHER } from "../../../fixtures/signalbox.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const cluster = TestCluster.startForFile();

/** A server's descriptor, which Node's types do not declare. */
function getDescriptor(server: Server) {
  return (server as unknown as { _handle: { fd: number } })._handle.fd;
}

test.each([
  ["by the launcher", [LAUNCHER]],
  ["by Node", [process.execPath, BUNDLE]],
])("started %s, it serves the calls on the socket of systemd", async (_, program) => {
  const folder = createTestFolder();
  const socket = join(folder, "agent.sock");
  const bound = join(folder, "bound");
  const server = createServer().listen(bound);
  await once(server, "listening");
  linkSync(bound, socket); // closing the server removes the path that it has bound
  const env = {
    ...createCleanEnv(),
    ...cluster.createNamespace().env,
    SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","),
    SIGNALBOX_AGENT_SOCKET: socket,
  };
  const agent = spawn("sh", ["-c", 'LISTEN_PID=$$ exec "$@"', "sh", ...program, "agent"], {
    env: { ...env, LISTEN_FDS: "1" },
    stdio: ["ignore", "ignore", "inherit", getDescriptor(server)],
  });
  server.close();
  const job = spawn(LAUNCHER, ["run", "--agent", "always", "--lock", "a", "--", "sh", "-c", "exit 3"], {
    env,
    stdio: ["ignore", "ignore", "inherit"],
  });
  expect(await once(job, "exit")).toEqual([3, null]);
  agent.kill();
  expect(await once(agent, "exit")).toEqual([0, null]);
});

test("when it ends, it leaves the socket to systemd", async () => {
  const socket = join(createTestFolder(), "agent.sock");
  const server = createServer().listen(socket);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const env = {
    ...createCleanEnv(),
    ...cluster.createNamespace().env,
    SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","),
    SIGNALBOX_AGENT_SOCKET: socket,
  };
  const agent = spawn("sh", ["-c", 'LISTEN_PID=$$ exec "$@"', "sh", LAUNCHER, "agent"], {
    env: { ...env, LISTEN_FDS: "1" },
    stdio: ["ignore", "ignore", "pipe", getDescriptor(server)],
  });
  if (agent.stderr !== null) await once(agent.stderr, "data"); // ready
  agent.kill();
  expect(await once(agent, "exit")).toEqual([0, null]);
  expect(existsSync(socket)).toBe(true);
});
