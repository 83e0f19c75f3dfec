import { formatDuration } from "../base/duration.ts";
import { ConfigError } from "../base/errors.ts";
import type { Settings } from "../config/settings.ts";
import { fits, smallestTtl } from "../config/ttl.ts";
import type { Duration } from "./claim-types.ts";
import { durationOf, shown } from "./values.ts";

/** A session's times as the rooms below want them. */
export interface Times {
  /** Whole seconds. */
  ttl: number;
  /** ms. */
  terminationTimeout: number;
}

/** What was given, else what the settings say. @throws ConfigError where one does not fit into the other */
export function timesOf(
  settings: Pick<Settings, "ttl" | "terminationTimeout">,
  given: { ttl?: Duration; terminationTimeout?: Duration },
): Times {
  const one = (name: "ttl" | "terminationTimeout") => {
    const { [name]: value = settings[name] } = given;
    return durationOf(name, value);
  };
  const [ttl, terminationTimeout] = [one("ttl"), one("terminationTimeout")];
  if (ttl < 2_000 || ttl % 1_000 !== 0)
    throw new ConfigError(`ttl: ${shown(given.ttl)} is not a number of whole seconds, at least 2 s`);
  if (fits(terminationTimeout, ttl)) return { ttl: ttl / 1000, terminationTimeout };
  throw new ConfigError(
    `terminationTimeout ${formatDuration(terminationTimeout)} does not fit into ttl ${formatDuration(ttl)}; ` +
      `set ttl to ${formatDuration(smallestTtl(terminationTimeout))} or more`,
  );
}
