import { closeSync } from "node:fs";
import { constants } from "node:os";
import type { Millis } from "../../base/clock.ts";
import { loadAddon } from "../native/locate.ts";
import type { CommandCgroup } from "./cgroup.ts";
import {
  isSignalableBy,
  listProcessIds,
  type ProcessStatus,
  readProcess,
  readProcFile,
} from "./processes.ts";
import type { ProcessStartTimes } from "./wire.ts";

/** Identifies the processes of a command when no guardian is left as their ancestor. */
interface OrphanCriteria {
  /** Process id of the outer guardian, already reaped: the id of the session it led. Undefined: not known. */
  session: number | undefined;
  /** The value of SIGNALBOX_RUN in the command's environment. */
  runId: string | undefined;
  /** The processes of the command that the guardian saw, with their start times. */
  startTimes: ProcessStartTimes;
  /** The command's cgroup. */
  cgroup: CommandCgroup;
  /** The only user whose processes may be killed, because the other criteria come from a client. Undefined: any user. */
  owner: number | undefined;
}

/** Pause between two scans, ms. It grows while processes are found, which may be unable to die. */
const PAUSE_MS = 20;
const PAUSE_MAX_MS = 250;
/**
 * Number of scans without results. A process in the middle of its exec shows no environment, so a few scans prove
 * little.
 */
const QUIET_SCANS = 10;
/**
 * Weight of a scan in which a process ended before it could be examined: it may have been the command's, and have
 * forked.
 */
const INCOMPLETE_SCAN_WEIGHT = 0.2;

/**
 * Kills the processes that remain when both guardians were killed at once; resolves when none is left. The command's
 * first process has already died (PDEATHSIG), unless it is setuid or setgid. This is a last resort and, without a
 * cgroup, weaker than a guardian: it misses a descendant that left the session *and* changed its environment *and* lost
 * its parents *before* the guardian saw it.
 */
export async function killOrphans(mark: OrphanCriteria, sleep: (ms: Millis) => Promise<void>): Promise<void> {
  let pause = PAUSE_MS;
  for (let quiet = 0; quiet < QUIET_SCANS; ) {
    mark.cgroup.kill();
    const weight = killFound(mark);
    quiet = weight === 0 ? 0 : quiet + weight;
    await sleep(pause);
    pause = quiet > 0 ? PAUSE_MS : Math.min(pause * 1.5, PAUSE_MAX_MS);
  }
  mark.cgroup.remove();
}

/**
 * Kills all living processes that match the criteria, each as soon as it is found, and then their descendants.
 * @returns the weight of this scan as a sign that none is left
 */
function killFound(mark: OrphanCriteria): number {
  const { session, runId, startTimes, cgroup, owner } = mark;
  const marked = new Set(cgroup.listProcessIds());
  // The kernel does not reuse a session id while the session has members. A process with that id means that the session
  // has no members.
  const hasSession = session !== undefined && (readProcess(session)?.isDead ?? true);
  const all: ProcessStatus[] = [];
  const ids = listProcessIds();
  let found = 0;
  const killMarked = (it: ProcessStatus) => {
    marked.add(it.pid);
    if (!it.isDead && killProcess(it, owner)) found += 1;
  };
  for (const pid of ids) {
    const it = readProcess(pid);
    if (it === undefined) continue;
    all.push(it);
    const isInSession = hasSession && it.session === session;
    if (isInSession && owner === undefined && it.group > 1) killGroup(it);
    if (marked.has(pid) || isInSession || startTimes.get(pid) === it.born || hasRunId(pid, runId))
      killMarked(it);
  }
  for (let before = -1; before < marked.size; ) {
    before = marked.size;
    for (const it of all) if (marked.has(it.parent) && !marked.has(it.pid)) killMarked(it);
  }
  // A scan that misses this process could not read /proc: no descriptor was free.
  if (found > 0 || !all.some(({ pid }) => pid === process.pid)) return 0;
  return all.length === ids.length ? 1 : INCOMPLETE_SCAN_WEIGHT;
}

function hasRunId(pid: number, runId: string | undefined): boolean {
  if (!runId) return false;
  return `\0${readProcFile(pid, "environ") ?? ""}`.includes(`\0SIGNALBOX_RUN=${runId}\0`);
}

/**
 * Kills the group of a process, which may be a zombie. The kernel signals a group as a whole: no member can fork
 * meanwhile, so a chain of processes that each fork the next one and exit ends.
 */
function killGroup({ group }: ProcessStatus): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // ended meanwhile, or owned by another user: the next scan shows it
  }
}

/**
 * Kills a process if its id is still its own, and it still belongs to the owner. Process 1 is never a command's, and all
 * others descend from it: a wrong report must not bring the machine down.
 * @returns false when it has ended, or must not be killed
 */
function killProcess(status: ProcessStatus, owner: number | undefined): boolean {
  const { pid } = status;
  if (pid === 1 || pid === process.pid) return false;
  return signalProcess(status, "SIGKILL", () => owner === undefined || isSignalableBy(pid, owner));
}

let addon: ReturnType<typeof loadAddon> | undefined;

/**
 * Loads the addon when a process is first signalled, which most runs never do. Without it, ids are checked as well as
 * possible.
 */
function loadProcessAddon(): ReturnType<typeof loadAddon> {
  try {
    addon ??= loadAddon();
  } catch {
    addon = {}; // an incomplete installation, or another runtime than Node
  }
  return addon;
}

/**
 * Signals a process that was seen earlier, but never another one that has its id by now: opens a pidfd, and then examines
 * the process. Before Linux 5.3, microseconds remain between the examination and the signal.
 * @param isMeant  a condition that must still hold
 * @returns false when it has ended, or must not be signalled
 */
export function signalProcess(
  { pid, born }: Pick<ProcessStatus, "pid" | "born">,
  name: NodeJS.Signals,
  isMeant: () => boolean = () => true,
): boolean {
  const { openProcess, signalProcess: signal } = loadProcessAddon();
  const opened = openProcess?.(pid) ?? -constants.errno.ENOSYS;
  if (opened === -constants.errno.ESRCH) return false;
  try {
    if (readProcess(pid)?.born !== born || !isMeant()) return false;
    if (opened >= 0 && signal !== undefined) signal(opened, constants.signals[name]);
    else process.kill(pid, name);
  } catch {
    // ended meanwhile, or owned by another user: the next scan shows it
  } finally {
    if (opened >= 0) closeSync(opened);
  }
  return true;
}
