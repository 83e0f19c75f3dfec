import { SignalboxError } from "../../base/errors.ts";
import type { Finding } from "../../base/finding.ts";
import { loadPeerAddon } from "../../process/agent-socket/peer.ts";

const ABOUT = { kind: "addon", check: "addon" } as const;

/** Checks whether Node loads the addon on this host. Only the agent, and who asks for its version, need it. */
export function checkAddon(): Finding {
  try {
    loadPeerAddon();
    return { ...ABOUT, level: "ok", detail: "it can be loaded: an agent can run on this host" };
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return { ...ABOUT, level: "warning", detail: `no agent can run on this host: ${error.message}` };
  }
}
