import { readdirSync, readFileSync } from "node:fs";
import type { CommandCgroup } from "./cgroup.ts";
import type { ProcessStartTimes } from "./wire.ts";

/** Identifies the processes of a command when no guardian is left as their ancestor. */
interface OrphanCriteria {
  /** Process id of the outer guardian, already reaped: the id of the session it led. */
  session: number;
  /** The value of SIGNALBOX_RUN in the command's environment. */
  runId: string | undefined;
  /** The processes of the command that the guardian saw, with their start times. */
  startTimes: ProcessStartTimes;
  /** The command's cgroup. */
  cgroup: CommandCgroup;
}

interface Process {
  pid: number;
  parent: number;
  session: number;
  /** Start time in clock ticks. */
  born: number;
  dead: boolean;
}

const PAUSE_MS = 20;
/** A process in the middle of its exec shows no environment, so a single scan without results is weak proof. */
const QUIET_LOOKS = 3;

/**
 * Kills the processes that remain when both guardians were killed at once; resolves when none is left. The command's
 * first process has already died (PDEATHSIG). This is a last resort and, without a cgroup, weaker than a guardian: it
 * misses a descendant that left the session *and* changed its environment *and* lost its parents *before* the guardian
 * saw it.
 */
export async function killOrphans(mark: OrphanCriteria, sleep: (ms: number) => Promise<void>): Promise<void> {
  for (let quiet = 0; quiet < QUIET_LOOKS; ) {
    mark.cgroup.kill();
    const found = findOrphans(mark);
    for (const pid of found) kill(pid);
    quiet = found.length === 0 ? quiet + 1 : 0;
    await sleep(PAUSE_MS);
  }
  mark.cgroup.remove();
}

/** Returns the ids of all processes that match the criteria, and of their descendants. */
function findOrphans({ session, runId, startTimes, cgroup: group }: OrphanCriteria): number[] {
  const alive = listProcesses().filter(({ pid, dead }) => !dead && pid !== process.pid);
  // The kernel does not reuse a session id while the session has members. A process with that id means that the session
  // has no members.
  const ended = alive.some(({ pid }) => pid === session);
  const marked = new Set(group.listProcessIds());
  for (const it of alive) {
    const isOurs = (!ended && it.session === session) || startTimes.get(it.pid) === it.born;
    if (isOurs || hasRunId(it.pid, runId)) marked.add(it.pid);
  }
  for (let before = -1; before < marked.size; ) {
    before = marked.size;
    for (const it of alive) if (marked.has(it.parent)) marked.add(it.pid);
  }
  return [...marked];
}

function hasRunId(pid: number, runId: string | undefined): boolean {
  if (!runId) return false;
  return `\0${readProcFile(pid, "environ") ?? ""}`.includes(`\0SIGNALBOX_RUN=${runId}\0`);
}

function listProcesses(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? []);
}

/**
 * Reads the fields of /proc/<pid>/stat after the name, which is in brackets and may contain any character.
 * @see proc_pid_stat(5)
 */
function readProcess(pid: number): Process | undefined {
  const stat = readProcFile(pid, "stat");
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (!fields) return undefined;
  const [state, parent, , session] = fields;
  const threads = Number(fields[17]);
  // A first thread that has ended is a zombie while the other threads still run.
  const dead = state === "X" || (state === "Z" && threads <= 1);
  return { pid, parent: Number(parent), session: Number(session), born: Number(fields[19]), dead };
}

function readProcFile(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return undefined; // ended meanwhile, or owned by another user
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // ended meanwhile, or owned by another user: the next scan shows it
  }
}
