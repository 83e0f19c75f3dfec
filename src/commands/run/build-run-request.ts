import { constants } from "node:os";
import { basename } from "node:path";
import { UsageError } from "../../base/errors.ts";
import { pickDefined } from "../../base/pick-defined.ts";
import { quoteText } from "../../base/text.ts";
import { readTraceContext } from "../../base/trace.ts";
import { thisMachine } from "../../config/machine.ts";
import { REMOVED_VARIABLES, scrubEnv } from "../../config/scrub.ts";
import type { Settings } from "../../config/settings.ts";
import { createConditionLookup, HostConditions } from "../../fleet/conditions.ts";
import { parseLeases } from "../../fleet/lease-spec.ts";
import type { Macros } from "../../fleet/macros.ts";
import { INHERITED_VARIABLE, parseInherited } from "../../process/guarded-command/inherited.ts";
import { validateLocks } from "../../protocol/names.ts";
import type { ClaimIdentity, RunRequest } from "../../run/request.ts";
import type { Call, CommandIo } from "../command.ts";
import type { RunFlags } from "./run.ts";

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
export function buildRunRequest(call: Call<RunFlags>, host: RunHost, env: CommandIo["env"]): RunRequest {
  const { settings } = host;
  const [file = "", ...args] = call.command;
  if (file === "") throw new UsageError("COMMAND is empty; put its name after --");
  const locks = listLockNames(call, file);
  const leases = parseLeases(call.flags.lease ?? [], host.macros);
  if (locks.length === 0 && leases.length === 0) {
    throw new UsageError("--no-lock needs --lease; add a lease, or leave --no-lock out");
  }
  if (call.flags.mask !== undefined && call.flags.capture === undefined)
    throw new UsageError("--mask has an effect only with --capture; add --capture, or leave --mask out");
  if (call.flags.json && !call.flags["dry-run"])
    throw new UsageError("--json has an effect only with --dry-run; add --dry-run, or leave --json out");
  const { wait } = call.flags;
  const caller = readTraceContext(env);
  const removed = caller?.state === undefined ? [...REMOVED_VARIABLES, "TRACESTATE"] : REMOVED_VARIABLES;
  return {
    locks,
    ...(call.flags.shared === true && { isShared: true }),
    leases,
    ...(call.flags.if && {
      conditions: new HostConditions(
        call.flags.if,
        createConditionLookup(host.macros.lookup, thisMachine.readFile),
      ),
    }),
    waitLimits: {
      queues: wait !== undefined,
      ...(typeof wait === "number" && { lock: wait }),
      ...pickDefined({ leases: settings.leaseTimeout }),
    },
    identity: buildIdentity(file, args, host),
    ttl: settings.ttl / 1000,
    terminationTimeout: settings.terminationTimeout,
    connectTimeout: settings.connectTimeout,
    ...pickDefined({
      group: settings.group,
      grace: settings.grace,
      timeout: settings.timeout,
      maxHold: settings.maxHold,
    }),
    ...readLimitOptions(call, settings),
    history: settings.history,
    killLeftovers: settings.killLeftovers,
    busyExitCode: settings.busyExitCode,
    caller,
    command: {
      file,
      args,
      env: scrubEnv(env, removed),
      removed,
      ...(call.flags.foreground === true && { isForeground: true }),
      inherited: parseInherited(env[INHERITED_VARIABLE]),
    },
    logReopens: settings.logFile !== undefined,
  };
}

function listLockNames({ flags }: Call<RunFlags>, file: string): readonly string[] {
  const named = flags.lock;
  if (flags["no-lock"] && named !== undefined)
    throw new UsageError("--lock and --no-lock exclude each other");
  if (flags["no-lock"] && flags.shared)
    throw new UsageError("--shared has an effect only with a lock; leave out --shared or --no-lock");
  return flags["no-lock"] ? [] : validateLocks(named ?? [basename(file)]);
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
    ...pickDefined({ label: settings.label }),
  };
}

/**
 * Reads what timeout(1) has too: the signal at the end of `--timeout` and `--max-hold`, and whose exit code counts then.
 * @throws UsageError
 */
function readLimitOptions({ flags }: Call<RunFlags>, settings: Settings) {
  const { signal, "preserve-status": preservesStatus } = flags;
  if (settings.timeout === undefined && settings.maxHold === undefined)
    for (const [name, value] of Object.entries({ signal, "preserve-status": preservesStatus }))
      if (value !== undefined)
        throw new UsageError(`--${name} has an effect only with --timeout or --max-hold; add one of them`);
  return {
    ...(typeof signal === "string" && { limitSignal: parseSignal(signal) }),
    ...(preservesStatus === true && { preservesStatus }),
  };
}

/** Parses `INT`, `SIGINT`, `int` or `2`, as kill(1) does. @throws UsageError */
function parseSignal(text: string): NodeJS.Signals {
  const name = text.toUpperCase();
  const found = Object.entries(constants.signals).find(
    ([full, number]) => full === name || full === `SIG${name}` || String(number) === text,
  );
  if (found !== undefined) return found[0] as NodeJS.Signals;
  throw new UsageError(`--signal must be a signal such as INT, HUP or KILL; got ${quoteText(text)}`);
}

/**
 * Largest number of characters of arguments in a ticket: every waiting run reads it, and etcd limits the size of a
 * request.
 */
const MOST = 4_096;
/** Largest number for one argument. */
const LONGEST = 1_024;
/** Mark at the end of a shortened argument. */
const MARK = "…";

/** Shortens arguments for a ticket: long words are cut, and the last word says how many words are left out. */
export function shortenArgs(args: readonly string[]): string[] {
  const kept: string[] = [];
  let length = 0;
  for (const arg of args) {
    const word = arg.length <= LONGEST ? arg : `${arg.slice(0, LONGEST).toWellFormed()}${MARK}`;
    length += word.length + 1;
    if (length > MOST) break;
    kept.push(word);
  }
  const left = args.length - kept.length;
  return left === 0 ? kept : [...kept, `${MARK} (${left} more)`];
}
