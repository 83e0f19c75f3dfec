/** Words of a program that becomes another one in a container: with a root directory, and processes, of its own. */
import { mkdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { LAUNCHER } from "../../../fixtures/signalbox.ts";

const REPOSITORY = resolve(import.meta.dirname, "../../..");

/** $1: folder of the new root, $2: a copied file, $3: folders to mount there by the same paths; then the program. */
const ENTER = `
  set -e
  root=$1 copied=$2 mounts=$3
  shift 3
  mount -t tmpfs none "$root"
  mkdir -p "$root/proc" "$root/dev" "$root/tmp" "$root/root" "$root/usr" "$root$(dirname "$copied")"
  for link in bin sbin lib lib64; do [ ! -L "/$link" ] || cp -P "/$link" "$root/"; done
  mount --rbind -o ro /usr "$root/usr"
  mount --rbind /dev "$root/dev"
  mount -t proc none "$root/proc"
  for folder in $mounts; do mkdir -p "$root$folder"; mount --bind "$folder" "$root$folder"; done
  [ -e "$root$copied" ] || cp "$copied" "$root$copied"
  cd /
  exec chroot "$root" "$@"`;

export interface ContainerOptions {
  /** An existing folder for the files of the test. */
  folder: string;
  /** Folders of this machine that it sees too, by the same paths. */
  mounts: readonly string[];
  /** Whether it has processes of its own, and their /proc. */
  hasOwnPids: boolean;
  /** Whether it has Node.js and all of signalbox, and not the launcher only. */
  hasNode: boolean;
}

/** @returns the words; they need root */
export function enterContainer({ folder, mounts, hasOwnPids, hasNode }: ContainerOptions): string[] {
  const root = join(folder, "root");
  mkdirSync(root, { recursive: true });
  const pids = hasOwnPids ? ["--pid", "--fork", "--kill-child"] : [];
  const all = [...mounts, ...(hasNode ? [REPOSITORY, dirname(process.execPath)] : [])];
  return ["unshare", "--mount", ...pids, "sh", "-c", ENTER, "sh", root, LAUNCHER, all.join(" ")];
}
