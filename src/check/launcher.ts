import { SignalboxError } from "../base/errors.ts";
import type { Finding } from "../base/finding.ts";
import { locateLauncher, tryLauncher } from "../process/native/locate.ts";

const ABOUT_LAUNCHER = { kind: "launcher", check: "launcher" } as const;
/** Timeout for a start of the launcher, ms. It normally ends within milliseconds. */
const PATIENCE = 20_000;

/** Checks whether the launcher, the program `signalbox` in PATH, starts on this host. */
export async function checkLauncher(): Promise<Finding> {
  const fault = await findFault();
  if (fault === undefined)
    return { ...ABOUT_LAUNCHER, level: "ok", detail: "it starts, and can ask an agent" };
  const detail = `runs cannot be started with it, and no agent can serve them: ${fault}`;
  return {
    ...ABOUT_LAUNCHER,
    level: "failure",
    detail,
    remedy: "install signalbox again, for the processor of this host",
  };
}

async function findFault(): Promise<string | undefined> {
  try {
    return await tryLauncher(locateLauncher(), PATIENCE);
  } catch (error) {
    if (error instanceof SignalboxError) return error.message;
    throw error;
  }
}
