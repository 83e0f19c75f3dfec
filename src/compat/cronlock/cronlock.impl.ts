import {
  createCall,
  executeRun,
  type RunInvocation,
  type RunRefusal,
  type RunResult,
} from "../../cli/commands/run/execute-run.ts";
import { type RunFlags, runCommand } from "../../cli/commands/run/run.ts";
import type { CommandExecutor, CommandIo } from "../../cli/frame/command.ts";
import { explainError } from "../../cli/frame/command-line/execute-command.ts";
import { parseCall } from "../../cli/frame/command-line/parse-call.ts";
import { type LogSink, openLog } from "../../cli/frame/logging.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { ConfigError, EXIT, SignalboxError, UsageError } from "../../core/base/errors.ts";
import type { LogFields } from "../../core/base/log.ts";
import { clean, quoteText } from "../../core/base/text.ts";
import { resolveConfig } from "../../core/config/config.ts";
import type { Env } from "../../core/config/files.ts";
import { createValueLayer } from "../../core/config/layers.ts";
import type { Settings } from "../../core/config/settings.ts";
import { formatLogTime, hasEndpoints } from "../front-end.ts";
import { CRONLOCK_CODES } from "./cronlock.ts";
import {
  buildCronlockSettings,
  buildLoginSettings,
  CREDENTIALS,
  type CronlockOptions,
  findPortHint,
  parseCronlockOptions,
  type RequestedSettings,
  type SignalboxConfig,
} from "./options.ts";
import { type CronlockTool, readCronlockConfig, type ShellFile, ToolVariables } from "./variables.ts";

/** `cronlock COMMAND ARG...` and `golock COMMAND ARG...`, with their exit codes. */
export const runCronlock = createFrontEnd("cronlock");
export const runGolock = createFrontEnd("golock");

function createFrontEnd(tool: CronlockTool): CommandExecutor {
  return async ({ args }, io) => {
    const startedAt = Date.now();
    const log = new CronlockLog(tool, io);
    try {
      return await runLine(args, io, { tool, log, startedAt });
    } catch (error) {
      const { exitCode, message } = explainError(error);
      log.error(message);
      return exitCode === EXIT.notFound || exitCode === EXIT.notExecutable
        ? exitCode
        : CRONLOCK_CODES.failure;
    }
  };
}

/** A run of a tool: its log, and its start. */
interface FrontEndRun {
  tool: CronlockTool;
  log: CronlockLog;
  startedAt: WallTime;
}

/** @throws the error that prevents the run */
async function runLine(words: readonly string[], outer: CommandIo, frontEnd: FrontEndRun): Promise<number> {
  const { log } = frontEnd;
  const { parsed, io } = prepareRun(words, outer, frontEnd);
  try {
    const requested = buildCronlockSettings(parsed, createConfigReader(parsed, io.env));
    log.debug(`Connecting to etcd at ${requested.endpoints?.value ?? "the addresses configured"}`);
    if (parsed.isReset) {
      const { resetLock } = await import("./reset.ts"); // seldom needed, and large
      return await resetLock(parsed, requested, io, log);
    }
    log.reportKey(`Acquiring lock on ${parsed.lock} key`, parsed.showsKey);
    const result = await executeRun(buildRunRequest(parsed, requested, frontEnd), io);
    return reportResult(parsed, result, log);
  } catch (error) {
    const hint = findConfigHint(error, parsed, io.env);
    if (hint === undefined) throw error;
    const { exitCode, message } = explainError(error);
    throw new SignalboxError(exitCode, `${message}; ${hint}`, { cause: error });
  }
}

/** Parses the line with its variables and its file. @returns also the command's environment */
function prepareRun(
  words: readonly string[],
  io: CommandIo,
  { tool, log }: FrontEndRun,
): { parsed: CronlockOptions; io: CommandIo } {
  const { SIGNALBOX_PROGRAM: program = process.argv[1] ?? "" } = io.env; // as the launcher was called
  const file = readCronlockConfig(tool, io.env, program);
  const variables = buildVariables(io.env, file);
  log.isVerbose = variables.isYes("CRONLOCK_VERBOSE");
  if (file !== undefined) log.debug(`Including config from ${file.path}`);
  const parsed = parseCronlockOptions(tool, words, variables);
  for (const note of parsed.notes) log.info(note);
  if (words.length === 0 && !(parsed.isReset && variables.get("CRONLOCK_KEY") !== undefined))
    throw new UsageError(`no command was given; usage: ${tool} COMMAND [ARG...]; see: ${tool} --help`);
  if (words[0] === "") throw new UsageError(`the command is empty; usage: ${tool} COMMAND [ARG...]`);
  return { parsed, io: { ...io, env: buildCommandEnvironment(io.env, file) } };
}

function buildVariables(env: CommandIo["env"], file: ShellFile | undefined): ToolVariables {
  const set = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return new ToolVariables(new Map(set), file?.assignments, file?.path);
}

/**
 * Builds the command's environment. The command gets a variable of a sourced file if the file exports it, or if the
 * variable was set before. Credentials for etcd are removed.
 */
function buildCommandEnvironment(env: CommandIo["env"], file: ShellFile | undefined): CommandIo["env"] {
  const changed = (file?.assignments ?? []).filter(
    ({ name, isExported }) => isExported || env[name] !== undefined,
  );
  const values = { ...env, ...Object.fromEntries(changed.map(({ name, value }) => [name, value])) };
  return Object.fromEntries(Object.entries(values).filter(([name]) => !CREDENTIALS.includes(name)));
}

/** @throws UsageError */
function parseRunOptions({ runOptions }: CronlockOptions): RunFlags {
  return runOptions.length === 0 ? {} : parseCall(runCommand, [...runOptions, "--", "true"]).flags;
}

function buildRunRequest(
  parsed: CronlockOptions,
  requested: RequestedSettings,
  { log: voice, startedAt }: FrontEndRun,
): RunInvocation {
  const got =
    parsed.tool === "golock" ? `Lock ${parsed.lock} acquired` : `Cronlock ${parsed.lock} acquired by me`;
  // Apart from their own variables, the tools have no time limit.
  const never = { value: "0", source: "default of CRONLOCK_TIMEOUT" };
  return {
    call: createCall({ ...parseRunOptions(parsed), lock: [parsed.lock] }, parsed.command),
    options: createValueLayer({ ...requested, timeout: requested.timeout ?? never }),
    openLog: openToolLog,
    overrides: {
      // Both tools count whole seconds, and one more: a job that runs every minute with a grace of 59 s must find its
      // next minute free.
      graceFrom: Math.floor(startedAt / 1000) * 1000 + 1000,
      ...(parsed.timeout > 0 && { limitSignal: "SIGKILL" }),
    },
    onGrant: () => voice.debug(got),
  };
}

/**
 * Opens the log. Entries with a reason report how a run ended, which this front end writes in the tool's words
 * instead. A log file receives all entries.
 */
function openToolLog(settings: Settings, wall: () => number): LogSink {
  const { logFile: file, logLevel: level, logFormat: format } = settings;
  const log = openLog({ file, level, format, isQuiet: false }, wall);
  if (file !== undefined) return log;
  const skipEndingMessages = (write: LogSink["warn"]) => (message: string, fields?: LogFields) => {
    if (fields?.why === undefined) write(message, fields);
  };
  return { ...log, warn: skipEndingMessages(log.warn), error: skipEndingMessages(log.error) };
}

/** Reports how the run ended. @returns the exit code */
function reportResult(parsed: CronlockOptions, result: RunResult, log: CronlockLog): number {
  if (result.kind === "refused") log.debug(formatCronlockRefusal(parsed, result.refusal, Date.now()));
  if (result.kind !== "ended") return result.code;
  const { code, ending } = result;
  if (ending?.kind === "lost") {
    log.error(`the lock was lost, the command was terminated: ${ending.why}`);
    return CRONLOCK_CODES.failure;
  }
  if (ending?.kind !== "timeout") return code;
  const isTimeout = parsed.timeout > 0 && parsed.timeout <= parsed.release;
  const release = `${parsed.release}s: its lock is free now (CRONLOCK_RELEASE)`;
  log.reportKilledCommand(parsed.words, isTimeout ? `${parsed.timeout}s timeout` : release);
  return CRONLOCK_CODES.timeout;
}

/** Returns which of the tool's variables may have caused a failure, or undefined. */
export function findConfigHint(error: unknown, parsed: CronlockOptions, env: Env): string | undefined {
  if (explainError(error).exitCode === EXIT.unreachable)
    return parsed.endpoints === undefined
      ? findEndpointsHint(parsed, env)
      : findPortHint(parsed.endpoints.value);
  if (!(error instanceof ConfigError) || parsed.login === undefined) return undefined;
  const canResolve = (more: RequestedSettings) => {
    try {
      resolveConfig({ env, options: createValueLayer({ ...buildAccessSettings(parsed), ...more }) });
      return true;
    } catch {
      return false;
    }
  };
  const [user, plain] = [createSetting("somebody"), { allowPlaintextPassword: createSetting("true") }];
  if (canResolve({})) return undefined;
  if (parsed.login.user === undefined && canResolve({ user, ...plain }))
    return "CRONLOCK_AUTH contains only a password: write user:password, or name the user in SIGNALBOX_USER";
  return canResolve(plain)
    ? "use TLS with CRONLOCK_TLS=yes, or allow it with SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD=true"
    : undefined;
}

/** Returns a hint if no endpoints are configured. Lines that used a Redis on their own host name no address. */
function findEndpointsHint(parsed: CronlockOptions, env: Env): string | undefined {
  const options = createValueLayer({
    ...buildAccessSettings(parsed),
    allowPlaintextPassword: createSetting("true"),
  });
  return hasEndpoints(env, options)
    ? undefined
    : "no address of etcd is configured: set CRONLOCK_HOST or SIGNALBOX_ENDPOINTS";
}

/** Returns a function that reads the signalbox configuration, with the login for its etcd. @throws ConfigError */
function createConfigReader(parsed: CronlockOptions, env: Env): () => SignalboxConfig {
  const login = { ...buildLoginSettings(parsed), allowPlaintextPassword: createSetting("true") };
  const options = createValueLayer(login);
  return () => resolveConfig({ env, options }).values;
}

function buildAccessSettings(parsed: CronlockOptions): RequestedSettings {
  return { endpoints: parsed.endpoints, ...buildLoginSettings(parsed) };
}

function createSetting(value: string) {
  return { value, source: "" };
}

/**
 * Formats why nothing was run, in the tool's words if it has any for the case. @param wall  wall clock, ms since the
 * epoch
 */
function formatCronlockRefusal({ tool, lock }: CronlockOptions, refusal: RunRefusal, wall: WallTime): string {
  if (refusal.kind !== "busy") return `${tool} ${lock}: ${formatOtherRefusal(refusal)}`;
  const words =
    tool === "golock" ? `Lock ${lock} acquired by another process` : `Cronlock ${lock} was already acquired`;
  const { host, pid, until } = refusal.holder?.ticket ?? {};
  if (until !== undefined) return `${words} (expires in ${Math.max(0, Math.ceil((until - wall) / 1000))}s)`;
  return host === undefined ? words : `${words} (by process ${pid} on ${host})`;
}

function formatOtherRefusal(refusal: Exclude<RunRefusal, { kind: "busy" }>): string {
  switch (refusal.kind) {
    case "drained":
      return "drained by an operator";
    case "outside":
      return `this host is not in group ${quoteText(refusal.group)}`;
    case "timeout":
      return `the wait timed out; ${refusal.why}`;
    case "evicted":
      return `removed from the queue by ${quoteText(refusal.by)}`;
    default:
      return "the session expired while waiting";
  }
}

/** Writes messages in the format of the tool: plain lines for cronlock, lines of Go's slog for golock. */
export class CronlockLog {
  readonly #tool: CronlockTool;
  readonly #io: CommandIo;
  /** CRONLOCK_VERBOSE=yes. */
  isVerbose = false;

  constructor(tool: CronlockTool, io: CommandIo) {
    this.#tool = tool;
    this.#io = io;
  }

  /** Writes a message only if CRONLOCK_VERBOSE=yes. */
  debug(text: string): void {
    if (this.isVerbose) this.#write("DEBUG", text);
  }

  /**
   * Writes a message about something without effect: on a terminal or in verbose mode, but not into every mail of
   * cron.
   */
  info(text: string): void {
    if (this.isVerbose || this.#io.terminal.canAsk()) this.#write("INFO", text);
  }

  /** Writes the line of golock with the lock's name, which CRONLOCK_SHOW_KEY asks for. cronlock has none. */
  reportKey(text: string, isShown: boolean): void {
    if (isShown) this.#write("INFO", text);
    else if (this.#tool === "golock") this.debug(text);
  }

  error(text: string): void {
    this.#write("ERROR", this.#tool === "golock" ? text : `cronlock: ${text}`);
  }

  /** Reports that the command was killed. cronlock writes this to standard output. Write errors are ignored. */
  reportKilledCommand(command: readonly string[], why: string): void {
    const words = clean(command.join(" "));
    if (this.#tool === "golock") return this.error(`emergency: had to kill [${words}] after ${why}`);
    try {
      this.#io.writeOutput(`emergency: had to kill '${words}' after ${clean(why)}\n`);
    } catch {
      // a full disk: the exit code shows the result
    }
  }

  #write(level: string, text: string): void {
    const line = this.#tool === "golock" ? `${formatLogTime(new Date(), "/")} ${level} ${text}` : text;
    this.#io.writeError(`${clean(line)}\n`);
  }
}
