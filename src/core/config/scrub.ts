import { findNearest } from "../base/text.ts";
import type { Env } from "./files.ts";
import { getEnvVariableName, getSetting, SETTING_KEYS } from "./settings.ts";

/** Variables that contain etcd credentials. */
const CREDENTIAL_VARIABLES: ReadonlySet<string> = new Set(
  SETTING_KEYS.filter((key) => getSetting(key).credential === true).flatMap((key) => [
    getEnvVariableName(key),
    getSetting(key).etcdctl ?? getEnvVariableName(key),
  ]),
);

const VARIABLE_PREFIX = "SIGNALBOX_";
/** Variables that a launcher sets for the program that it becomes. They say nothing to the command. */
const OF_LAUNCHER = ["CALL", "FALLBACK", "PROGRAM", "INHERITED", "HOOKS"].map(
  (name) => `${VARIABLE_PREFIX}${name}`,
);
/** Our variables that are not settings. Three are read elsewhere; a run or a worker sets the others for its command. */
const OTHER_VARIABLES = [
  "CONFIG",
  "COMPLETION_TIMEOUT",
  "ENV",
  "TOKEN",
  "LOCK_KEY",
  "CGROUP",
  "RUN",
  "LEASES",
  "SCHEDULE",
  "TYPE",
  "SCHEDULED",
  "SCHEDULED_MS",
  "ATTEMPT",
  "RUNNING_KEY",
].map((name) => `${VARIABLE_PREFIX}${name}`);

/** The variables that a command does not get. */
export const REMOVED_VARIABLES: readonly string[] = [...CREDENTIAL_VARIABLES, ...OF_LAUNCHER];

/**
 * Returns the environment for the command: without our credentials and what a launcher set, otherwise unchanged.
 * @param removed  the names of the variables to leave out
 */
export function scrubEnv(env: Env, removed = REMOVED_VARIABLES): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => value !== undefined && !removed.includes(name));
  return Object.fromEntries(kept) as Record<string, string>;
}

/**
 * Finds variables that begin with our prefix but are unknown, with the variable that was probably meant. Most of them
 * are typing errors.
 */
export function findStrayVariables(env: Env): { name: string; meant: string | undefined }[] {
  const known = [...SETTING_KEYS.map(getEnvVariableName), ...OTHER_VARIABLES, ...OF_LAUNCHER];
  const stray = Object.keys(env).filter((name) => name.startsWith(VARIABLE_PREFIX) && !known.includes(name));
  return stray.map((name) => ({ name, meant: findMeantVariable(name, known) }));
}

/** Compares names without the common prefix, which would make all names similar. */
function findMeantVariable(name: string, known: readonly string[]): string | undefined {
  const removePrefix = (text: string) => text.slice(VARIABLE_PREFIX.length);
  const meant = findNearest(removePrefix(name), known.map(removePrefix));
  return meant === undefined ? undefined : `${VARIABLE_PREFIX}${meant}`;
}
