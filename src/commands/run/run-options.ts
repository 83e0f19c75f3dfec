import { basename } from "node:path";
import { UsageError } from "../../base/errors.ts";
import { type LeaseSpec, parseLeases } from "../../fleet/lease-spec.ts";
import type { Macros } from "../../fleet/macros.ts";
import { validateName } from "../../protocol/names.ts";
import { getListFlag, parseDurationFlag } from "../command-line/flags.ts";
import type { Call } from "../spec.ts";

/** The command line of a run, parsed. */
export interface RunOptions {
  /** Undefined with `--no-lock`. */
  lock: string | undefined;
  leases: readonly LeaseSpec[];
  /** Whether the run queues for the lock. */
  queues: boolean;
  /** How long the run queues for the lock, in ms; undefined: without a limit. */
  lockWait: number | undefined;
  /** The program to run. */
  file: string;
  args: string[];
}

/** @param macros  values of this host, for leases. @throws UsageError, ConfigError */
export function parseRunOptions(call: Call, macros: Macros): RunOptions {
  const [file = "", ...args] = call.command;
  if (file === "") throw new UsageError("COMMAND is empty; put its name after --");
  const lock = getLockName(call, file);
  const leases = parseLeases(getListFlag(call, "lease"), macros);
  if (lock === undefined && leases.length === 0) {
    throw new UsageError("--no-lock needs --lease; add a lease, or leave --no-lock out");
  }
  const lockWait = parseDurationFlag(call, "wait");
  return { lock, leases, queues: call.flags.wait !== undefined, lockWait, file, args };
}

function getLockName({ flags }: Call, file: string): string | undefined {
  const named = flags.lock;
  if (flags["no-lock"] && named !== undefined)
    throw new UsageError("--lock and --no-lock exclude each other");
  if (flags["no-lock"]) return undefined;
  return validateName("lock", typeof named === "string" ? named : basename(file));
}
