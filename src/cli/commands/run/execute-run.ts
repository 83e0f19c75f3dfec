import { constants } from "node:os";
import { basename } from "node:path";
import type { WallTime } from "../../../core/base/clock.ts";
import {
  type ContainerRule,
  type ContainerRun,
  containCommand,
  describeContainer,
  findContainerFault,
} from "../../../core/base/container.ts";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { generateRunId } from "../../../core/base/ids.ts";
import { pickDefined } from "../../../core/base/pick-defined.ts";
import { quoteText } from "../../../core/base/text.ts";
import { readTraceContext } from "../../../core/base/trace.ts";
import { VERSION } from "../../../core/base/version.ts";
import { thisMachine } from "../../../core/config/machine.ts";
import { REMOVED_VARIABLES, scrubEnv } from "../../../core/config/scrub.ts";
import type { Settings } from "../../../core/config/settings.ts";
import { StoreError } from "../../../core/etcd/store.ts";
import { createConditionLookup, HostConditions } from "../../../core/fleet/conditions.ts";
import { serializeHostRecord } from "../../../core/fleet/host-record.ts";
import { parseLeases } from "../../../core/fleet/lease-spec.ts";
import { createMacros, type Macros } from "../../../core/fleet/macros.ts";
import { evaluateConfiguredTotal } from "../../../core/fleet/resources.ts";
import { INHERITED_VARIABLE, parseInherited } from "../../../core/process/guarded-command/command.ts";
import { createGuardianHost, readUserName } from "../../../core/process/host.ts";
import { requireLinux } from "../../../core/process/native/locate.ts";
import { createSpanSender } from "../../../core/process/span-sender.ts";
import type { PastRun } from "../../../core/protocol/history.ts";
import { validateLocks } from "../../../core/protocol/names.ts";
import {
  CallAttempts,
  type ClaimIdentity,
  type RunPorts,
  type RunRequest,
} from "../../../core/run/request.ts";
import { buildRunSpan, type RunResult, run } from "../../../core/run/run.ts";
import { CALL_VARIABLE, FALLBACK_VARIABLE, findLaunchedRun, parseCallNote } from "../../frame/call-note.ts";
import type { Call, CommandIo } from "../../frame/command.ts";
import { explainError } from "../../frame/command-line/execute-command.ts";
import { type CommandConnection, type FrontEndOptions, openConnection } from "../../frame/connect.ts";
import { isExtendedRun, type OpenedRun } from "./extended-run.ts";
import type { RunFlags } from "./run.ts";
import { RunArchive } from "./run-archive.ts";

export type { RunResult };
/** The reason why the command was not run. */
export type RunRefusal = Extract<RunResult, { kind: "refused" }>["refusal"];

/** A run of `signalbox run` or of a front end. */
export interface RunInvocation extends FrontEndOptions {
  /** Flags, settings and the command, as in a line of `signalbox run`. */
  call: Call<RunFlags>;
  /** Options that no flag sets. */
  overrides?: Pick<RunRequest, "graceFrom" | "limitSignal" | "isKnownOnly">;
  /** Whether an agent could serve such runs, so that `agent: start` starts one. */
  startsAgent?: boolean;
  /** Called when the claim is granted, before the command starts. */
  onGrant?(): void;
  /** Called before anything is claimed. If it returns a result, that is the result of the run. */
  checkFirst?(ports: RunPorts, request: RunRequest): Promise<RunResult | undefined>;
}

/** Runs the command to its end. @throws SignalboxError or StoreError if the command was not run */
export async function executeRun(invocation: RunInvocation, io: CommandIo): Promise<RunResult> {
  requireLinux("signalbox run");
  return await withOpenRun(invocation, io, async (ports, request, opened) => {
    try {
      const early = invocation.checkFirst && (await invocation.checkFirst(ports, request));
      if (early !== undefined) return early;
      const { call } = invocation;
      if (isExtendedRun(call.flags)) {
        const { executeExtendedRun } = await import("./extended-run.impl.ts");
        const start = () => runTraced(ports, request, io);
        return await executeExtendedRun({ call, ports, request, io, start, ...opened });
      }
      const running = runTraced(ports, request, io);
      // After the guardian starts, and while etcd answers: reading the kernel's files takes half a millisecond.
      setImmediate(() => ports.describeHost?.(ports.clock.getWallTime()));
      return await running;
    } catch (error) {
      throw error instanceof StoreError ? toNotStarted(error, request) : error;
    }
  });
}

/**
 * Runs, and sends the spans of the run when its claim is free: until then, nothing is loaded for them. Spans of a run that an
 * agent serves are the agent's. @throws as `run`
 */
async function runTraced(ports: RunPorts, request: RunRequest, io: CommandIo): Promise<RunResult> {
  const launched = findLaunchedRun(io);
  const sender =
    launched === undefined ? createSpanSender(io.env, ports, request.identity.host) : launched.spans;
  if (sender === undefined) return await run(ports, request);
  const { clock } = ports;
  const begunAt = clock.getWallTime();
  const running = run(ports, request);
  const end = await running.catch((error) => ({
    code: explainError(error).exitCode,
    error: String(error?.name),
  }));
  const times = { run: generateRunId(ports.random), begunAt, endedAt: clock.getWallTime() };
  sender.send(buildRunSpan(request, end, times));
  if (launched === undefined) await sender.close();
  return await running;
}

/** Adds the job to the message, because cron mails the message alone. */
function toNotStarted(cause: StoreError, { locks, identity }: RunRequest): SignalboxError {
  const { exitCode, message } = explainError(cause);
  const job =
    locks.length === 0
      ? `command ${quoteText(identity.command)}`
      : locks.map((lock) => `lock ${quoteText(lock)}`).join(", ");
  return new SignalboxError(exitCode, `${job}: the command was not started: ${message}`, { cause });
}

/** Opens everything that a run needs, and closes it after `work`. @throws as `openConnection`; UsageError */
export async function withOpenRun<T>(
  { call, overrides, onGrant, startsAgent = false, ...supply }: RunInvocation,
  io: CommandIo,
  work: (ports: RunPorts, request: RunRequest, opened: OpenedRun) => Promise<T>,
): Promise<T> {
  const launched = findLaunchedRun(io);
  const connection = await (launched?.openConnection(call, supply) ??
    openConnection(call, io, { tellsSilence: true, ...supply }));
  const { store, log, logContext, facts, settings } = connection;
  if (settings.agent === "always" && launched === undefined) throw createNoAgentError();
  const macros = createMacros(facts);
  const owner = launched?.identity ?? { pid: process.pid, user: readUserName() };
  const host = { fqdn: facts.fqdn, macros, settings, owner, log };
  const request = { ...buildRunRequest(call, host, io.env), ...overrides };
  const ended: EndedRun[] = [];
  const ports = createRunPorts(connection, macros, io, { onGrant, ended }); // last: an agent then answers for a started command
  // `import` here and below, since few runs need it.
  const capture =
    call.flags.capture === undefined && (launched !== undefined || !needsTail(call.flags))
      ? undefined
      : (await import("./capture.impl.ts")).createCapture(call, io, connection);
  capture?.connect(ports, request);
  logContext.lock = request.locks.length === 0 ? undefined : request.locks.join(",");
  const { [FALLBACK_VARIABLE]: why = "" } = io.env;
  if (why !== "") log.info("no agent serves this run", { why });
  const stop = io.onSignal((name) => {
    if (name === "SIGUSR2") log.reopen();
  });
  if (startsAgent && settings.agent === "start" && launched === undefined)
    setImmediate(async () => {
      // While etcd answers. Never rejects.
      const { startAgent } = await import("./start-agent.impl.ts");
      await startAgent(call, io.env, connection);
    });
  try {
    return await work(ports, request, { connection, capture });
  } finally {
    await capture?.close();
    await archiveRuns(connection, ended);
    stop();
    log.close?.();
    store.close();
  }
}

/** Whether hooks get the end of the output while it passes to the caller. */
function needsTail({ ping, "on-failure": failure, "on-success": success, ...flags }: RunFlags): boolean {
  return (ping ?? failure ?? success) !== undefined && flags["quiet-success"] !== true;
}

/** A run as the history of a lock has it. */
interface EndedRun {
  lock: string;
  past: PastRun;
}

/** Writes runs whose claims are free into the archive, if there is one. Never rejects. */
async function archiveRuns(connection: CommandConnection, ended: readonly EndedRun[]): Promise<void> {
  const archive = new RunArchive(connection);
  const append = archive.chooseFile(connection.settings);
  if (append === undefined) return;
  for (const { lock, past } of ended) append(lock, past);
  await archive.close();
}

/** The launcher does not start this program if an agent must serve the run, so it was started without a launcher. */
function createNoAgentError(): SignalboxError {
  const why =
    "this program was started without its launcher; start the program signalbox (in a clone: dist/signalbox)," +
    " with all options after run, or use --agent auto";
  return new SignalboxError(EXIT.unreachable, `--agent always: no agent serves this run: ${why}`);
}

function createRunPorts(
  { store, keys, clock, random, log, logContext, facts }: CommandConnection,
  macros: Macros,
  io: CommandIo,
  { onGrant, ended }: { onGrant: RunInvocation["onGrant"]; ended: EndedRun[] },
): RunPorts {
  const launched = findLaunchedRun(io);
  const own = launched?.createPorts() ?? {
    commands: createGuardianHost(clock, undefined, (text) => log.warn(text)),
    describeHost: (wall: WallTime) => serializeHostRecord(facts, VERSION, wall),
    ...findEarlierAttempts(io.env),
    archivePastRun: (lock: string, past: PastRun) => void ended.push({ lock, past }),
  };
  return {
    store,
    keys,
    clock,
    random,
    log,
    onSignal: io.onSignal,
    ...own,
    evaluateTotal: (text) => evaluateConfiguredTotal(text, macros),
    ...(onGrant && { onGrant }),
    onAttempt: (attempt) => {
      logContext.run = attempt.run;
      return launched?.onAttempt(attempt);
    },
  };
}

/** Continues the numbers of the attempts that an agent has made for the launcher, before it became this process. */
function findEarlierAttempts({ [CALL_VARIABLE]: note }: CommandIo["env"]): Pick<RunPorts, "attempts"> {
  const call = parseCallNote(note?.slice(note.indexOf("{"))); // without the seal, which only agents can check
  return call === undefined ? {} : { attempts: new CallAttempts(call.id, call.number, call.since) };
}

/** Creates a call from flags and a command, without settings and arguments. */
export function createCall(flags: RunFlags, command: readonly string[]): Call<RunFlags> {
  return { flags, settings: {}, args: [], command, verbosity: 0 };
}

/** What a host adds to the command line of a run: its full name, the values of its macros, and its settings. */
interface RunHost {
  fqdn: string;
  macros: Macros;
  settings: Settings;
  /** The process that was started, and its user. */
  owner: { pid: number; user: string };
  log: RunPorts["log"];
}

/**
 * Builds the request of a run from its command line.
 * @param env  environment of this process; the command gets it without credentials
 * @throws UsageError, ConfigError
 */
function buildRunRequest(call: Call<RunFlags>, host: RunHost, env: CommandIo["env"]): RunRequest {
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
  if (call.flags["retry-wait"] !== undefined && call.flags.retries === undefined)
    throw new UsageError(
      "--retry-wait has an effect only with --retries; add --retries, or leave --retry-wait out",
    );
  if (call.flags.json && !call.flags["dry-run"])
    throw new UsageError("--json has an effect only with --dry-run; add --dry-run, or leave --json out");
  const { wait } = call.flags;
  const container = readContainerRun(call, host.log);
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
    killLeftovers: settings.killLeftovers || container?.rule !== undefined,
    busyExitCode: settings.busyExitCode,
    caller,
    command: {
      ...buildArgv(call.command, container),
      env: scrubEnv(env, removed),
      removed,
      ...(call.flags.foreground === true && { isForeground: true }),
      ...pickDefined({ container }),
      inherited: parseInherited(env[INHERITED_VARIABLE]),
    },
    logReopens: settings.logFile !== undefined,
  };
}

/** @throws UsageError if the container cannot end with the command */
function readContainerRun(
  { flags: { container }, command }: Call<RunFlags>,
  log: RunPorts["log"],
): ContainerRun | undefined {
  const rule: ContainerRule | undefined = container === true ? "warn" : container;
  const fault = rule && findContainerFault(command);
  if (fault !== undefined) throw new UsageError(`--container: ${fault}`);
  return describeContainer(command, rule, (text) => log.warn(text));
}

function buildArgv(command: readonly string[], container: ContainerRun | undefined) {
  const [file = "", ...args] = container?.rule === undefined ? command : containCommand(command);
  return { file, args };
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
    command: basename(file).toWellFormed(),
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
const LONGEST_ARGS = 4_096;
/** Largest number for one argument. */
const LONGEST_ARG = 1_024;
/** Mark at the end of a shortened argument. */
const SHORTENED_MARK = "…";

/** Shortens arguments for a ticket: long words are cut, and the last word says how many words are left out. */
export function shortenArgs(args: readonly string[]): string[] {
  const kept: string[] = [];
  let length = 0;
  for (const arg of args) {
    const text = arg.length <= LONGEST_ARG ? arg : `${arg.slice(0, LONGEST_ARG)}${SHORTENED_MARK}`;
    const word = text.toWellFormed();
    length += word.length + 1;
    if (length > LONGEST_ARGS) break;
    kept.push(word);
  }
  const left = args.length - kept.length;
  return left === 0 ? kept : [...kept, `${SHORTENED_MARK} (${left} more)`];
}
