import { type Clock, waitAtMost } from "../core/base/clock.ts";
import { CommandCgroup } from "../core/process/guarded-command/cgroup.ts";
import { killOrphans } from "../core/process/guarded-command/orphans.ts";

/** How long a caller waits, ms. */
const KILL_TIMEOUT_MS = 5_000;

/**
 * Creates the function that kills the processes of a run that no launcher has reported. Where thousands of processes come
 * and go, the search for them takes longer than a caller waits: it continues, and the next call gets its result.
 * @param kill  resolves when no process is left
 */
export function createRunKiller(
  clock: Clock,
  kill: (run: string) => Promise<void> = (run) => killProcessesOf(run, clock),
): (run: string) => Promise<boolean> {
  /** Results that no caller has got yet. */
  const results = new Map<string, Promise<void>>();
  return async (run) => {
    const result = results.get(run) ?? kill(run);
    results.set(run, result);
    if (!(await waitAtMost(clock, KILL_TIMEOUT_MS, result))) return false;
    results.delete(run);
    await result; // rejects if it is not certain that all are dead
    return true;
  };
}

async function killProcessesOf(runId: string, clock: Clock): Promise<void> {
  const mark = {
    session: -1,
    runId,
    startTimes: new Map(),
    cgroup: new CommandCgroup(""),
    owner: undefined,
  };
  await killOrphans(mark, (ms) => clock.sleep(ms));
}
