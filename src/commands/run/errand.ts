import { basename } from "node:path";
import { parseDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { VERSION } from "../../base/version.ts";
import { scrubEnv } from "../../config/scrub.ts";
import { hostText } from "../../fleet/host-record.ts";
import { parseLeases } from "../../fleet/lease-spec.ts";
import { macrosOf } from "../../fleet/macros.ts";
import { configuredTotal } from "../../fleet/resources.ts";
import { guardianHost } from "../../process/host.ts";
import { userName } from "../../process/user.ts";
import { checkedName } from "../../protocol/names.ts";
import type { Identity, Patience, RunPorts, RunRequest } from "../../work/run/request.ts";
import { type RunResult, run } from "../../work/run/run.ts";
import { type Connection, connect, type Supply } from "../connect.ts";
import type { Call, Surroundings } from "../spec.ts";

export type { RunResult };
/** Why nothing was run. */
export type Refusal = Extract<RunResult, { kind: "refused" }>["refusal"];

/** A run as `signalbox run` and the front ends want it. */
export interface Errand extends Supply {
  /** Flags, settings and the command, as a line of `signalbox run` would have them. */
  call: Call;
  /** What no flag of ours says. */
  manner?: Pick<RunRequest, "graceFrom" | "killsAtLimit" | "isKnownOnly">;
  /** Told when the claim is granted, before the command is started. */
  onGrant?(): void;
  /** Asked before anything is claimed: a result of its own is the whole errand's. */
  before?(ports: RunPorts, request: RunRequest): Promise<RunResult | undefined>;
}

/** The call of a line of which nothing is left to be read but its flags and its command. */
export function callOf(flags: Call["flags"], command: readonly string[]): Call {
  return { flags, settings: {}, args: [], command, verbosity: 0 };
}

/** Does it, to its end. @throws SignalboxError or StoreError when the command was not run */
export async function runErrand(errand: Errand, world: Surroundings): Promise<RunResult> {
  return await prepared(errand, world, async (ports, request) => {
    const early = errand.before && (await errand.before(ports, request));
    if (early !== undefined) return early;
    const running = run(ports, request);
    // After the guardian, and like it while etcd answers: reading the kernel's files takes half a millisecond.
    setImmediate(() => ports.describeHost(ports.clock.wall()));
    return await running;
  });
}

/** Everything a run needs, for as long as `work` takes. */
export async function prepared<T>(
  { call, manner, onGrant, ...supply }: Errand,
  world: Surroundings,
  work: (ports: RunPorts, request: RunRequest) => Promise<T>,
): Promise<T> {
  const connection = await connect(call, world, supply);
  const { store, keys, clock, random, log, facts } = connection;
  const macros = macrosOf(facts);
  const ports: RunPorts = {
    ...{ store, keys, clock, random, log },
    commands: guardianHost(clock),
    evaluateTotal: (text) => configuredTotal(text, macros),
    describeHost: (wall) => hostText(facts, VERSION, wall),
    onSignal: world.onSignal,
    ...defined({ onGrant }),
  };
  const request = { ...requestOf(call, connection, world), ...manner };
  const stop = world.onSignal((name) => {
    if (name === "SIGUSR2") log.reopen();
  });
  try {
    return await work(ports, request);
  } finally {
    stop();
    store.close();
  }
}

function requestOf(call: Call, { settings, facts }: Connection, world: Surroundings): RunRequest {
  const [file = "", ...args] = call.command;
  if (file === "") throw new UsageError("the command is empty; put its name after --");
  const lock = lockName(call, file);
  const leases = parseLeases(list(call.flags.lease), macrosOf(facts));
  if (lock === undefined && leases.length === 0) {
    throw new UsageError(
      "--no-lock without --lease leaves nothing to hold; name a lease, or leave --no-lock out",
    );
  }
  return {
    ...(lock !== undefined && { lock }),
    leases,
    patience: patienceOf(call, settings.leaseTimeout),
    identity: identityOf(call, settings, facts.fqdn),
    ttl: settings.ttl / 1000,
    terminationTimeout: settings.terminationTimeout,
    connectTimeout: settings.connectTimeout,
    ...defined({
      group: settings.group,
      grace: settings.grace,
      timeout: settings.timeout,
      maxHold: settings.maxHold,
    }),
    history: settings.history,
    killLeftovers: settings.killLeftovers,
    busyExitCode: settings.busyExitCode,
    command: { file, args, env: scrubEnv(world.env) },
    logReopens: settings.logFile !== undefined,
  };
}

function lockName({ flags }: Call, file: string): string | undefined {
  const named = flags.lock;
  if (flags["no-lock"] && named !== undefined)
    throw new UsageError("--lock and --no-lock exclude each other");
  if (flags["no-lock"]) return undefined;
  return checkedName("lock", typeof named === "string" ? named : basename(file));
}

function patienceOf({ flags }: Call, leases: number | undefined): Patience {
  const queues = flags.wait !== undefined;
  const lock = typeof flags.wait === "string" ? durationOf("--wait", flags.wait) : undefined;
  return { queues, ...defined({ lock, leases: leases ?? undefined }) };
}

function durationOf(flag: string, text: string): number {
  const parsed = parseDuration(text);
  if ("fault" in parsed) throw new UsageError(`${flag}: ${parsed.fault}`);
  return parsed.value;
}

function identityOf({ command }: Call, settings: Connection["settings"], host: string): Identity {
  const [file = "", ...args] = command;
  return {
    ...{ host, pid: process.pid, user: userName(), command: basename(file) },
    ...(settings.recordArgs && { args }),
    ...defined({ label: settings.label }),
  };
}

function list(value: string | true | readonly string[] | undefined): readonly string[] {
  return Array.isArray(value) ? value : [];
}

/** Without the keys that have no value. */
function defined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
