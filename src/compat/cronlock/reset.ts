import { formatDuration } from "../../base/duration.ts";
import { EXIT, SignalboxError } from "../../base/errors.ts";
import { reset } from "../../commands/act/reset.ts";
import { perform } from "../../commands/perform.ts";
import type { Surroundings } from "../../commands/spec.ts";
import { resolveConfig } from "../../config/config.ts";
import type { Env } from "../../config/files.ts";
import { gatheredLayer } from "../../config/layers.ts";
import { type SettingKey, variableOf } from "../../config/settings.ts";
import { CODES } from "./codes.ts";
import type { Asked } from "./settings.ts";
import type { Voice } from "./voice.ts";
import type { Wish } from "./wish.ts";

/** How long a runner is waited for at least, ms. */
const LEAST_PATIENCE = 90_000;
/** The holder may change between the look and the reset; the tools delete whatever is there. */
const ATTEMPTS = 5;
/** Settings that only a run knows. */
const OF_RUNS: readonly SettingKey[] = ["grace", "maxHold", "timeout", "busyExitCode"];

/**
 * CRONLOCK_RESET=yes: whoever holds the lock is ended, and its grace with it. Silent where all is well.
 * @returns 200, also where nobody holds the lock
 * @throws ConfigError; SignalboxError with what `signalbox reset` said
 */
export async function resetLock(
  wish: Wish,
  asked: Asked,
  world: Surroundings,
  voice: Voice,
): Promise<number> {
  const options = gatheredLayer(asked); // so that a fault names the tool's own variable
  const { ttl } = resolveConfig({ env: world.env, options }).values;
  // The session of one that does not answer has expired by then.
  const longest = formatDuration(Math.max(LEAST_PATIENCE, 3 * ttl));
  const said: string[] = [];
  const listener: Surroundings = {
    ...world,
    env: environment(asked, world.env),
    out: (text) => said.push(text) > 0,
    err: (text) => void said.push(text.replace(/^signalbox: /, "")),
  };
  voice.debug(`Removing ${wish.lock} key`);
  const words = ["--yes", "--timeout", longest, "--reason", "CRONLOCK_RESET", "--", "lock", wish.lock];
  for (let attempt = 1; ; attempt++) {
    said.length = 0;
    const code = await perform(reset, words, listener);
    for (const line of said) voice.debug(line.trim());
    if (code === EXIT.ok) return CODES.refused;
    if (code > 128) return code; // a signal
    if (code !== EXIT.changed || attempt === ATTEMPTS)
      throw new SignalboxError(code, `the lock ${wish.lock} was not reset: ${said.join(" ").trim()}`);
  }
}

/** Settings as variables: the command that resets takes a password in no other way. */
function environment(asked: Asked, env: Env): Env {
  const given = Object.entries(asked).filter(([key]) => !OF_RUNS.includes(key as SettingKey));
  const ours = given.map(([key, { value }]) => [variableOf(key as SettingKey), value]);
  // A file's password would be a second one beside it.
  const file = asked.password === undefined ? {} : { [variableOf("passwordFile")]: undefined };
  return { ...env, ...file, ...Object.fromEntries(ours) };
}
