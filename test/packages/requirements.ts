/** What the tests of packages need of this machine. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Where Debian's packages for cross compilers have the libraries of arm64. */
export const ARM64_ROOT = "/usr/aarch64-linux-gnu";

/** @returns why packages cannot be installed in a bare root here; undefined if they can */
export function explainNoBareRoot(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can do this";
  const missing = ["mmdebstrap", "unshare", "nsenter", "script", "ip"].find(
    (name) => findProgram(name) === undefined,
  );
  return missing === undefined
    ? undefined
    : `needs ${missing} (apt-get install mmdebstrap util-linux iproute2)`;
}

/** @returns why programs for arm64 cannot be started here; undefined if they can */
export function explainNoArm64(): string | undefined {
  const emulator = findArm64Emulator();
  if (emulator === undefined) return "needs qemu-aarch64 (apt-get install qemu-user-static), or QEMU_AARCH64";
  if (!existsSync(join(ARM64_ROOT, "lib/libstdc++.so.6")))
    return "needs the libraries of arm64 (apt-get install libstdc++6-arm64-cross)";
  const [, major] =
    /version (\d+)/.exec(spawnSync(emulator, ["--version"], { encoding: "utf8" }).stdout) ?? [];
  if (Number(major) >= 10) return undefined;
  return `needs qemu 10 or later: version ${major} lacks PR_SET_CHILD_SUBREAPER; bookworm-backports has it`;
}

/** @returns the path of QEMU's user-mode emulator; undefined if there is none */
export function findArm64Emulator(): string | undefined {
  return process.env.QEMU_AARCH64 || (findProgram("qemu-aarch64-static") ?? findProgram("qemu-aarch64"));
}

function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
