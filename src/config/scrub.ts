import { nearest } from "../base/text.ts";
import type { Env } from "./files.ts";
import { SETTING_KEYS, settingOf, variableOf } from "./settings.ts";

/** Variables that say how to get into etcd. */
const CREDENTIALS: ReadonlySet<string> = new Set(
  SETTING_KEYS.filter((key) => settingOf(key).credential === true).flatMap((key) => [
    variableOf(key),
    settingOf(key).etcdctl ?? variableOf(key),
  ]),
);

/** Variables of ours that are no settings: three are read elsewhere, the others a command gets from its run or worker. */
const OTHERS = [
  ...["CONFIG", "COMPLETION_TIMEOUT", "ENV", "TOKEN", "LOCK_KEY", "RUN", "LEASES", "SCHEDULE", "TYPE"],
  ...["SCHEDULED", "SCHEDULED_MS", "ATTEMPT", "RUNNING_KEY"],
].map((name) => `SIGNALBOX_${name}`);

/** The environment for the command that is run: without our credentials, otherwise as it is. */
export function scrubEnv(env: Env): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !CREDENTIALS.has(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

/** Variables that begin like ours and are not, with the one that was probably meant: most likely typing errors. */
export function strayVariables(env: Env): { name: string; meant: string | undefined }[] {
  const known = [...SETTING_KEYS.map(variableOf), ...OTHERS];
  const stray = Object.keys(env).filter((name) => name.startsWith("SIGNALBOX_") && !known.includes(name));
  return stray.map((name) => ({ name, meant: nearest(name, known) }));
}
