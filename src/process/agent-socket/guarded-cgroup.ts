import { lstatSync, statfsSync } from "node:fs";
import { readProcFile } from "../guarded-command/processes.ts";

/** Where cgroups of version 2 are mounted, as in guardian/cgroup.c. */
const MOUNTS = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
const CGROUP2_MAGIC = 0x63677270;
/** The names that guardians give to the cgroups of their commands (guardian/abandoned-cgroups.c). */
const NAME = /^signalbox-[0-9a-f]+-\d+-\d+$/;

/**
 * Checks the path of a command's cgroup that a guardian reports: it must be a cgroup below the guardian's own, with a
 * guardian's name, and belong to the guardian's user. Otherwise a client could make the agent write to any path.
 * @returns the path, or "" when it is not such a cgroup
 */
export function findGuardedCgroup(path: string, guardian: number, uid: number): string {
  const slash = path.lastIndexOf("/");
  const parent = path.slice(0, slash);
  if (!NAME.test(path.slice(slash + 1)) || parent.split("/").includes("..")) return "";
  const home = readHome(guardian);
  const isBelow =
    home !== undefined && MOUNTS.some((mount) => parent === `${mount}${home}` && isCgroup2(mount));
  return isBelow && isOwnDirectory(path, uid) ? path : "";
}

/** Reads the path of a process's cgroup below the mount; "" for the root. @see cgroups(7) */
function readHome(pid: number): string | undefined {
  const text = readProcFile(pid, "cgroup");
  const bytes = text === undefined ? "" : Buffer.from(text, "latin1").toString();
  const [, home] = /^0::(\/.*)$/m.exec(bytes) ?? [];
  return home === "/" ? "" : home;
}

function isCgroup2(mount: string): boolean {
  try {
    return statfsSync(mount).type === CGROUP2_MAGIC;
  } catch {
    return false;
  }
}

function isOwnDirectory(path: string, uid: number): boolean {
  const status = lstatSync(path, { throwIfNoEntry: false });
  return status?.isDirectory() === true && status.uid === uid;
}
