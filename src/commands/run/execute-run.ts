import { EXIT, SignalboxError } from "../../base/errors.ts";
import { generateRunId } from "../../base/ids.ts";
import { quoteText } from "../../base/text.ts";
import { VERSION } from "../../base/version.ts";
import { StoreError } from "../../etcd/store.ts";
import { serializeHostRecord } from "../../fleet/host-record.ts";
import { createMacros, type Macros } from "../../fleet/macros.ts";
import { evaluateConfiguredTotal } from "../../fleet/resources.ts";
import { createGuardianHost, readUserName } from "../../process/host.ts";
import { createSpanSender } from "../../process/span-sender.ts";
import type { PastRun } from "../../protocol/history.ts";
import { CallAttempts, type RunPorts, type RunRequest } from "../../run/request.ts";
import { type RunResult, run } from "../../run/run.ts";
import { buildRunSpan } from "../../run/run-span.ts";
import type { Call, CommandIo } from "../command.ts";
import { explainError } from "../command-line/execute-command.ts";
import { type CommandConnection, type FrontEndOptions, openConnection } from "../connect.ts";
import { buildRunRequest } from "./build-run-request.ts";
import { CALL_VARIABLE, FALLBACK_VARIABLE, findLaunchedRun, parseCallNote } from "./call-note.ts";
import type { RunFlags } from "./run.ts";
import { buildArchiveOptions, RunArchive } from "./run-archive.ts";

/** Runs the command to its end. @throws SignalboxError or StoreError if the command was not run */
export async function executeRun(invocation: RunInvocation, io: CommandIo): Promise<RunResult> {
  return await withOpenRun(invocation, io, async (ports, request) => {
    try {
      const early = invocation.checkFirst && (await invocation.checkFirst(ports, request));
      if (early !== undefined) return early;
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
  work: (ports: RunPorts, request: RunRequest) => Promise<T>,
): Promise<T> {
  const launched = findLaunchedRun(io);
  const connection = await (launched?.openConnection(call, supply) ?? openConnection(call, io, supply));
  const { store, log, logContext, facts, settings } = connection;
  if (settings.agent === "always" && launched === undefined) throw createNoAgentError();
  const macros = createMacros(facts);
  const owner = launched?.identity ?? { pid: process.pid, user: readUserName() };
  const host = { fqdn: facts.fqdn, macros, settings, owner };
  const request = { ...buildRunRequest(call, host, io.env), ...overrides };
  const ended: EndedRun[] = [];
  const ports = createRunPorts(connection, macros, io, { onGrant, ended }); // last: an agent then answers for a started command
  // `import` here and below, since few runs need it.
  const capture =
    call.flags.capture === undefined
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
    return await work(ports, request);
  } finally {
    await capture?.close();
    await archiveRuns(connection, ended);
    stop();
    log.close?.();
    store.close();
  }
}

/** A run as the history of a lock has it. */
interface EndedRun {
  lock: string;
  past: PastRun;
}

/** Writes runs whose claims are free into the archive, if there is one. Never rejects. */
async function archiveRuns(connection: CommandConnection, ended: readonly EndedRun[]): Promise<void> {
  const options = buildArchiveOptions(connection.settings);
  if (options === undefined) return;
  const archive = new RunArchive(connection);
  for (const { lock, past } of ended) archive.append(options, lock, past);
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
    commands: createGuardianHost(clock),
    describeHost: (wall: number) => serializeHostRecord(facts, VERSION, wall),
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

/** Creates a call from flags and a command, without settings and arguments. */
export function createCall(flags: RunFlags, command: readonly string[]): Call<RunFlags> {
  return { flags, settings: {}, args: [], command, verbosity: 0 };
}
