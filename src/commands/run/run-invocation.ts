import { basename } from "node:path";
import { parseDuration } from "../../base/duration.ts";
import { SignalboxError, UsageError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { VERSION } from "../../base/version.ts";
import { scrubEnv } from "../../config/scrub.ts";
import { StoreError } from "../../etcd/store.ts";
import { serializeHostRecord } from "../../fleet/host-record.ts";
import { parseLeases } from "../../fleet/lease-spec.ts";
import { createMacros } from "../../fleet/macros.ts";
import { evaluateConfiguredTotal } from "../../fleet/resources.ts";
import { createGuardianHost } from "../../process/host.ts";
import { readUserName } from "../../process/user.ts";
import { validateName } from "../../protocol/names.ts";
import { type RunResult, run } from "../../work/run/command/run.ts";
import type { ClaimIdentity, RunPorts, RunRequest, WaitLimits } from "../../work/run/request.ts";
import { type CommandConnection, type FrontEndOptions, openConnection } from "../connect.ts";
import { explainError } from "../explain-error.ts";
import type { Call, CommandIo } from "../spec.ts";
import { shortenArgs } from "./record-args.ts";

export type { RunResult };
/** The reason why the command was not run. */
export type RunRefusal = Extract<RunResult, { kind: "refused" }>["refusal"];

/** A run of `signalbox run` or of a front end. */
export interface RunInvocation extends FrontEndOptions {
  /** Flags, settings and the command, as in a line of `signalbox run`. */
  call: Call;
  /** Options that no flag sets. */
  overrides?: Pick<RunRequest, "graceFrom" | "killsAtLimit" | "isKnownOnly">;
  /** Called when the claim is granted, before the command starts. */
  onGrant?(): void;
  /** Called before anything is claimed. If it returns a result, that is the result of the run. */
  checkFirst?(ports: RunPorts, request: RunRequest): Promise<RunResult | undefined>;
}

/** Creates a call from flags and a command, without settings and arguments. */
export function createCall(flags: Call["flags"], command: readonly string[]): Call {
  return { flags, settings: {}, args: [], command, verbosity: 0 };
}

/** Runs the command to its end. @throws SignalboxError or StoreError if the command was not run */
export async function executeRun(invocation: RunInvocation, io: CommandIo): Promise<RunResult> {
  return await prepareInvocation(invocation, io, async (ports, request) => {
    try {
      const early = invocation.checkFirst && (await invocation.checkFirst(ports, request));
      if (early !== undefined) return early;
      const running = run(ports, request);
      // After the guardian starts, and while etcd answers: reading the kernel's files takes half a millisecond.
      setImmediate(() => ports.describeHost(ports.clock.getWallTime()));
      return await running;
    } catch (error) {
      throw error instanceof StoreError ? toNotStarted(error, request) : error;
    }
  });
}

/** Adds the job to the message, because cron mails the message alone. */
function toNotStarted(cause: StoreError, { lock, identity }: RunRequest): SignalboxError {
  const { exitCode, message } = explainError(cause);
  const job = lock === undefined ? `command ${quoteText(identity.command)}` : `lock ${quoteText(lock)}`;
  return new SignalboxError(exitCode, `${job}: the command was not started: ${message}`, { cause });
}

/** Opens everything that a run needs, and closes it after `work`. */
export async function prepareInvocation<T>(
  { call, overrides, onGrant, ...supply }: RunInvocation,
  io: CommandIo,
  work: (ports: RunPorts, request: RunRequest) => Promise<T>,
): Promise<T> {
  const connection = await openConnection(call, io, supply);
  const { store, keys, clock, random, log, facts } = connection;
  const macros = createMacros(facts);
  const ports: RunPorts = {
    ...{ store, keys, clock, random, log },
    commands: createGuardianHost(clock),
    evaluateTotal: (text) => evaluateConfiguredTotal(text, macros),
    describeHost: (wall) => serializeHostRecord(facts, VERSION, wall),
    onSignal: io.onSignal,
    ...dropUndefined({ onGrant }),
    onAttempt: (run) => {
      connection.logContext.run = run;
    },
  };
  const request = { ...buildRunRequest(call, connection, io), ...overrides };
  connection.logContext.lock = request.lock;
  const stop = io.onSignal((name) => {
    if (name === "SIGUSR2") log.reopen();
  });
  try {
    return await work(ports, request);
  } finally {
    stop();
    store.close();
  }
}

function buildRunRequest(call: Call, { settings, facts }: CommandConnection, io: CommandIo): RunRequest {
  const [file = "", ...args] = call.command;
  if (file === "") throw new UsageError("COMMAND is empty; put its name after --");
  const lock = getLockName(call, file);
  const leases = parseLeases(toList(call.flags.lease), createMacros(facts));
  if (lock === undefined && leases.length === 0) {
    throw new UsageError("--no-lock needs --lease; add a lease, or leave --no-lock out");
  }
  return {
    ...(lock !== undefined && { lock }),
    leases,
    patience: parsePatience(call, settings.leaseTimeout),
    identity: buildIdentity(call, settings, facts.fqdn),
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
    command: { file, args, env: scrubEnv(io.env) },
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

function parsePatience({ flags }: Call, leases: number | undefined): WaitLimits {
  const queues = flags.wait !== undefined;
  const lock = typeof flags.wait === "string" ? parseDurationValue("--wait", flags.wait) : undefined;
  return { queues, ...dropUndefined({ lock, leases: leases ?? undefined }) };
}

function parseDurationValue(flag: string, text: string): number {
  const parsed = parseDuration(text);
  if ("fault" in parsed) throw new UsageError(`${flag}: ${parsed.fault}`);
  return parsed.value;
}

function buildIdentity(
  { command }: Call,
  settings: CommandConnection["settings"],
  host: string,
): ClaimIdentity {
  const [file = "", ...args] = command;
  return {
    ...{ host, pid: process.pid, user: readUserName(), command: basename(file) },
    ...(settings.recordArgs && { args: shortenArgs(args) }),
    ...dropUndefined({ label: settings.label }),
  };
}

function toList(value: string | true | readonly string[] | undefined): readonly string[] {
  return Array.isArray(value) ? value : [];
}

/** Removes keys without a value. */
function dropUndefined<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
