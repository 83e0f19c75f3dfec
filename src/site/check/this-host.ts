import { existsSync } from "node:fs";
import type { Clock } from "../../core/base/clock.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import { createFindingBuilder, type Finding } from "../../core/base/finding.ts";
import { quoteText } from "../../core/base/text.ts";
import { VERSION } from "../../core/base/version.ts";
import { askAgentVersion } from "../../core/process/agent-socket/launched-call.ts";
import { findSocketDistrust, isTrusted } from "../../core/process/agent-socket/listening-socket.ts";
import { loadPeerAddon } from "../../core/process/agent-socket/peer.ts";
import { listSocketPlaces, SYSTEM_SOCKET } from "../../core/process/agent-socket/socket-places.ts";
import type { CommandHost } from "../../core/process/guarded-command/command.ts";
import { createGuardianHost } from "../../core/process/host.ts";
import {
  explainNoLinux,
  findDamage,
  locateNative,
  NATIVE_NAMES,
  tryLauncher,
} from "../../core/process/native/locate.ts";
import { findPrivacyFault } from "../output/output-directory.ts";

/** Starts the native programs once, and loads the addon: do they work on this host? The guardian comes first. */
export async function checkNative(clock: Clock): Promise<Finding[]> {
  const foreign = explainNoLinux();
  if (foreign !== undefined)
    return [createFindingBuilder("host").hint(`${foreign}: no run, worker or agent can start here`)];
  const started = await Promise.all([checkGuardian(createGuardianHost(clock), clock), checkLauncher()]);
  return [...started, checkAddon(), ...checkHashes()];
}

/** Compares the native programs with the hashes of their build. One that is missing is not told twice. */
function checkHashes(): Finding[] {
  const about = createFindingBuilder("hashes");
  const faults = NATIVE_NAMES.flatMap((name) => {
    const fault = findHashFault(name);
    if (fault === undefined) return [];
    return [
      about[name === "peer.node" ? "warning" : "failure"](`${name}: ${fault}`, "install signalbox again"),
    ];
  });
  return faults.length === 0 ? [about.ok("the native programs are those of the build")] : faults;
}

function findHashFault(name: (typeof NATIVE_NAMES)[number]): string | undefined {
  try {
    return findDamage(locateNative(name));
  } catch (error) {
    if (error instanceof SignalboxError) return undefined;
    throw error;
  }
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
    return await tryLauncher(locateNative("launcher"), START_TIMEOUT_MS);
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}

/** Checks whether Node loads the addon on this host. Only the agent, and who asks for its version, need it. */
function checkAddon(): Finding {
  const about = createFindingBuilder("addon");
  try {
    loadPeerAddon();
    return about.ok("it can be loaded: an agent can run on this host");
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return about.warning(`no agent can run on this host: ${error.message}`);
  }
}

/** Timeout for the start of a native program, ms. It normally starts within milliseconds. */
const START_TIMEOUT_MS = 20_000;

const KILLED_REMEDY = "does a seccomp filter, such as that of a container, forbid one of its system calls?";

/** Checks whether this host can guard a command: starts the guardian once, and releases it without a command. */
async function checkGuardian(host: CommandHost, clock: Clock): Promise<Finding> {
  const about = createFindingBuilder("guardian");
  try {
    const isStarted = await Promise.race([startOnce(host), clock.sleep(START_TIMEOUT_MS).then(() => false)]);
    if (isStarted) return about.ok("it starts, and can guard commands on this host");
    const detail = `it did not answer within ${START_TIMEOUT_MS / 1000}s of its start: no command can run on this host`;
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

const ABOUT_AGENT = createFindingBuilder("agent");

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
  if (distrust === "missing") return ABOUT_AGENT.ok(`none at ${path}: each run connects to etcd by itself`);
  if (distrust !== undefined) return buildDistrust(path, distrust);
  const answer = await askAgentVersion(path);
  if (answer.kind === "silent") {
    const detail = `nobody answers at ${path} (${answer.reason}): each run connects to etcd by itself`;
    const remedy = `start it: systemctl start signalbox-agent.socket, or signalbox agent; or remove ${path}`;
    return ABOUT_AGENT.warning(detail, remedy);
  }
  if (!isTrusted(answer.uid)) return buildDistrust(path, `its process belongs to user ${answer.uid}`);
  if (answer.kind === "declined")
    return ABOUT_AGENT.warning(
      `the agent at ${path} does not serve this user: ${answer.reason}`,
      "add the user to the agent's agentAllow, or set SIGNALBOX_AGENT=never",
    );
  return judgeVersion(path, answer.version);
}

function judgeVersion(path: string, version: string): Finding {
  if (version === VERSION) return ABOUT_AGENT.ok(`version ${version} answers at ${path}`);
  const detail = `version ${version} answers at ${path}, and this is version ${VERSION}`;
  const remedy = "restart the agent; running commands go on: systemctl restart signalbox-agent";
  return ABOUT_AGENT.warning(detail, remedy);
}

function buildDistrust(path: string, reason: string): Finding {
  const detail = `launchers do not use ${path}: ${reason}`;
  const remedy = "it must belong to root or to this user, in a folder that nobody else can write to";
  return ABOUT_AGENT.warning(detail, remedy);
}

/**
 * Checks where the output of runs is kept. Creates nothing: the first run that keeps output creates the directory.
 * @param directory  undefined if this user has none
 */
export async function checkOutput(directory: string | undefined): Promise<Finding> {
  const about = createFindingBuilder("output");
  if (directory === undefined) {
    const detail = "output of runs is not kept: this user has no home; to keep it, set outputDirectory";
    return about.ok(detail);
  }
  const fault = await findPrivacyFault(directory).catch((error: NodeJS.ErrnoException) =>
    error.code === "ENOENT" ? undefined : error.message,
  );
  if (fault === undefined) return about.ok(`output of runs is kept in ${quoteText(directory)}`);
  const remedy = `chmod 0700 it, give it to this user, or set outputDirectory`;
  return about.warning(`output of runs is not kept: ${fault}`, remedy);
}
