import * as v from "valibot";
import { formatDuration } from "../base/duration.ts";
import { ConfigError } from "../base/errors.ts";
import type { Settings } from "../config/settings.ts";
import { canTerminateWithin, computeSmallestTtl } from "../config/ttl.ts";
import { DURATION, TTL } from "./options-schema.ts";

/** Options for the times of a session. */
export const SESSION_OPTIONS = { ttl: v.optional(TTL), terminationTimeout: v.optional(DURATION) };

/** The times of a session, in the units that the inner modules expect. */
export interface SessionTimes {
  /** Whole seconds. */
  ttl: number;
  /** ms. */
  terminationTimeout: number;
}

/**
 * Resolves the times from the options, otherwise from the settings.
 * @throws ConfigError if the termination timeout does not fit into the ttl
 */
export function resolveSessionTimes(
  settings: Pick<Settings, "ttl" | "terminationTimeout">,
  given: { ttl?: number | undefined; terminationTimeout?: number | undefined },
): SessionTimes {
  const { ttl = settings.ttl, terminationTimeout = settings.terminationTimeout } = given;
  if (canTerminateWithin(terminationTimeout, ttl)) return { ttl: ttl / 1000, terminationTimeout };
  throw new ConfigError(
    `terminationTimeout ${formatDuration(terminationTimeout)} does not fit into ttl ${formatDuration(ttl)}; ` +
      `set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout))} or more`,
  );
}
