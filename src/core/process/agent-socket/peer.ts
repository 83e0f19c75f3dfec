import { statSync } from "node:fs";
import type { Socket } from "node:net";
import { getSystemErrorMap } from "node:util";
import { type BootTime, subtractTime } from "../../base/clock.ts";
import { ConfigError } from "../../base/errors.ts";
import { type ProcessStatus, readProcess, readProcFile } from "../guarded-command/processes.ts";
import { loadAddon, locateNative } from "../native/locate.ts";
import { CallRefusal, type CallRequest } from "./call-request.ts";

/** The process that made a connection, as the kernel recorded it at that moment. Ids are those of this namespace. */
export interface Peer {
  /** 0 when it is in a pid namespace that cannot be seen from here. */
  pid: number;
  uid: number;
  gid: number;
  /** Supplementary groups. */
  groups: readonly number[];
}

/** Functions that Node lacks. */
export type PeerAddon = ReturnType<typeof loadPeerAddon>;

/**
 * Loads the addon.
 * @param path  by default the addon that was built with this program
 * @throws ConfigError when it cannot be loaded: without it, the agent cannot know who its callers are
 */
export function loadPeerAddon(path: string = locateNative("peer.node")) {
  const { readPeer, readBootTime } = loadExports(path);
  if (readPeer === undefined || readBootTime === undefined)
    throw new ConfigError(`${path} belongs to another version of signalbox; build it with \`npm run build\``);
  return {
    readBootTime,
    /** Reads the peer of a connected Unix socket. @throws Error when the socket has been closed */
    readPeer(socket: Socket): Peer {
      const result = readPeer(readDescriptor(socket));
      if (Array.isArray(result)) return toPeer(result);
      const [name = result] = getSystemErrorMap().get(-result) ?? [];
      throw new Error(`cannot read the peer of a connection: ${name}`);
    },
  };
}

function loadExports(path: string): ReturnType<typeof loadAddon> {
  try {
    return loadAddon(path);
  } catch (cause) {
    throw new ConfigError(
      `cannot load ${path}, which reads who connects to the agent: ${(cause as Error).message}; install signalbox again, or build it with \`npm run build\``,
      { cause },
    );
  }
}

function toPeer([pid = 0, uid = -1, gid = -1, ...groups]: readonly number[]): Peer {
  return { pid, uid, gid, groups };
}

/** Node's types do not declare the descriptor. */
function readDescriptor(socket: Socket): number {
  const { _handle: handle } = socket as { _handle?: { fd?: unknown } | null };
  const descriptor = handle?.fd;
  if (typeof descriptor === "number" && descriptor >= 0) return descriptor;
  throw new Error("the connection has no descriptor");
}

/** Largest plausible difference between two readings of the same boot-time clock, ms. */
const CLOCK_TOLERANCE_MS = 10_000;
/** Maximum number of ancestors to follow. */
const MAX_ANCESTORS = 32;

/**
 * Checks that the caller sees the same process ids, the same clock and the same files as this process.
 * @throws CallRefusal when it does not
 */
export function checkCaller(peer: Peer, request: CallRequest, bootTime: BootTime): void {
  if (Math.abs(subtractTime(request.bootTime, bootTime)) > CLOCK_TOLERANCE_MS)
    throw new CallRefusal("the caller has another boot-time clock: it is in another time namespace");
  const isLauncher = peer.pid === request.pid;
  if (request.state === "running" ? !isGuardianOf(request.pid, peer.pid) : !isLauncher)
    throw new CallRefusal(
      `process ${request.pid} did not make this connection: it is in another pid namespace`,
    );
  if (request.state === "new") checkNamespaces(peer.pid);
}

/** What a process shares with others on its side of the walls of a container. It does not change. */
interface Surroundings {
  depth: number | undefined;
  time: string | undefined;
  root: string | undefined;
}

let own: Surroundings | undefined;

/**
 * Refuses callers in a container. The ids of a process in two pid namespaces can be equal by chance, the clocks of two time
 * namespaces nearly equal. And a path in a call, such as that of a log or of a missing configuration file, means another
 * file below another root directory.
 * A process that cannot be examined is not refused: it has ended, or this agent has few rights.
 * @throws CallRefusal
 */
function checkNamespaces(pid: number): void {
  own ??= readSurroundings(process.pid);
  const { depth, time, root } = readSurroundings(pid);
  if (depth !== undefined && depth !== own.depth)
    throw new CallRefusal("the caller is in another pid namespace");
  if (time !== undefined && time !== own.time)
    throw new CallRefusal("the caller is in another time namespace");
  if (root !== undefined && root !== own.root)
    throw new CallRefusal("the caller has another root directory: it is in a container");
}

function readSurroundings(pid: number): Surroundings {
  return { depth: countPidNamespaces(pid), time: identify(pid, "ns/time"), root: identify(pid, "root") };
}

/** Counts the pid namespaces that a process is in, starting with that of /proc. */
function countPidNamespaces(pid: number): number | undefined {
  const [, ids] = /^NSpid:\s+(.*)$/m.exec(readProcFile(pid, "status") ?? "") ?? [];
  return ids?.split(/\s+/).length;
}

/**
 * Identifies the time namespace or the root directory of a process. Mounts of the same directory count as equal: systemd
 * gives services their own mounts.
 */
function identify(pid: number, what: "ns/time" | "root"): string | undefined {
  try {
    const { dev, ino } = statSync(`/proc/${pid}/${what}`);
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * Whether a process can be a guardian below a launcher: it is a descendant, or the launcher has ended. A process that
 * reuses the launcher's id is younger.
 */
function isGuardianOf(launcher: number, pid: number): boolean {
  const guardian = readProcess(pid);
  if (guardian === undefined || pid === launcher) return false;
  if (hasAncestor(guardian, launcher)) return true;
  const other = readProcess(launcher);
  return other === undefined || other.isDead || other.born > guardian.born;
}

/** Whether a process is a descendant of another one, as /proc shows it now. */
export function hasAncestor({ parent }: ProcessStatus, ancestor: number): boolean {
  for (let at = parent, count = 0; at > 0 && count < MAX_ANCESTORS; count++) {
    if (at === ancestor) return true;
    at = readProcess(at)?.parent ?? 0;
  }
  return false;
}
