import { type ProcessStatus, readProcess } from "../guarded-command/processes.ts";
import { CallRefusal, type CallRequest } from "./call-request.ts";
import type { Peer } from "./peer.ts";

/** Difference of two readings of one boot-time clock that is still plausible, ms. */
const CLOCK_TOLERANCE_MS = 10_000;
/** Maximum number of ancestors to follow. */
const GENERATIONS = 32;

/**
 * Checks that the caller sees the same process ids and the same clock as this process.
 * @param bootTime  boot-time clock of this process, ms
 * @throws CallRefusal when it does not
 */
export function checkCaller(peer: Peer, request: CallRequest, bootTime: number): void {
  if (Math.abs(request.bootTime - bootTime) > CLOCK_TOLERANCE_MS)
    throw new CallRefusal("the caller has another boot-time clock: it is in another time namespace");
  const isLauncher = peer.pid === request.pid;
  if (request.state === "running" ? !isGuardianOf(request.pid, peer.pid) : !isLauncher)
    throw new CallRefusal(
      `process ${request.pid} did not make this connection: it is in another pid namespace`,
    );
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
  for (let at = parent, count = 0; at > 1 && count < GENERATIONS; count++) {
    if (at === ancestor) return true;
    at = readProcess(at)?.parent ?? 0;
  }
  return false;
}
