import { formatDuration } from "../base/duration.ts";
import { ConfigError } from "../base/errors.ts";
import type { Settings } from "../config/settings.ts";
import { canTerminateWithin, computeSmallestTtl } from "../config/ttl.ts";
import type { Duration } from "./claim-types.ts";
import { formatOptionValue, parseDurationOption } from "./option-values.ts";

/** The times of a session, in the units that the inner modules expect. */
export interface SessionTimes {
  /** Whole seconds. */
  ttl: number;
  /** ms. */
  terminationTimeout: number;
}

/**
 * Resolves the times from the options, otherwise from the settings.
 * @throws ConfigError if a value is invalid, or the termination timeout does not fit into the ttl
 */
export function resolveSessionTimes(
  settings: Pick<Settings, "ttl" | "terminationTimeout">,
  given: { ttl?: Duration; terminationTimeout?: Duration },
): SessionTimes {
  const resolveTime = (name: "ttl" | "terminationTimeout") => {
    const { [name]: value = settings[name] } = given;
    return parseDurationOption(name, value);
  };
  const [ttl, terminationTimeout] = [resolveTime("ttl"), resolveTime("terminationTimeout")];
  if (ttl < 2_000 || ttl % 1_000 !== 0)
    throw new ConfigError(
      `ttl: ${formatOptionValue(given.ttl)} is not a number of whole seconds, at least 2 s`,
    );
  if (canTerminateWithin(terminationTimeout, ttl)) return { ttl: ttl / 1000, terminationTimeout };
  throw new ConfigError(
    `terminationTimeout ${formatDuration(terminationTimeout)} does not fit into ttl ${formatDuration(ttl)}; ` +
      `set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout))} or more`,
  );
}
