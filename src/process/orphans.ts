import { readdirSync, readFileSync } from "node:fs";

/** How the processes of a command are known when no guardian is left to have them as descendants. */
export interface OrphanMark {
  /** The outer guardian's process id, already reaped: the session it led. */
  session: number;
  /** What SIGNALBOX_RUN holds in the command's environment. */
  runId: string | undefined;
}

interface Process {
  pid: number;
  parent: number;
  session: number;
  dead: boolean;
}

const PAUSE_MS = 20;
/** A process in the middle of its exec shows no environment: one look that finds nothing proves little. */
const QUIET_LOOKS = 3;

/**
 * Kills what both guardians, killed at once, left behind; resolves when none is left. The command's first process has
 * died by itself then (PDEATHSIG). A last resort, and weaker than a guardian: a descendant that left the session *and*
 * changed its environment *and* lost its parents is not found.
 */
export async function killOrphans(mark: OrphanMark, sleep: (ms: number) => Promise<void>): Promise<void> {
  for (let quiet = 0; quiet < QUIET_LOOKS; ) {
    const found = orphans(mark);
    for (const pid of found) kill(pid);
    quiet = found.length === 0 ? quiet + 1 : 0;
    await sleep(PAUSE_MS);
  }
}

/** Process ids of all that bear the mark, and of their descendants. */
function orphans({ session, runId }: OrphanMark): number[] {
  const alive = processes().filter(({ pid, dead }) => !dead && pid !== process.pid);
  // The number of a session is not given away while it has members: a process of that number means that it has none.
  const ended = alive.some(({ pid }) => pid === session);
  const marked = new Set<number>();
  for (const it of alive) {
    if ((!ended && it.session === session) || carries(it.pid, runId)) marked.add(it.pid);
  }
  for (let before = -1; before < marked.size; ) {
    before = marked.size;
    for (const it of alive) if (marked.has(it.parent)) marked.add(it.pid);
  }
  return [...marked];
}

function carries(pid: number, runId: string | undefined): boolean {
  if (!runId) return false;
  return `\0${read(pid, "environ") ?? ""}`.includes(`\0SIGNALBOX_RUN=${runId}\0`);
}

function processes(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => describe(Number(name)) ?? []);
}

/** Fields of /proc/<pid>/stat after the name, which is in brackets and may hold anything. @see proc_pid_stat(5) */
function describe(pid: number): Process | undefined {
  const stat = read(pid, "stat");
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (!fields) return undefined;
  const [state, parent, , session] = fields;
  const threads = Number(fields[17]);
  // A first thread that ended is a zombie while the others run on.
  const dead = state === "X" || (state === "Z" && threads <= 1);
  return { pid, parent: Number(parent), session: Number(session), dead };
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return undefined; // gone meanwhile, or another user's
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // gone meanwhile, or another user's: the next look tells
  }
}
