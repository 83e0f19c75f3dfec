import { existsSync } from "node:fs";
import { createFindingBuilder, type Finding } from "../base/finding.ts";
import { VERSION } from "../base/version.ts";
import { askAgentVersion } from "../process/agent-socket/ask-version.ts";
import { findSocketDistrust, isTrusted } from "../process/agent-socket/listening-socket.ts";
import { listSocketPlaces, SYSTEM_SOCKET } from "../process/agent-socket/socket-places.ts";

const ABOUT = createFindingBuilder("agent");

/** Finds the socket that launchers of this user try first. @param chosen  the setting `agentSocket` */
export function locateAgentSocket(
  chosen: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): string {
  return chosen ?? listSocketPlaces(env).find((path) => existsSync(path)) ?? SYSTEM_SOCKET;
}

/** Checks whether the agent of this host, if there is one, serves this user. */
export async function checkAgent(path: string): Promise<Finding> {
  const distrust = findSocketDistrust(path);
  if (distrust === "missing") return ABOUT.ok(`none at ${path}: each run connects to etcd by itself`);
  if (distrust !== undefined) return buildDistrust(path, distrust);
  const answer = await askAgentVersion(path);
  if (answer.kind === "silent") {
    const detail = `nobody answers at ${path} (${answer.reason}): each run connects to etcd by itself`;
    const remedy = `start it: systemctl start signalbox-agent.socket, or signalbox agent; or remove ${path}`;
    return ABOUT.warning(detail, remedy);
  }
  if (!isTrusted(answer.uid)) return buildDistrust(path, `its process belongs to user ${answer.uid}`);
  if (answer.kind === "declined")
    return ABOUT.warning(
      `the agent at ${path} does not serve this user: ${answer.reason}`,
      "add the user to the agent's agentAllow, or set SIGNALBOX_AGENT=never",
    );
  return judgeVersion(path, answer.version);
}

function judgeVersion(path: string, version: string): Finding {
  if (version === VERSION) return ABOUT.ok(`version ${version} answers at ${path}`);
  const detail = `version ${version} answers at ${path}, and this is version ${VERSION}`;
  const remedy = "restart the agent; running commands go on: systemctl restart signalbox-agent";
  return ABOUT.warning(detail, remedy);
}

function buildDistrust(path: string, reason: string): Finding {
  const detail = `launchers do not use ${path}: ${reason}`;
  const remedy = "it must belong to root or to this user, in a folder that nobody else can write to";
  return ABOUT.warning(detail, remedy);
}
