import { setTimeout as pause } from "node:timers/promises";
import {
  GUARDIAN,
  listMarkedProcesses,
  type MarkedProcess,
} from "../../../fixtures/process/marked-processes.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";

/** Interval between two scans of all processes. Scans need processor time, and must not disturb the measurement. */
const LOOK_EVERY = 25;
/** Number of empty scans that are required. A process shows no environment during exec, so one scan is not enough. */
const QUIET_LOOKS = 3;

/**
 * Waits until all processes with the mark of a run have ended.
 * @param runner  process id of a frozen runner, which may stay, with its guardians
 * @returns the time until the first scan that found nothing, without pauses of this process, ms
 * @throws Error with the remaining processes after `limit` ms
 */
export async function waitForDeath(mark: string, limit: number, runner?: number): Promise<number> {
  const waited = startStopwatch();
  let died = 0;
  for (let quiet = 0; quiet < QUIET_LOOKS; ) {
    const alive = listMarkedProcesses(mark).filter(({ pid, name }) => !isSpared(runner, pid, name));
    quiet = alive.length === 0 ? quiet + 1 : 0;
    const elapsed = waited();
    if (quiet === 1) died = elapsed;
    if (elapsed > limit && quiet === 0)
      throw new Error(`still alive after ${limit} ms: ${describeProcesses(alive)}`);
    await pause(LOOK_EVERY);
  }
  return died;
}

function isSpared(runner: number | undefined, pid: number, name: string): boolean {
  return runner !== undefined && (pid === runner || name === GUARDIAN);
}

const describeProcesses = (alive: readonly MarkedProcess[]) =>
  alive.map(({ pid, name }) => `${name} (${pid})`).join(", ");
