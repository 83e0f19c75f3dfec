import { chmodSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { createTestFolder } from "../../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../../fixtures/wait-until.ts";
import type { LaunchedCall } from "../../../../src/core/process/agent-socket/launched-call.ts";
import { type AgentListener, openAgentListener } from "../../../../src/core/process/agent-socket/listener.ts";
import type { AgentAddress } from "../../../../src/core/process/agent-socket/listening-socket.ts";
import type { Peer } from "../../../../src/core/process/agent-socket/peer.ts";
import {
  type SocketLimits,
  startSocketServer,
} from "../../../../src/core/process/agent-socket/socket-server.ts";
import { addon, type CallOptions, FakeLauncher } from "./fake-launcher.ts";

export const LIMITS: SocketLimits = {
  connections: 10_000,
  user: {
    connections: 4096,
    unfinished: 64,
    bytes: 64 * 1024 * 1024,
    traffic: { burst: 2 ** 30, rate: 2 ** 30 },
  },
  callMs: 60_000,
};

/** A folder of its own for a test, which other users can enter. */
export function createFolder(): string {
  const folder = createTestFolder();
  chmodSync(folder, 0o755);
  return folder;
}

export const createSocketPath = () => join(createFolder(), "agent.sock");

/** Listens on a path as systemd does, until the end of the test. */
export async function listenOn(path: string): Promise<Server & { _handle?: { fd: number } }> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return server;
}

/** Opens the socket of an agent, with both sides in this thread. It is closed with the test. */
export async function openListener(
  address: AgentAddress,
  on: Pick<Parameters<typeof openAgentListener>[0], "onCall" | "onFault">,
  options: { limits?: SocketLimits; isServed?: (peer: Peer) => true | string } = {},
): Promise<AgentListener> {
  const { port1, port2 } = new MessageChannel();
  const opening = openAgentListener({ ...on, port: port1, readBootTime: addon.readBootTime });
  void startSocketServer(port2, { address, addon, isServed: () => true as const, ...options });
  const listener = await opening;
  onTestFinished(async () => {
    await listener.close();
    port1.close();
  });
  return listener;
}

export type TestAgent = Awaited<ReturnType<typeof startAgent>>;

/** Starts an agent's listener, which ends with the test. */
export async function startAgent(options: Parameters<typeof openListener>[2] = {}) {
  const path = createSocketPath();
  /** Complete calls, in the order in which they came. */
  const calls: LaunchedCall[] = [];
  const faults: Error[] = [];
  await openListener(
    { path },
    { onCall: (call) => calls.push(call), onFault: (error) => faults.push(error) },
    { limits: LIMITS, ...options },
  );
  onTestFinished(() => {
    for (const call of calls) call.destroy();
  });
  /** Connects a launcher, which ends with the test. */
  const connect = () => {
    const launcher = new FakeLauncher(path);
    onTestFinished(() => void launcher.socket.destroy());
    return launcher;
  };
  return {
    path,
    calls,
    faults,
    connect,
    /** Makes a call, and waits until the agent has it. */
    async call(options?: CallOptions) {
      const [launcher, before] = [connect(), calls.length];
      launcher.sendCall(options);
      const call = await waitUntil("a call", () => calls[before], {
        describe: () => launcher.frames.map(({ block }) => block.toString()).join(),
      });
      return { launcher, call };
    },
  };
}
