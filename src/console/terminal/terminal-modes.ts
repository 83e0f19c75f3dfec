import { spawnSync } from "node:child_process";

/** Time limit of stty, which waits while the terminal is stopped (Ctrl+S), ms. */
const STTY_TIMEOUT_MS = 500;

/** Reads the modes of the terminal, for `restoreModes`. @returns undefined if the system has no stty */
export function saveModes(): string | undefined {
  const { status, stdout } = spawnSync("stty", ["-g"], {
    stdio: ["inherit", "pipe", "ignore"],
    encoding: "utf8",
    timeout: STTY_TIMEOUT_MS,
  });
  const text = stdout?.trim() ?? "";
  return status === 0 && /^[0-9a-f:]+$/.test(text) ? text : undefined;
}

/**
 * Restores the modes of the terminal. A program that was killed leaves its modes set, and the console would later pass
 * them to the user's shell.
 */
export function restoreModes(saved: string | undefined): void {
  if (saved === undefined) return;
  spawnSync("stty", [saved], { stdio: ["inherit", "ignore", "ignore"], timeout: STTY_TIMEOUT_MS });
}
