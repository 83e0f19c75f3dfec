/** QEMU's user-mode emulator, and namespaces in which the kernel starts programs for arm64 with it. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { copyFile, mkdir, readdir } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { makeLists, makeSources, runApt, unpackInto } from "../../fixtures/debian-packages.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";

/** The first release of Debian with QEMU 10, which knows PR_SET_CHILD_SUBREAPER. */
const SUITE = "trixie";
const CACHE = resolve(import.meta.dirname, "../../.cache/qemu");
/** As mmdebstrap expects it. */
const NAME = "qemu-aarch64-static";

/** Unpacks Debian's emulator under `.cache` once, without installation. @returns its path */
export async function provideEmulator(): Promise<string> {
  const folder = join(CACHE, SUITE);
  if (!existsSync(join(folder, NAME))) await unpackInto(folder, unpackEmulator);
  return join(folder, NAME);
}

async function unpackEmulator(scratch: string, target: string): Promise<void> {
  const options = [...(await makeLists(scratch)), ...(await makeSources(scratch, [SUITE]))];
  await runApt(scratch, options, "update");
  await runApt(scratch, options, "download", "qemu-user");
  const [name = ""] = (await readdir(scratch)).filter((file) => file.endsWith(".deb"));
  // only this program, because the package has 455 MB of others
  const line = 'dpkg-deb --fsys-tarfile "$0" | tar -x ./usr/bin/qemu-aarch64';
  await promisify(execFile)("sh", ["-c", line, name], { cwd: scratch });
  await mkdir(target);
  await copyFile(join(scratch, "usr/bin/qemu-aarch64"), join(target, NAME));
}

/** ELF's header of a program for AArch64, and which of its bits count. @see https://docs.kernel.org/admin-guide/binfmt-misc.html */
const MAGIC = "\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00";
const MASK =
  "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe\\xff\\xff\\xff";
/** All users of this host have the same ids in the namespace. */
const SAME_IDS = "0 0 4294967295";

/**
 * Starts a line of shell in new namespaces, which it gets as root. A user namespace has its own binfmt_misc (Linux 6.7), so
 * nothing changes for the rest of this host.
 * @param more  options of unshare
 */
export async function spawnEmulated(
  emulator: string,
  line: string,
  more: readonly string[] = [],
): Promise<ChildProcessWithoutNullStreams> {
  const namespaces = ["--user", "--mount", "--pid", "--fork", "--kill-child", ...more];
  const wait = 'echo unshared && read -r _ && exec sh -c "$0"'; // this shell gets the rights of root with the next program
  const child = spawn("unshare", [...namespaces, "sh", "-c", wait, `${renderSetup(emulator)} && ${line}`]);
  let text = "";
  const collect = (chunk: Buffer) => {
    text += chunk;
  };
  child.stdout.on("data", collect);
  child.stderr.on("data", collect);
  await waitUntil("a new namespace", () => text.includes("unshared"), { describe: () => text });
  child.stdout.off("data", collect);
  child.stderr.off("data", collect);
  for (const map of ["uid_map", "gid_map"]) writeFileSync(`/proc/${child.pid}/${map}`, SAME_IDS);
  child.stdin.write("\n");
  return child;
}

/** mmdebstrap looks for the emulator in /usr/bin. The kernel opens it at once, so that a root does not need it. */
function renderSetup(emulator: string): string {
  return [
    "mount -t proc proc /proc",
    "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc",
    `printf '%s' ':arm64:M::${MAGIC}:${MASK}:${emulator}:F' >/proc/sys/fs/binfmt_misc/register`,
    `mount -t overlay -o 'lowerdir=${dirname(emulator)}:/usr/bin' overlay /usr/bin`,
  ].join(" && ");
}
