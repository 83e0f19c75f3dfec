/** systemd as the first process of namespaces, in a cgroup of its own. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

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

/** Removes a cgroup without processes, and those in it. */
export function removeCgroup(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true }))
    if (entry.isDirectory()) removeCgroup(join(folder, entry.name));
  rmdirSync(folder);
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
    "ip link set lo up",
    "pivot_root . mnt && umount -l /mnt",
    "echo ready && exec env container=test /lib/systemd/systemd --system systemd.unit=multi-user.target",
  ].join(" && ");
}
