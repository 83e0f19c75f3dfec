import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync, statSync } from "node:fs";
import { getPriority } from "node:os";
import { resolve } from "node:path";
import { thisMachine } from "../../../core/config/machine.ts";
import { getEnvVariableName } from "../../../core/config/settings.ts";
import { type HostFacts, readHostFacts } from "../../../core/fleet/host.ts";
import { isAnswered, prepareSocketDirectory } from "../../../core/process/agent-socket/listening-socket.ts";
import { chooseSocketPlace } from "../../../core/process/agent-socket/socket-places.ts";
import { locateNative } from "../../../core/process/native/locate.ts";
import { findForeignPath, findUnservedFlag } from "../../frame/call-note.ts";
import { type Call, CONNECTION_SETTINGS, type CommandIo } from "../../frame/command.ts";
import type { CommandConnection } from "../../frame/connect.ts";
import type { RunFlags } from "./run.ts";

/** How long an agent that was started stays unless it serves a run. */
const IDLE_TIMEOUT = "10m";
/** Shortest time between two starts, ms: runs of one instant, and an agent that cannot start, cost one start. */
const START_INTERVAL = 10_000;

/** Starts an agent for this user, if none listens at the place for it. Does not wait until it serves. Never rejects. */
export async function startAgent(
  call: Call<RunFlags>,
  env: CommandIo["env"],
  { facts, log }: Pick<CommandConnection, "facts" | "log">,
): Promise<void> {
  try {
    const obstacle = findObstacle(call, env, facts);
    if (obstacle !== undefined) return log.info("no agent is started", { why: obstacle });
    const { agentSocket } = call.settings;
    // Not from a file: the launcher reads none.
    const path = resolve(String(agentSocket ?? (env.SIGNALBOX_AGENT_SOCKET || chooseSocketPlace(env))));
    await prepareSocketDirectory(path);
    if ((await isAnswered(path)) || !takeTurn(`${path}.start`)) return;
    spawnAgent(path, buildEnvironment(call, env));
    log.info("starting an agent for the next runs", { socket: path });
  } catch (error) {
    log.info("no agent is started", { why: (error as Error).message });
  }
}

/**
 * Finds why an agent would not serve this run, or would not serve others as well: it inherits the limits of this process, and
 * is ended with its unit.
 */
function findObstacle(call: Call<RunFlags>, env: CommandIo["env"], facts: HostFacts): string | undefined {
  const unserved = findUnservedFlag(call.flags);
  if (unserved !== undefined) return `no agent serves --${unserved.flag}`;
  const path = findForeignPath(call, env, true);
  if (path !== undefined) return `${path} is a path in the current directory`;
  if (env.SIGNALBOX_RUN !== undefined) return "this run is a part of another run, and ends with it";
  if (env.INVOCATION_ID !== undefined) return "this run is a part of a unit of systemd, and ends with it";
  if (process.getuid?.() !== process.geteuid?.())
    return "this run is setuid: an agent would be that of another user";
  if (process.ppid <= 1) return "this run is the main process of a container, and ends it";
  if (getPriority() > 0) return "this run has a low priority (nice)";
  return hasLimits(facts) ? "this run has limits (cgroup, taskset, ulimit)" : undefined;
}

/** The agent needs descriptors for the runs of all. Node has raised its limit to the hard one. */
const ULIMITS = /^Max (cpu time|address space|data size|file size) +\d|^Max open files +\d+ +\d{1,3} /m;

/** Returns whether this process has limits that the first process has not. Those of a whole container are no obstacle. */
export function hasLimits({ cpu, memMb }: HostFacts): boolean {
  const readFile = (path: string) =>
    thisMachine.readFile(path.replace(/^\/proc\/self\/(?=cgroup$|status$)/, "/proc/1/"));
  const first = readHostFacts({ ...thisMachine, readFile });
  const limits = thisMachine.readFile("/proc/self/limits") ?? "";
  return cpu < first.cpu || memMb < first.memMb || ULIMITS.test(limits);
}

/** Takes the turn to start an agent, unless another run has taken it just before. @param mark  its file */
function takeTurn(mark: string): boolean {
  const status = statSync(mark, { throwIfNoEntry: false });
  if (status !== undefined && Math.abs(Date.now() - status.mtimeMs) < START_INTERVAL) return false;
  rmSync(mark, { force: true });
  try {
    closeSync(openSync(mark, "wx", 0o600));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** In a session of its own. Its keeper (launcher/keeper.c) closes the descriptors that this process has inherited. */
function spawnAgent(path: string, env: NodeJS.ProcessEnv): void {
  const words = ["agent", "--agent-socket", path, "--idle-timeout", IDLE_TIMEOUT];
  const keeper = spawn(locateNative("launcher"), words, {
    cwd: "/",
    env: { ...env, SIGNALBOX_KEEP_AGENT: "1" },
    detached: true,
    stdio: "ignore",
  });
  keeper.once("error", () => {}); // the next run tries again
  keeper.unref();
}

/** Variables that an agent uses. The others may be secrets of a job, or are for its unit. */
const AGENT_VARIABLES =
  /^(SIGNALBOX_|ETCDCTL_|OTEL_|XDG_|SSL_|(NODE_EXTRA_CA_CERTS|HOME|LOGNAME|USER|SHELL|PATH|TZ|LANG)$)/;

/** Builds an environment in which the agent finds the connection of this run. */
function buildEnvironment({ settings }: Call<RunFlags>, env: CommandIo["env"]): NodeJS.ProcessEnv {
  const given = (["context", ...CONNECTION_SETTINGS] as const).flatMap((key) => {
    const value = settings[key];
    return value === undefined ? [] : [[getEnvVariableName(key), String(value)]];
  });
  const used = Object.entries(env).filter(([name]) => AGENT_VARIABLES.test(name));
  const file = settings.config === undefined ? [] : [["SIGNALBOX_CONFIG", String(settings.config)]];
  return Object.fromEntries([...used, ...given, ...file]);
}
