import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel } from "node:worker_threads";
import { onTestFinished } from "vitest";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import type { LaunchedCall } from "../../../src/process/agent-socket/launched-call.ts";
import { type AgentListener, openAgentListener } from "../../../src/process/agent-socket/listener.ts";
import type { AgentAddress } from "../../../src/process/agent-socket/listening-socket.ts";
import type { Peer } from "../../../src/process/agent-socket/peer.ts";
import { type SocketLimits, startSocketServer } from "../../../src/process/agent-socket/socket-server.ts";
import { addon, type CallOptions, FakeLauncher } from "./fake-launcher.ts";

export const LIMITS: SocketLimits = {
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
  const folder = mkdtempSync(join(tmpdir(), "signalbox-socket-"));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
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

export interface TestAgent {
  path: string;
  listener: AgentListener;
  /** Complete calls, in the order in which they came. */
  calls: LaunchedCall[];
  faults: Error[];
  /** Connects a launcher, which ends with the test. */
  connect(): FakeLauncher;
  /** Makes a call, and waits until the agent has it. */
  call(options?: CallOptions): Promise<{ launcher: FakeLauncher; call: LaunchedCall }>;
}

/** Starts an agent's listener, which ends with the test. */
export async function startAgent(
  options: { limits?: SocketLimits; isServed?: (peer: Peer) => true | string } = {},
): Promise<TestAgent> {
  const path = join(createFolder(), "agent.sock");
  const [calls, faults]: [LaunchedCall[], Error[]] = [[], []];
  const listener = await openListener(
    { path },
    { onCall: (call) => calls.push(call), onFault: (error) => faults.push(error) },
    { limits: LIMITS, ...options },
  );
  onTestFinished(() => {
    for (const call of calls) call.destroy();
  });
  const connect = () => {
    const launcher = new FakeLauncher(path);
    onTestFinished(() => {
      launcher.socket.destroy();
    });
    return launcher;
  };
  return {
    path,
    listener,
    calls,
    faults,
    connect,
    async call(request = {}) {
      const [launcher, before] = [connect(), calls.length];
      launcher.sendCall(request);
      const call = await waitUntil("a call", () => calls[before], {
        describe: () => launcher.frames.map(({ block }) => block.toString()).join(),
      });
      return { launcher, call };
    },
  };
}
