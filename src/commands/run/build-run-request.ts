import { basename } from "node:path";
import { scrubEnv } from "../../config/scrub.ts";
import type { Settings } from "../../config/settings.ts";
import { readUserName } from "../../process/user.ts";
import type { ClaimIdentity, RunRequest } from "../../work/run/request.ts";
import type { CommandIo } from "../spec.ts";
import { shortenArgs } from "./record-args.ts";
import type { RunOptions } from "./run-options.ts";

/**
 * Builds the request of a run.
 * @param host  full name of this host
 * @param env   environment of this process; the command gets it without credentials
 */
export function buildRunRequest(
  options: RunOptions,
  settings: Settings,
  host: string,
  env: CommandIo["env"],
): RunRequest {
  const { lock, leases, queues, lockWait, file, args } = options;
  return {
    ...dropUndefined({ lock }),
    leases,
    patience: { queues, ...dropUndefined({ lock: lockWait, leases: settings.leaseTimeout }) },
    identity: buildIdentity(options, settings, host),
    ttl: settings.ttl / 1000,
    terminationTimeout: settings.terminationTimeout,
    connectTimeout: settings.connectTimeout,
    ...dropUndefined({
      group: settings.group,
      grace: settings.grace,
      timeout: settings.timeout,
      maxHold: settings.maxHold,
    }),
    history: settings.history,
    killLeftovers: settings.killLeftovers,
    busyExitCode: settings.busyExitCode,
    command: { file, args, env: scrubEnv(env) },
    logReopens: settings.logFile !== undefined,
  };
}

function buildIdentity({ file, args }: RunOptions, settings: Settings, host: string): ClaimIdentity {
  return {
    ...{ host, pid: process.pid, user: readUserName(), command: basename(file) },
    ...(settings.recordArgs && { args: shortenArgs(args) }),
    ...dropUndefined({ label: settings.label }),
  };
}

/** Removes keys without a value. */
function dropUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
