import { writeSync } from "node:fs";
import {
  createCall,
  executeRun,
  type RunInvocation,
  type RunRefusal,
  type RunResult,
} from "../../cli/commands/run/execute-run.ts";
import { findQueuedRun } from "../../cli/commands/run/queued.ts";
import type { CommandExecutor, CommandIo } from "../../cli/frame/command.ts";
import { explainError } from "../../cli/frame/command-line/execute-command.ts";
import { type LogSink, openForAppend } from "../../cli/frame/logging.ts";
import { parseSwitchman, type SwitchmanCall } from "../../cli/syntax/switchman-call.ts";
import { parseDuration } from "../../core/base/clock.ts";
import { ConfigError, EXIT, SignalboxError } from "../../core/base/errors.ts";
import type { LogFields } from "../../core/base/log.ts";
import { clean } from "../../core/base/text.ts";
import { VERSION } from "../../core/base/version.ts";
import { resolveConfig } from "../../core/config/config.ts";
import type { Env, FileReader } from "../../core/config/files.ts";
import { createValueLayer } from "../../core/config/layers.ts";
import { formatLogTime, hasEndpoints, readPlainFile } from "../front-end.ts";
import {
  buildSwitchmanOptions,
  DEFAULT_CONFIG,
  isAtLeastLevel,
  parseSwitchmanConfig,
  removeZeroLeases,
  type SwitchmanConfig,
  type SwitchmanLevel,
  type SwitchmanOptions,
} from "./options.ts";
import { DIED_EXIT_CODE, switchman } from "./switchman.ts";

const EMULATED_VERSION = "1.16";

export const execute: CommandExecutor = async ({ args }, io) => {
  try {
    const call = parseSwitchman(args);
    return call.asks === undefined ? await runSwitchman(call, io) : await printHelpOrVersion(call.asks, io);
  } catch (error) {
    io.writeError(`switchman: ${clean(explainError(error).message.replace(/^switchman: /, ""))}\n`);
    return DIED_EXIT_CODE;
  }
};

/** Prints the help or the version. Both end with exit code 1, as in Perl's Pod::Usage. */
async function printHelpOrVersion(asks: "help" | "version", io: CommandIo): Promise<number> {
  const { renderCommandHelp, computeHelpWidth } = await import("../../cli/frame/command-line/help.ts");
  if (asks === "help") io.writeOutput(renderCommandHelp(switchman, computeHelpWidth(io.terminal)));
  else io.writeOutput(`switchman ${EMULATED_VERSION} (signalbox ${VERSION})\n`);
  return EXIT.undone;
}

async function runSwitchman(call: SwitchmanCall, io: CommandIo): Promise<number> {
  const config = readSwitchmanConfig(call.config);
  const { logfile: file, loglevel: level } = config;
  const { DEBUG = "" } = io.env;
  const isDebugging = DEBUG !== "" && DEBUG !== "0";
  const log = new SwitchmanLog({ file, level, isDebugging, writeStderr: io.writeError });
  const stop = io.onSignal((name) => log.reportSignal(name));
  try {
    const request = buildSwitchmanRequest(call, config, log, io.env);
    return reportSwitchmanResult(await executeRun(request, io), call, log);
  } catch (error) {
    return reportSwitchmanFailure(error, call, log);
  } finally {
    stop();
  }
}

/** Reads the named file, or the default one. @throws ConfigError */
export function readSwitchmanConfig(
  named: string | undefined,
  read: FileReader = readPlainFile,
): SwitchmanConfig {
  const path = named ?? DEFAULT_CONFIG;
  const text = readConfigText(path, read);
  if (text !== undefined) return parseSwitchmanConfig(path, text);
  throw new ConfigError(
    named === undefined
      ? `${DEFAULT_CONFIG} is absent and --config is missing, see: signalbox switchman --help`
      : `Failed to open <${clean(path)}>: it does not exist`,
  );
}

function readConfigText(path: string, read: FileReader): string | undefined {
  try {
    return read(path)?.text;
  } catch (cause) {
    const { code = "unknown error" } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`Failed to open <${clean(path)}>: ${code}`, { cause });
  }
}

/** The exit codes for a command that cannot be started: the error numbers ENOENT and EACCES of Linux. */
const FAILED_START: Readonly<Record<number, number>> = { [EXIT.notFound]: 2, [EXIT.notExecutable]: 13 };

/** Reports the result of a run in switchman's words. @returns its exit code */
export function reportSwitchmanResult(result: RunResult, call: SwitchmanCall, log: SwitchmanLog): number {
  switch (result.kind) {
    case "interrupted":
      return result.code;
    case "refused":
      return reportRefusal(result.refusal, call, log);
    case "ended": {
      // switchman reads no exit code from a child that was ended by a signal.
      const code = result.exit.code ?? EXIT.ok;
      if (code !== EXIT.ok) log.write("warning", `Child ${log.child} exited with ${code}`);
      return code;
    }
  }
}

function reportRefusal(
  refusal: RunRefusal,
  { lock, name, group, leases }: SwitchmanCall,
  log: SwitchmanLog,
): number {
  switch (refusal.kind) {
    case "busy":
      if (lock !== undefined) log.write("info", `Lock ${lock} already exists`);
      else log.write("debug", `Task <${name}> is already queued up for one of <${leases.join(" ")}>`);
      return EXIT.ok;
    case "outside":
      log.write("debug", `Group <${group ?? refusal.group}> is not serviced at the moment`);
      return EXIT.ok;
    case "drained":
      log.write("info", `Drained by ${refusal.drains.map(({ by }) => by).join(", ")}`);
      return EXIT.ok;
    case "timeout":
      log.write("critical", "Reached timeout while waiting for resources");
      return DIED_EXIT_CODE;
    case "unmet": // switchman has no conditions
    case "evicted":
    case "gone":
    case "lapsed":
      log.write("critical", "Lost position in queue");
      return DIED_EXIT_CODE;
  }
}

/** Reports why a command could not be started. @returns the exit code */
export function reportSwitchmanFailure(
  error: unknown,
  { command }: SwitchmanCall,
  log: SwitchmanLog,
): number {
  const { exitCode, message } = explainError(error);
  const code = error instanceof SignalboxError ? FAILED_START[exitCode] : undefined;
  log.write("critical", code === undefined ? message : `Failed to exec <${command.join(" ")}>: ${message}`);
  return code ?? DIED_EXIT_CODE;
}

/** Builds the run of a switchman line. @throws ConfigError if no endpoints are configured */
function buildSwitchmanRequest(
  line: SwitchmanCall,
  config: SwitchmanConfig,
  log: SwitchmanLog,
  env: Env,
): RunInvocation {
  const call = removeZeroLeases(line, env);
  const parsed = buildSwitchmanOptions(call, config);
  if (parsed.needsEndpoints && !hasEndpoints(env))
    throw new ConfigError(
      `${clean(config.path)} has only zkhosts, the addresses of ZooKeeper; add "etcdhosts": "etcd1:2379,etcd2:2379" to it, give` +
        " --endpoints, or set SIGNALBOX_ENDPOINTS",
    );
  const isLeasing = call.leases.length > 0;
  return {
    call: createCall(parsed.flags, parsed.command),
    options: createValueLayer(removeUnneededTtl(parsed.settings, env)),
    openLog: () => log.sink,
    onGrant: () => log.write("info", `Executing <${call.command.join(" ")}>`),
    overrides: { isKnownOnly: isLeasing },
    ...(isLeasing && call.lock === undefined && { checkFirst: findQueuedRun }),
  };
}

/** Removes the ttl if the configured one is long enough. */
function removeUnneededTtl(
  { ttl, ...others }: SwitchmanOptions["settings"],
  env: Env,
): SwitchmanOptions["settings"] {
  if (ttl === undefined) return others;
  const needed = parseDuration(String(ttl.value));
  const configured = resolveConfig({ env }).values.ttl;
  return "value" in needed && needed.value <= configured ? others : { ttl, ...others };
}

interface SwitchmanLogOptions {
  /** Undefined: the log goes only to standard error. */
  file: string | undefined;
  /** Minimum level for the file. */
  level: SwitchmanLevel;
  /** Writes all levels to standard error, not only warnings and higher. */
  isDebugging: boolean;
  writeStderr(text: string): void;
}

/**
 * Messages of a run for which switchman has its own words: [its level, its words]. All others keep the words of
 * signalbox.
 */
const WORDS: Readonly<Record<string, (fields: LogFields) => [SwitchmanLevel, string]>> = {
  "terminating the command": ({ why }) => ["debug", `Terminating the child: ${why}`],
  "the claim was lost, the command was terminated": ({ why }) => [
    "warning",
    `It's not secure to proceed, ${why}`,
  ],
};

/**
 * Writes switchman's log: `YYYY-MM-DD HH:MM:SS<tab>[pid]<tab>message`, in local time, to standard error and to a
 * file.
 */
export class SwitchmanLog {
  /** Pid of the command, once it runs. */
  child: number | undefined;
  readonly #options: SwitchmanLogOptions;
  readonly #descriptor: number | undefined;
  /** A signal that has arrived before the command was known to run. */
  #earlySignal: NodeJS.Signals | undefined;

  /** @throws ConfigError if the file cannot be opened */
  constructor(options: SwitchmanLogOptions) {
    this.#options = options;
    this.#descriptor = options.file === undefined ? undefined : openLogFile(options.file);
  }

  write(level: SwitchmanLevel, message: string): void {
    const { isDebugging, level: least, writeStderr } = this.#options;
    const line = `${formatLogTime(new Date(), "-")}\t[${process.pid}]\t${clean(message)}\n`;
    if (isAtLeastLevel(level, isDebugging ? "debug" : "warning")) writeStderr(line);
    if (this.#descriptor !== undefined && isAtLeastLevel(level, least)) appendLine(this.#descriptor, line);
  }

  /** Says that the command is sent a signal, like Perl's `warn`, without a date: now, or as soon as it runs. */
  reportSignal(name: NodeJS.Signals): void {
    const { child } = this;
    if (name !== "SIGTERM" && name !== "SIGINT") return;
    if (child === undefined) this.#earlySignal = name;
    else
      this.#options.writeStderr(
        `Parent received ${name}, terminating child ${child}\nSent ${name} to ${child}\n`,
      );
  }

  /**
   * Receives the messages of the run. Its info messages become debug messages, because switchman would only write
   * them when debugging.
   */
  readonly sink: LogSink = {
    debug: (message, fields) => this.#forward("debug", message, fields),
    info: (message, fields) => this.#forward("debug", message, fields),
    warn: (message, fields) => this.#forward("warning", message, fields),
    error: (message, fields) => this.#forward("error", message, fields),
    reopen: () => {},
  };

  #handleStart(pid: number): void {
    this.child = pid;
    if (this.#earlySignal !== undefined) this.reportSignal(this.#earlySignal);
  }

  #forward(level: SwitchmanLevel, message: string, fields: LogFields = {}): void {
    if (message === "started") this.#handleStart(Number(fields.pid));
    const known = WORDS[message]?.(fields);
    if (known !== undefined) return this.write(...known);
    const pairs = Object.entries(fields).filter(([, value]) => value !== undefined);
    this.write(level, [message, ...pairs.map(([key, value]) => `${key}=${value}`)].join(" "));
  }
}

function openLogFile(path: string): number {
  try {
    return openForAppend(path, 0o666);
  } catch (cause) {
    throw new ConfigError(`Cannot write to the logfile: ${(cause as Error).message}`, { cause });
  }
}

/** Appends a line. On a full disk lines are lost, but the run continues. */
function appendLine(descriptor: number, line: string): void {
  try {
    writeSync(descriptor, line);
  } catch {
    // standard error has the important messages
  }
}
