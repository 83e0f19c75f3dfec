import { formatBriefDuration } from "../base/duration.ts";
import { createFindingBuilder, type Finding } from "../base/finding.ts";
import { formatBytes } from "../base/size.ts";
import type { TimedRevision } from "../observe/past-revision.ts";

/** What is known of the past states in a database, and of the room that is left for more. Sizes in bytes. */
export interface GrowthFacts {
  revision: bigint;
  dbSize: number;
  /** Without the space that a compaction has freed, if the member reports it. */
  dbInUse?: number | undefined;
  quota: number;
  /** The oldest revision that etcd has not compacted. */
  oldest: TimedRevision;
  /** A revision between that and the last one: the changes since then tell the present rate. */
  middle: TimedRevision;
  /** `--auto-compaction-retention` of each member, as far as they say. */
  retentions: readonly (string | undefined)[];
  /** ms since the epoch */
  now: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** From this revision on, an etcd that is compacted at all has been compacted. */
const LEAST_REVISION = 100_000n;
/** A compaction that nothing repeats for so long was made by hand, ms. */
const LONGEST_KEPT = 2 * DAY;
/** A rate is known from so much time, ms, and so many changes on. */
const LEAST_TIME = HOUR;
const LEAST_CHANGES = 1_000;
/** A database that is full earlier is reported, whatever its revision is, in days. */
const SOON = 90;

/**
 * Judges whether etcd's past states are removed. A default etcd keeps them all, and its database fills up.
 * @returns nothing if it cannot be known yet
 */
export function judgeGrowth(facts: GrowthFacts): Finding[] {
  const about = createFindingBuilder("compaction");
  const { revision, oldest, retentions, now } = facts;
  const [retention = "0"] = retentions;
  if (retentions.every((one) => one !== undefined && !/^0\D*$/.test(one)))
    return [about.ok(`past states are removed: --auto-compaction-retention=${retention}`)];
  const wasCompacted = oldest.revision > 1n;
  const kept = now - (oldest.at ?? now);
  if (wasCompacted && kept < LONGEST_KEPT) return [about.ok("past states are removed")];
  const forecast = forecastDays(facts);
  if (revision < LEAST_REVISION && (forecast?.days ?? SOON) >= SOON) return [];
  const stay = wasCompacted
    ? `nobody has compacted this etcd for ${formatBriefDuration(kept)}: ${revision - oldest.revision} changes since then`
    : `nobody has ever compacted this etcd: all its ${revision} changes`;
  return [
    about.warning(
      `${stay} stay in the database (${formatBytes(facts.dbSize)}). It is full after about ${countChangesLeft(facts)} more${forecast?.text ?? ""}`,
      "start the members with --auto-compaction-retention=1h; then etcdctl defrag, on one member after the other",
    ),
  ];
}

/** Counts the changes that stay in the database. */
function countChanges({ revision, oldest }: GrowthFacts): number {
  return Math.max(1, Number(oldest.revision > 1n ? revision - oldest.revision : revision));
}

/** The size of a change with its share of everything else in the database: rather too large, so the forecast is rather too early. */
function computeChangeSize(facts: GrowthFacts): number {
  return (facts.dbInUse ?? facts.dbSize) / countChanges(facts);
}

function countChangesLeft(facts: GrowthFacts): number {
  const { quota, dbSize, dbInUse = dbSize } = facts;
  return Math.round(Math.max(0, quota - dbInUse) / computeChangeSize(facts));
}

/** Forecasts when the quota is reached. Undefined if the changes since the middle are too little to know a rate. */
function forecastDays(facts: GrowthFacts): { days: number; text: string } | undefined {
  const { revision, middle, now, quota } = facts;
  const changes = Number(revision - middle.revision);
  const time = now - (middle.at ?? now);
  if (time < LEAST_TIME || changes < LEAST_CHANGES) return undefined;
  const days = (countChangesLeft(facts) * time) / changes / DAY;
  const size = Math.round(computeChangeSize(facts));
  const text = `, in about ${formatBriefDuration(days * DAY)} (${changes} in the last ${formatBriefDuration(time)}, ${size} B each, quota ${formatBytes(quota)})`;
  return { days, text };
}
