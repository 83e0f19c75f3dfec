import type { Clock } from "../base/clock.ts";
import { EXIT, SignalboxError } from "../base/errors.ts";
import type { Finding } from "../base/finding.ts";
import { loadPeerAddon } from "../process/agent-socket/peer.ts";
import type { CommandHost } from "../process/guarded-command/command.ts";
import { createGuardianHost } from "../process/host.ts";
import { checkLauncher } from "./launcher.ts";

/** Starts the native programs once, and loads the addon: do they work on this host? The guardian comes first. */
export async function checkNative(clock: Clock): Promise<Finding[]> {
  const started = await Promise.all([checkGuardian(createGuardianHost(clock), clock), checkLauncher()]);
  return [...started, checkAddon()];
}

const ABOUT = { kind: "addon", check: "addon" } as const;

/** Checks whether Node loads the addon on this host. Only the agent, and who asks for its version, need it. */
function checkAddon(): Finding {
  try {
    loadPeerAddon();
    return { ...ABOUT, level: "ok", detail: "it can be loaded: an agent can run on this host" };
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return { ...ABOUT, level: "warning", detail: `no agent can run on this host: ${error.message}` };
  }
}

/** Timeout for the start of the guardian, ms. It normally starts within milliseconds. */
const PATIENCE = 20_000;

const KILLED_REMEDY = "does a seccomp filter, such as that of a container, forbid one of its system calls?";

/** Checks whether this host can guard a command: starts the guardian once, and releases it without a command. */
async function checkGuardian(host: CommandHost, clock: Clock): Promise<Finding> {
  const about = { kind: "guardian", check: "guardian" };
  try {
    const isStarted = await Promise.race([startOnce(host), clock.sleep(PATIENCE).then(() => false)]);
    if (isStarted) return { ...about, level: "ok", detail: "it starts, and can guard commands on this host" };
    const detail = `it did not answer within ${PATIENCE / 1000}s of its start: no command can run on this host`;
    return {
      ...about,
      level: "failure",
      detail,
      remedy: "is the machine overloaded, or something stopping new processes?",
    };
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    const detail = `no command can run on this host: ${error.message}`;
    return {
      ...about,
      level: "failure",
      detail,
      ...(error.exitCode === EXIT.lost && { remedy: KILLED_REMEDY }),
    };
  }
}

async function startOnce(host: CommandHost): Promise<boolean> {
  const command = await host.prepare({ file: "true", args: [], env: {} });
  await command.release();
  return true;
}
