import type { Clock } from "../../base/clock.ts";
import type { Finding } from "../../base/finding.ts";
import { createGuardianHost } from "../../process/host.ts";
import { checkAddon } from "./addon.ts";
import { checkGuardian } from "./guardian.ts";
import { checkLauncher } from "./launcher.ts";

/** Starts the native programs once, and loads the addon: do they work on this host? The guardian comes first. */
export async function checkNative(clock: Clock): Promise<Finding[]> {
  const started = await Promise.all([checkGuardian(createGuardianHost(clock), clock), checkLauncher()]);
  return [...started, checkAddon()];
}
