import { parentPort, workerData } from "node:worker_threads";
import type { BootTime } from "../core/base/clock.ts";
import type { AgentAddress } from "../core/process/agent-socket/listening-socket.ts";
import { loadPeerAddon, type Peer } from "../core/process/agent-socket/peer.ts";
import { startSocketServer } from "../core/process/agent-socket/socket-server.ts";
import { createBootClock } from "../core/process/clock.ts";
import { Accounts } from "./accounts.ts";
import { BriefCache } from "./agent-context.ts";

/** The inputs of the agent's socket thread. */
export interface SocketThreadData {
  address: AgentAddress;
  /** The users and groups of `agentAllow`. */
  allow: readonly string[];
}

/** Serves the agent's socket in a worker thread. @throws ConfigError when the addon cannot be loaded */
export async function serveSocket(): Promise<void> {
  const { address, allow } = workerData as SocketThreadData;
  if (parentPort === null) throw new Error("the socket is served in a worker thread");
  const addon = loadPeerAddon();
  await startSocketServer(parentPort, { address, addon, isServed: createPolicy(allow, addon.readBootTime) });
}

/**
 * Creates the check whether the agent serves a peer, or why not. Caches its answers briefly: many launchers connect at
 * once.
 */
function createPolicy(allow: readonly string[], readBootTime: () => BootTime): (peer: Peer) => true | string {
  const accounts = new Accounts();
  const answers = new BriefCache<true | string>(createBootClock(readBootTime));
  const check = (peer: Peer) =>
    peer.uid === 0 || peer.uid === process.getuid?.() || accounts.includes(allow, peer)
      ? true
      : `the agent does not serve user ${accounts.findUserName(peer.uid)}; see agentAllow`;
  return (peer) => answers.get([peer.uid, peer.gid, ...peer.groups].join(" "), () => check(peer));
}
