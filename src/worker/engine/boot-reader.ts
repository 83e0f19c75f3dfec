import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import type { Boot } from "../../schedule/state/boot.ts";

const BOOT_ID = "/proc/sys/kernel/random/boot_id";

/**
 * Creates a reader of the boot of this host. The instant follows corrections of the wall clock, which may be wrong when a host
 * starts; the id stays.
 * @returns undefined if the kernel does not tell its boot id
 */
export function createBootReader(): (() => Boot) | undefined {
  try {
    const id = readFileSync(BOOT_ID, "utf8").trim();
    return () => ({ id, at: Math.floor(Date.now() / 1_000 - uptime()) * 1_000 });
  } catch {
    return undefined;
  }
}
