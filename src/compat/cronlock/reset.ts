import { reset } from "../../cli/commands/act/reset.ts";
import type { CommandIo } from "../../cli/frame/command.ts";
import { executeCommand } from "../../cli/frame/command-line/execute-command.ts";
import { formatDuration } from "../../core/base/clock.ts";
import { EXIT, SignalboxError } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import { resolveConfig } from "../../core/config/config.ts";
import type { Env } from "../../core/config/files.ts";
import { createValueLayer } from "../../core/config/layers.ts";
import { getEnvVariableName, type SettingKey } from "../../core/config/settings.ts";
import type { CronlockLog } from "./cronlock.impl.ts";
import { CRONLOCK_CODES } from "./cronlock.ts";
import type { CronlockOptions, RequestedSettings } from "./options.ts";

/** Minimum time to wait for the runner to end, ms. */
const LEAST_PATIENCE = 90_000;
/**
 * Maximum number of attempts. The holder may change between reading and resetting; the tools delete the lock of any
 * holder.
 */
const MAX_RESET_ATTEMPTS = 5;
const OF_RUNS: readonly SettingKey[] = ["grace", "maxHold", "timeout", "busyExitCode"];

/**
 * Handles CRONLOCK_RESET=yes: ends the run that holds the lock, and its grace. Prints nothing on success.
 * @returns 200, also if nobody holds the lock
 * @throws ConfigError; SignalboxError with the output of `signalbox reset`
 */
export async function resetLock(
  parsed: CronlockOptions,
  requested: RequestedSettings,
  io: CommandIo,
  log: CronlockLog,
): Promise<number> {
  const options = createValueLayer(requested); // so that a fault names the tool's own variable
  const { ttl } = resolveConfig({ env: io.env, options }).values;
  // By then, the session of an unresponsive runner has expired.
  const longest = formatDuration(Math.max(LEAST_PATIENCE, 3 * ttl));
  const output: string[] = [];
  const listener: CommandIo = {
    ...io,
    env: buildResetEnvironment(requested, io.env),
    writeOutput: (text) => output.push(text) > 0,
    writeError: (text) => void output.push(text),
    writeMessage: (line) => void output.push(`${clean(line)}\n`),
  };
  log.debug(`Removing ${parsed.lock} key`);
  const words = ["--yes", "--timeout", longest, "--reason", "CRONLOCK_RESET", "--", "lock", parsed.lock];
  for (let attempt = 1; ; attempt++) {
    output.length = 0;
    const code = await executeCommand(reset, words, listener);
    for (const line of output) log.debug(line.trim());
    if (code === EXIT.ok) return CRONLOCK_CODES.refused;
    if (code > 128) return code; // ended by a signal
    if (code !== EXIT.changed || attempt === MAX_RESET_ATTEMPTS)
      throw new SignalboxError(code, `the lock ${parsed.lock} was not reset: ${output.join(" ").trim()}`);
  }
}

/** Converts settings to environment variables, because `signalbox reset` accepts a password only from there. */
function buildResetEnvironment(requested: RequestedSettings, env: Env): Env {
  const ours = Object.entries(requested).flatMap(([name, setting]) => {
    const key = name as SettingKey;
    return setting === undefined || OF_RUNS.includes(key) ? [] : [[getEnvVariableName(key), setting.value]];
  });
  // Removes the setting for a password file, because the password would then be set twice.
  const file = requested.password === undefined ? {} : { [getEnvVariableName("passwordFile")]: undefined };
  return { ...env, ...file, ...Object.fromEntries(ours) };
}
