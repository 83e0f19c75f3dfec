import { EXIT, SignalboxError, UsageError } from "../../base/errors.ts";
import type { LogFields } from "../../base/log.ts";
import { type LogSink, openLog } from "../../commands/logging.ts";
import { explained } from "../../commands/perform.ts";
import { callOf, type Errand, type RunResult, runErrand } from "../../commands/run/errand.ts";
import type { Execute, Surroundings } from "../../commands/spec.ts";
import { gatheredLayer } from "../../config/layers.ts";
import type { Settings } from "../../config/settings.ts";
import { CODES } from "./codes.ts";
import { configFile } from "./config-file.ts";
import { hintFor, ownOf } from "./hint.ts";
import type { Tool } from "./lock-name.ts";
import { CREDENTIALS } from "./login.ts";
import { refusalText } from "./refusal.ts";
import { type Asked, settingsOf } from "./settings.ts";
import type { ShellFile } from "./shell-file.ts";
import { Variables } from "./variables.ts";
import { Voice } from "./voice.ts";
import { type Wish, wishOf } from "./wish.ts";

/** `cronlock COMMAND ARG...` and golock's like. @returns their exit codes */
export function frontEnd(tool: Tool): Execute {
  return async ({ args }, world) => {
    const startedAt = Date.now();
    const voice = new Voice(tool, world);
    try {
      return await follow(tool, args, world, { voice, startedAt });
    } catch (error) {
      const { exitCode, message } = explained(error);
      voice.error(message);
      return exitCode === EXIT.notFound || exitCode === EXIT.notExecutable ? exitCode : CODES.failure;
    }
  };
}

/** A run of the tool: who speaks, and when it began by the wall clock. */
interface Turn {
  voice: Voice;
  startedAt: number;
}

/** @throws whatever keeps the line from being run */
async function follow(
  tool: Tool,
  words: readonly string[],
  outer: Surroundings,
  turn: Turn,
): Promise<number> {
  const { wish, world } = understood(tool, words, outer, turn.voice);
  try {
    const asked = settingsOf(wish, ownOf(wish, world.env));
    turn.voice.debug(`Connecting to etcd at ${asked.endpoints?.value ?? "the addresses configured"}`);
    if (wish.resets) {
      const { resetLock } = await import("./reset.ts"); // seldom, and large
      return await resetLock(wish, asked, world, turn.voice);
    }
    return conclude(wish, await runErrand(errandOf(wish, asked, turn), world), turn.voice);
  } catch (error) {
    const hint = hintFor(error, wish, world.env);
    if (hint === undefined) throw error;
    const { exitCode, message } = explained(error);
    throw new SignalboxError(exitCode, `${message}; ${hint}`, { cause: error });
  }
}

/** The line with its variables and its file. @returns the command's environment, too */
function understood(
  tool: Tool,
  words: readonly string[],
  world: Surroundings,
  voice: Voice,
): { wish: Wish; world: Surroundings } {
  const file = configFile(tool, world.env, process.argv[1] ?? "");
  const variables = variablesOf(world.env, file);
  voice.beVerbose(variables.isYes("CRONLOCK_VERBOSE"));
  if (file !== undefined) voice.debug(`Including config from ${file.path}`);
  const wish = wishOf(tool, words, variables);
  for (const note of wish.notes) voice.note(note);
  if (words.length === 0 && !(wish.resets && variables.get("CRONLOCK_KEY") !== undefined))
    throw new UsageError(`no command was given; usage: ${tool} COMMAND [ARG...]; see: ${tool} --help`);
  return { wish, world: { ...world, env: environment(world.env, file) } };
}

function variablesOf(env: Surroundings["env"], file: ShellFile | undefined): Variables {
  const set = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return new Variables(new Map(set), file?.assignments, file?.path);
}

/**
 * The command's environment: a file that is sourced changes what it exports, and what was there. Less what says how to get
 * into etcd.
 */
function environment(env: Surroundings["env"], file: ShellFile | undefined): Surroundings["env"] {
  const changed = (file?.assignments ?? []).filter(
    ({ name, isExported }) => isExported || env[name] !== undefined,
  );
  const values = { ...env, ...Object.fromEntries(changed.map(({ name, value }) => [name, value])) };
  return Object.fromEntries(Object.entries(values).filter(([name]) => !CREDENTIALS.includes(name)));
}

function errandOf(wish: Wish, asked: Asked, { voice, startedAt }: Turn): Errand {
  const got = wish.tool === "golock" ? `Lock ${wish.lock} acquired` : `Cronlock ${wish.lock} acquired by me`;
  // The tools know no other end than their own variables set.
  const never = { value: "0", source: "default of CRONLOCK_TIMEOUT" };
  return {
    call: callOf({ lock: wish.lock }, wish.command),
    options: gatheredLayer({ timeout: never, ...asked }),
    openLog: (settings, wall) => logOf(settings, wall),
    manner: {
      // Both tools count whole seconds, and one more: a job of every minute with a grace of 59 s must find its next minute free.
      graceFrom: Math.floor(startedAt / 1000) * 1000 + 1000,
      killsAtLimit: wish.timeout > 0,
    },
    onGrant: () => voice.debug(got),
  };
}

/** What is logged with a reason is an ending: said here, in the tool's words. A log file gets everything. */
function logOf(settings: Settings, wall: () => number): LogSink {
  const { logFile: file, logLevel: level, logFormat: format } = settings;
  const log = openLog({ file, level, format, isQuiet: false }, wall);
  if (file !== undefined) return log;
  const unlessEnding = (write: LogSink["warn"]) => (message: string, fields?: LogFields) => {
    if (fields?.why === undefined) write(message, fields);
  };
  return { ...log, warn: unlessEnding(log.warn), error: unlessEnding(log.error) };
}

/** Says how it ended. @returns the exit code */
function conclude(wish: Wish, result: RunResult, voice: Voice): number {
  if (result.kind === "refused") voice.debug(refusalText(wish, result.refusal, Date.now()));
  if (result.kind !== "ended") return result.code;
  const { code, ending } = result;
  if (ending?.kind === "lost") {
    voice.error(`the lock was lost, the command was terminated: ${ending.why}`);
    return CODES.failure;
  }
  if (ending?.kind !== "timeout") return code;
  const isTimeout = wish.timeout > 0 && wish.timeout <= wish.release;
  const release = `${wish.release}s: its lock is free now (CRONLOCK_RELEASE)`;
  voice.emergency(wish.command, isTimeout ? `${wish.timeout}s timeout` : release);
  return CODES.timeout;
}
