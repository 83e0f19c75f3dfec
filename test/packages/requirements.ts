/** What the tests of packages need of this machine. */
import { accessSync, constants } from "node:fs";
import { release } from "node:os";
import { delimiter, join } from "node:path";

/** The first Linux with a binfmt_misc for each user namespace. */
const BINFMT_KERNEL = [6, 7] as const;

/** @returns why packages cannot be installed in a bare root here; undefined if they can */
export function explainNoBareRoot(): string | undefined {
  if (process.getuid?.() !== 0) return "only root can do this";
  const missing = ["mmdebstrap", "unshare", "nsenter", "script", "ip"].find((name) => !hasProgram(name));
  return missing === undefined
    ? undefined
    : `needs ${missing} (apt-get install mmdebstrap util-linux iproute2)`;
}

/** @returns why a package for another processor cannot be installed in a bare root here; undefined if it can */
export function explainNoEmulation(): string | undefined {
  if (process.arch !== "x64") return "only x64 emulates arm64";
  const [major = 0, minor = 0] = release().split(".").map(Number);
  const isOld = major < BINFMT_KERNEL[0] || (major === BINFMT_KERNEL[0] && minor < BINFMT_KERNEL[1]);
  return isOld ? `needs Linux ${BINFMT_KERNEL.join(".")} or later` : explainNoBareRoot();
}

function hasProgram(name: string): boolean {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.some((folder) => isExecutable(join(folder, name)));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
