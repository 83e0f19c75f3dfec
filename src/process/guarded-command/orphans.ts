import type { CommandCgroup } from "./cgroup.ts";
import { isSignalableBy, listProcesses, readProcFile } from "./processes.ts";
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
  /** The only user whose processes may be killed: the rest comes from a client. Undefined: any that can be killed. */
  owner: number | undefined;
}

/** Pause between two looks, ms. It grows while there are processes, which may be unable to die. */
const PAUSE_MS = 20;
const PAUSE_MAX_MS = 250;
/** A process in the middle of its exec shows no environment, so a single scan without results is weak proof. */
const QUIET_LOOKS = 3;

/**
 * Kills the processes that remain when both guardians were killed at once; resolves when none is left. The command's
 * first process has already died (PDEATHSIG). This is a last resort and, without a cgroup, weaker than a guardian: it
 * misses a descendant that left the session *and* changed its environment *and* lost its parents *before* the guardian
 * saw it.
 */
export async function killOrphans(mark: OrphanCriteria, sleep: (ms: number) => Promise<void>): Promise<void> {
  let pause = PAUSE_MS;
  for (let quiet = 0; quiet < QUIET_LOOKS; ) {
    mark.cgroup.kill();
    const found = findOrphans(mark);
    for (const pid of found) kill(pid);
    quiet = found.length === 0 ? quiet + 1 : 0;
    await sleep(pause);
    pause = quiet > 0 ? PAUSE_MS : Math.min(pause * 1.5, PAUSE_MAX_MS);
  }
  mark.cgroup.remove();
}

/** Returns the ids of all processes that match the criteria, and of their descendants. */
function findOrphans({ session, runId, startTimes, cgroup: group, owner }: OrphanCriteria): number[] {
  // Process 1 is never a command's, and all others descend from it: a wrong report must not end the machine.
  const alive = listProcesses().filter(({ pid, isDead }) => !isDead && pid !== process.pid && pid !== 1);
  // The kernel does not reuse a session id while the session has members. A process with that id means that the session
  // has no members.
  const ended = session === undefined || alive.some(({ pid }) => pid === session);
  const marked = new Set(group.listProcessIds().filter((pid) => pid !== process.pid));
  for (const it of alive) {
    const isOurs = (!ended && it.session === session) || startTimes.get(it.pid) === it.born;
    if (isOurs || hasRunId(it.pid, runId)) marked.add(it.pid);
  }
  for (let before = -1; before < marked.size; ) {
    before = marked.size;
    for (const it of alive) if (marked.has(it.parent)) marked.add(it.pid);
  }
  return [...marked].filter((pid) => owner === undefined || isSignalableBy(pid, owner));
}

function hasRunId(pid: number, runId: string | undefined): boolean {
  if (!runId) return false;
  return `\0${readProcFile(pid, "environ") ?? ""}`.includes(`\0SIGNALBOX_RUN=${runId}\0`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended meanwhile, or owned by another user: the next scan shows it
  }
}
