import { formatDuration } from "../../base/duration.ts";
import type { Finding } from "../../base/finding.ts";
import { marginOf, renewalPeriod, smallestTtl } from "../../config/ttl.ts";

/** An election of a new leader takes about this long with etcd's default timing, ms; nothing can be renewed meanwhile. */
const ELECTION = 5_000;

/**
 * What an outage of etcd may last before commands are ended, ms: from the last good renewal, which may be a renewal's
 * period ago, to the TERM that leaves a termination timeout before the horizon. Both in ms.
 */
export function survivedOutage(ttl: number, terminationTimeout: number): number {
  return ttl - marginOf(ttl) - renewalPeriod(ttl) - terminationTimeout;
}

/** Whether this host's time to live leaves room for more than ending its commands. */
export function judgeSettings({
  ttl,
  terminationTimeout,
}: {
  ttl: number;
  terminationTimeout: number;
}): Finding {
  const survived = survivedOutage(ttl, terminationTimeout);
  const about = { kind: "settings", check: "ttl" };
  const whole = formatDuration(Math.max(0, Math.floor(survived / 100) * 100));
  const detail = `${formatDuration(ttl)}, with a termination timeout of ${formatDuration(terminationTimeout)}: commands survive an outage of ${whole}`;
  if (survived >= ELECTION) return { ...about, level: "ok", detail };
  return {
    ...{ ...about, level: "warning", detail: `${detail}; etcd may need as long to elect a leader` },
    remedy: `a ttl of ${formatDuration(smallestTtl(terminationTimeout + ELECTION))} would survive that, or a shorter terminationTimeout`,
  };
}
