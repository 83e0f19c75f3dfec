import { setTimeout as pause } from "node:timers/promises";
import {
  GUARDIAN,
  listMarkedProcesses,
  type MarkedProcess,
} from "../../../fixtures/process/marked-processes.ts";
import { startStopwatch } from "../../../fixtures/steady.ts";

/** Between two looks at all processes: looking costs, and what is measured must not suffer from being measured. */
const LOOK_EVERY = 25;
/** A process in the middle of its exec shows no environment: one look that finds nothing proves little. */
const QUIET_LOOKS = 3;

/**
 * Waits until nothing that bears a run's mark lives.
 * @param runner  stays, as one that stands still does; and its guardians with it, until it hears them
 * @returns the ms until the first look that found nothing; those in which this process stood still do not count
 * @throws Error naming what is still alive after `limit` ms
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
