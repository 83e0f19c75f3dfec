import { formatDuration } from "../../base/duration.ts";
import type { Finding } from "../../base/finding.ts";
import { computeRenewalPeriod, computeSafetyMargin, computeSmallestTtl } from "../../config/ttl.ts";

/** Typical duration of a leader election with etcd's default timing, ms; no session can be renewed during it. */
const ELECTION = 5_000;

/**
 * Computes how long an outage of etcd may last before commands are ended, ms: from the last successful renewal, which
 * may be one renewal period ago, to the TERM, one termination timeout before the horizon. Both parameters in ms.
 */
export function computeSurvivedOutage(ttl: number, terminationTimeout: number): number {
  return ttl - computeSafetyMargin(ttl) - computeRenewalPeriod(ttl) - terminationTimeout;
}

/** Checks whether the time to live leaves enough time besides the termination timeout. */
export function judgeSettings({
  ttl,
  terminationTimeout,
}: {
  ttl: number;
  terminationTimeout: number;
}): Finding {
  const survived = computeSurvivedOutage(ttl, terminationTimeout);
  const about = { kind: "settings", check: "ttl" };
  const whole = formatDuration(Math.max(0, Math.floor(survived / 100) * 100));
  const detail = `${formatDuration(ttl)}, with a termination timeout of ${formatDuration(terminationTimeout)}: commands survive an outage of ${whole}`;
  if (survived >= ELECTION) return { ...about, level: "ok", detail };
  return {
    ...about,
    level: "warning",
    detail: `${detail}; etcd may need as long to elect a leader`,
    remedy: `to survive that, set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout + ELECTION))}, or a shorter terminationTimeout`,
  };
}
