import { basename } from "node:path";
import { UsageError } from "../../base/errors.ts";
import { REMOVED_VARIABLES, scrubEnv } from "../../config/scrub.ts";
import type { Settings } from "../../config/settings.ts";
import { parseLeases } from "../../fleet/lease-spec.ts";
import type { Macros } from "../../fleet/macros.ts";
import { INHERITED_VARIABLE, parseInherited } from "../../process/guarded-command/inherited.ts";
import { validateName } from "../../protocol/names.ts";
import type { ClaimIdentity, RunRequest } from "../../work/run/request.ts";
import { getListFlag, parseDurationFlag } from "../command-line/flags.ts";
import type { Call, CommandIo } from "../spec.ts";
import { readLimitOptions } from "./limit-signal.ts";
import { shortenArgs } from "./record-args.ts";

/** What a host adds to the command line of a run: its full name, the values of its macros, and its settings. */
interface RunHost {
  fqdn: string;
  macros: Macros;
  settings: Settings;
  /** The process that was started, and its user. */
  owner: { pid: number; user: string };
}

/**
 * Builds the request of a run from its command line.
 * @param env  environment of this process; the command gets it without credentials
 * @throws UsageError, ConfigError
 */
export function buildRunRequest(call: Call, host: RunHost, env: CommandIo["env"]): RunRequest {
  const { settings } = host;
  const [file = "", ...args] = call.command;
  if (file === "") throw new UsageError("COMMAND is empty; put its name after --");
  const lock = getLockName(call, file);
  const leases = parseLeases(getListFlag(call, "lease"), host.macros);
  if (lock === undefined && leases.length === 0) {
    throw new UsageError("--no-lock needs --lease; add a lease, or leave --no-lock out");
  }
  if (call.flags.mask !== undefined && call.flags.capture === undefined)
    throw new UsageError("--mask has an effect only with --capture; add --capture, or leave --mask out");
  const wait = dropUndefined({ lock: parseDurationFlag(call, "wait"), leases: settings.leaseTimeout });
  return {
    ...dropUndefined({ lock }),
    leases,
    patience: { queues: call.flags.wait !== undefined, ...wait },
    identity: buildIdentity(file, args, host),
    ttl: settings.ttl / 1000,
    terminationTimeout: settings.terminationTimeout,
    connectTimeout: settings.connectTimeout,
    ...dropUndefined({
      group: settings.group,
      grace: settings.grace,
      timeout: settings.timeout,
      maxHold: settings.maxHold,
    }),
    ...readLimitOptions(call, settings),
    history: settings.history,
    killLeftovers: settings.killLeftovers,
    busyExitCode: settings.busyExitCode,
    command: {
      file,
      args,
      env: scrubEnv(env),
      removed: REMOVED_VARIABLES,
      ...(call.flags.foreground === true && { isForeground: true }),
      inherited: parseInherited(env[INHERITED_VARIABLE]),
    },
    logReopens: settings.logFile !== undefined,
  };
}

function getLockName({ flags }: Call, file: string): string | undefined {
  const named = flags.lock;
  if (flags["no-lock"] && named !== undefined)
    throw new UsageError("--lock and --no-lock exclude each other");
  if (flags["no-lock"]) return undefined;
  return validateName("lock", typeof named === "string" ? named : basename(file));
}

function buildIdentity(
  file: string,
  args: readonly string[],
  { fqdn, settings, owner }: RunHost,
): ClaimIdentity {
  return {
    host: fqdn,
    ...owner,
    command: basename(file),
    ...(settings.recordArgs && { args: shortenArgs(args) }),
    ...dropUndefined({ label: settings.label }),
  };
}

/** Removes keys without a value. */
function dropUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
