import { closeSync } from "node:fs";
import { constants } from "node:os";
import { locatePeerAddon } from "../native/locate.ts";
import { type ProcessStatus, readProcess } from "./processes.ts";

/** Functions of the addon (peer/peer.c); each returns a negative errno when it fails. */
interface ProcessAddon {
  openProcess(pid: number): number;
  signalProcess(pidfd: number, signal: number): number;
}

let addon: Partial<ProcessAddon> | undefined;

/** Loads the addon when a process is first signalled, which most runs never do. Without it, ids are checked as well as they can be. */
function loadAddon(): Partial<ProcessAddon> {
  if (addon !== undefined) return addon;
  const module: { exports: Partial<ProcessAddon> } = { exports: {} };
  try {
    process.dlopen(module, locatePeerAddon());
  } catch {
    // an incomplete installation, or another runtime than Node
  }
  addon = module.exports;
  return addon;
}

/**
 * Signals a process that was seen earlier, and no other one that has its id by now: a pidfd is opened first, and then it is
 * examined. Before Linux 5.3, microseconds remain between the examination and the signal.
 * @param isMeant  what must still hold
 * @returns false when it has ended, or must not be signalled
 */
export function signalProcess(
  { pid, born }: Pick<ProcessStatus, "pid" | "born">,
  name: NodeJS.Signals,
  isMeant: () => boolean = () => true,
): boolean {
  const { openProcess, signalProcess: signal } = loadAddon();
  const opened = openProcess?.(pid) ?? -constants.errno.ENOSYS;
  if (opened === -constants.errno.ESRCH) return false;
  try {
    if (readProcess(pid)?.born !== born || !isMeant()) return false;
    if (opened >= 0 && signal !== undefined) signal(opened, constants.signals[name]);
    else process.kill(pid, name);
  } catch {
    // ended meanwhile, or owned by another user: the next look shows it
  } finally {
    if (opened >= 0) closeSync(opened);
  }
  return true;
}
