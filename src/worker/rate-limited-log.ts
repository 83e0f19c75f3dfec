import { type Clock, LONG_AGO, subtractTime } from "../core/base/clock.ts";
import type { Log, LogFields } from "../core/base/log.ts";

/** Largest number of lines per period, and the period in ms. */
const MAX_LINES = 20;
const PERIOD_MS = 60_000;

export type WarningLog = (message: string, fields: LogFields) => void;

/** Creates a log of warnings, up to a limit per minute. The next line states the number of dropped warnings. */
export function createRateLimitedLog(log: Log, clock: Clock): WarningLog {
  let since = LONG_AGO;
  let [logged, dropped] = [0, 0];
  return (message, fields) => {
    const now = clock.now();
    if (subtractTime(now, since) > PERIOD_MS) [since, logged] = [now, 0];
    if (logged >= MAX_LINES) {
      dropped += 1;
      return;
    }
    logged += 1;
    log.warn(message, { ...fields, ...(dropped > 0 && { untold: dropped }) });
    dropped = 0;
  };
}
