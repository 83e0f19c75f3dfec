/** systemd as the first process of namespaces, in a cgroup of its own. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../../fixtures/wait-until.ts";

/** Options of unshare(1), beside those of every root. */
export const BOOT_NAMESPACES = ["--net", "--uts", "--ipc", "--cgroup"];
const DEVICES = ["null", "zero", "full", "random", "urandom", "tty"];

/** @returns the folder of a new cgroup. Remove it with `removeCgroup` */
export function createCgroup(name: string): string {
  const mount = readFileSync("/proc/self/mounts", "utf8").match(/^\S+ (\S+) cgroup2 /m);
  if (mount?.[1] === undefined)
    throw new Error("no cgroup v2 is mounted: mount -t cgroup2 cgroup2 /sys/fs/cgroup");
  const folder = join(mount[1], name);
  mkdirSync(folder);
  return folder;
}

/** Removes a cgroup and those in it when their last processes have ended. */
export async function removeCgroup(folder: string): Promise<void> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => join(folder, path));
  const folders = [folder, ...paths.filter((path) => statSync(path).isDirectory())].sort().reverse(); // the inner ones first
  for (const path of folders) await waitUntil(`the end of ${path}`, () => tryRemove(path));
}

function tryRemove(cgroup: string): boolean {
  try {
    rmdirSync(cgroup);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EBUSY") return false;
    throw error;
  }
}

/** @returns a line of shell that makes a folder the root of its namespaces, and becomes systemd */
export function renderBoot(folder: string): string {
  const devices = DEVICES.map((name) => `touch dev/${name} && mount --bind /dev/${name} dev/${name}`);
  return [
    "mount --make-rprivate /",
    `mount --bind '${folder}' '${folder}' && cd '${folder}'`,
    "mount -t proc proc proc && mount -t sysfs -o ro sysfs sys && mount -t cgroup2 cgroup2 sys/fs/cgroup",
    "mount -t tmpfs tmpfs run && mount -t tmpfs -o mode=755 tmpfs dev",
    ...devices,
    "mkdir dev/pts dev/shm && mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts && ln -s pts/ptmx dev/ptmx",
    "mount -t tmpfs tmpfs dev/shm && ip link set lo up", // PrivateDevices= needs all of these
    "pivot_root . mnt && umount -l /mnt",
    "echo ready && exec env container=test /lib/systemd/systemd --system systemd.unit=multi-user.target",
  ].join(" && ");
}
