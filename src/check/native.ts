import type { Clock } from "../base/clock.ts";
import { EXIT, SignalboxError } from "../base/errors.ts";
import { createFindingBuilder, type Finding } from "../base/finding.ts";
import { loadPeerAddon } from "../process/agent-socket/peer.ts";
import type { CommandHost } from "../process/guarded-command/command.ts";
import { createGuardianHost } from "../process/host.ts";
import { locateNative, tryLauncher } from "../process/native/locate.ts";

/** Starts the native programs once, and loads the addon: do they work on this host? The guardian comes first. */
export async function checkNative(clock: Clock): Promise<Finding[]> {
  const started = await Promise.all([checkGuardian(createGuardianHost(clock), clock), checkLauncher()]);
  return [...started, checkAddon()];
}

/** Checks whether the launcher, the program `signalbox` in PATH, starts on this host. */
async function checkLauncher(): Promise<Finding> {
  const about = createFindingBuilder("launcher");
  const fault = await findLauncherFault();
  if (fault === undefined) return about.ok("it starts, and can ask an agent");
  const detail = `runs cannot be started with it, and no agent can serve them: ${fault}`;
  return about.failure(detail, "install signalbox again, for the processor of this host");
}

async function findLauncherFault(): Promise<string | undefined> {
  try {
    return await tryLauncher(locateNative("launcher"), PATIENCE);
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}

const ABOUT = createFindingBuilder("addon");

/** Checks whether Node loads the addon on this host. Only the agent, and who asks for its version, need it. */
function checkAddon(): Finding {
  try {
    loadPeerAddon();
    return ABOUT.ok("it can be loaded: an agent can run on this host");
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return ABOUT.warning(`no agent can run on this host: ${error.message}`);
  }
}

/** Timeout for the start of a native program, ms. It normally starts within milliseconds. */
const PATIENCE = 20_000;

const KILLED_REMEDY = "does a seccomp filter, such as that of a container, forbid one of its system calls?";

/** Checks whether this host can guard a command: starts the guardian once, and releases it without a command. */
async function checkGuardian(host: CommandHost, clock: Clock): Promise<Finding> {
  const about = createFindingBuilder("guardian");
  try {
    const isStarted = await Promise.race([startOnce(host), clock.sleep(PATIENCE).then(() => false)]);
    if (isStarted) return about.ok("it starts, and can guard commands on this host");
    const detail = `it did not answer within ${PATIENCE / 1000}s of its start: no command can run on this host`;
    return about.failure(detail, "is the machine overloaded, or something stopping new processes?");
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    const detail = `no command can run on this host: ${error.message}`;
    return about.failure(detail, error.exitCode === EXIT.lost ? KILLED_REMEDY : undefined);
  }
}

async function startOnce(host: CommandHost): Promise<boolean> {
  const command = await host.prepare({ file: "true", args: [], env: {} });
  await command.release();
  return true;
}
