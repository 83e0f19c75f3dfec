import { formatBriefDuration, formatDuration, type WallTime } from "../../../core/base/clock.ts";
import { createFindingBuilder, type Finding } from "../../../core/base/finding.ts";
import { quoteShellWord } from "../../../core/base/shell.ts";

export interface EndedRun {
  /** Wall clock of its host, ms since the epoch. */
  endedAt: WallTime;
  isSuccess: boolean;
  /** It is no failure either: it asked for another start, or was replaced. */
  isNeutral?: boolean;
  /** Text for people, how and where it ended: `exit 3 on web1`. */
  text: string;
}

/** Known runs of one lock or schedule. */
export interface RecentRuns {
  kind: "lock" | "schedule";
  name: string;
  /** The host, if a schedule runs on every host. */
  host?: string;
  /** Newest first. */
  runs: readonly EndedRun[];
  /** Start of the oldest current run. */
  runningSince: WallTime | undefined;
  /** When the first run of a schedule is or was due; at boot, any run that has not ended. */
  firstDue?: WallTime | undefined;
  /** It runs at the boots of its host, so a success stays recent. */
  isAtBoot?: boolean;
  /** Nobody says how often it runs, so a success stays recent. */
  isUntimed?: boolean;
  /** How long runs take, if that is to be judged and is not as expected: a run that goes on, or the last one. */
  deviation?: { isRunning: boolean; detail: string } | undefined;
  /** What was due and has not run since, as the rest of a sentence. */
  missed?: string | undefined;
  /** Why a schedule cannot run: one of its keys is missing, or cannot be read. */
  fault?: string | undefined;
}

/** The required success of a job. */
interface RecentLimit {
  /** A run must have succeeded within this time, ms. */
  within: number;
  /** Wall clock, ms since the epoch. */
  wall: WallTime;
}

/**
 * Checks whether a job succeeded lately. A failed last run is a warning; no success in time is a failure, and so is a run that
 * takes longer than expected. The time of a schedule that has not run begins when its first run is due, and so does that of one
 * that runs at boot.
 */
export function judgeRecentRuns(job: RecentRuns, limit: RecentLimit): Finding {
  const about = createFindingBuilder(
    job.kind,
    `${job.kind} ${job.name}${job.host === undefined ? "" : ` on ${job.host}`}`,
  );
  if (job.fault !== undefined) return about.failure(job.fault, formatInspectCommand(job));
  const success = job.runs.find(({ isSuccess }) => isSuccess);
  const [last] = job.runs;
  const dueFor = job.firstDue === undefined ? undefined : limit.wall - job.firstDue;
  const { deviation } = job;
  if (deviation?.isRunning) return about.failure(deviation.detail, formatInspectCommand(job));
  if (last === undefined && dueFor !== undefined && dueFor <= limit.within && job.missed === undefined)
    return about.ok(`has not run yet; its first run ${formatDueTime(limit.wall - dueFor, limit)}`);
  if (last === undefined && dueFor === undefined && job.isAtBoot)
    return about.ok("has not run yet; it runs at the next boot of its host");
  const age = job.isAtBoot ? dueFor : success && computeTimeSinceEnd(success, limit);
  if (success === undefined || (!job.isUntimed && (age ?? 0) > limit.within))
    return about.failure(...describeMissing(job, success, limit));
  if (deviation !== undefined && last?.isSuccess)
    return about.warning(deviation.detail, formatInspectCommand(job));
  if (job.missed !== undefined)
    return about.warning(
      `${job.missed}; it succeeded ${formatTimeSinceEnd(success, limit)}`,
      formatInspectCommand(job),
    );
  const decisive = job.runs.find(({ isNeutral }) => !isNeutral);
  if (decisive === undefined || decisive.isSuccess)
    return about.ok(`succeeded ${formatTimeSinceEnd(success, limit)}, ${success.text}`);
  return about.warning(
    `${decisive === last ? "its last" : "a later"} run failed ${formatTimeSinceEnd(decisive, limit)}, ${decisive.text}; it succeeded ${formatTimeSinceEnd(success, limit)}`,
    formatInspectCommand(job),
  );
}

/** Returns the time since the last known success, ms; undefined if there is none. */
export function computeTimeSinceSuccess({ runs }: RecentRuns, limit: RecentLimit): number | undefined {
  const success = runs.find(({ isSuccess }) => isSuccess);
  return success && computeTimeSinceEnd(success, limit);
}

function describeMissing(
  job: RecentRuns,
  success: EndedRun | undefined,
  limit: RecentLimit,
): [detail: string, remedy: string] {
  const [last] = job.runs;
  const running =
    job.runningSince === undefined
      ? []
      : [`a run has been going for ${formatBriefDuration(Math.max(0, limit.wall - job.runningSince))}`];
  const failed =
    last === undefined || last.isSuccess
      ? []
      : [
          `the last run ${last.isNeutral ? "ended" : "failed"} ${formatTimeSinceEnd(last, limit)}, ${last.text}`,
        ];
  const before =
    success === undefined
      ? formatMissingSuccess(job)
      : `the last success was ${formatTimeSinceEnd(success, limit)}`;
  const missed = job.missed === undefined ? [] : [job.missed];
  const facts = last === undefined && job.missed !== undefined ? missed : [before, ...missed];
  return [
    [`no run succeeded within ${formatDuration(limit.within)}`, ...facts, ...failed, ...running].join("; "),
    last === undefined && job.missed === undefined ? formatUnseenAdvice(job) : formatInspectCommand(job),
  ];
}

function formatDueTime(firstDue: number, { wall }: RecentLimit): string {
  return firstDue > wall
    ? `is due in ${formatBriefDuration(firstDue - wall)}`
    : `was due ${formatBriefDuration(wall - firstDue)} ago`;
}

const formatMissingSuccess = ({ runs }: RecentRuns): string =>
  runs.length === 0 ? "no run is recorded" : `none of the last ${runs.length} runs succeeded`;

function formatUnseenAdvice({ kind, name }: RecentRuns): string {
  return kind === "lock"
    ? "check the spelling and the crontab; runs with --no-history are not recorded"
    : `does a worker take it? See: signalbox show schedule ${quoteShellWord(name)}`;
}

function formatInspectCommand({ kind, name }: RecentRuns): string {
  const word = quoteShellWord(name);
  return kind === "lock" ? `signalbox ls history ${word}` : `signalbox show schedule ${word}`;
}

/** Returns the time since a run ended, ms; at least 0, because the clocks of hosts differ. */
const computeTimeSinceEnd = ({ endedAt }: EndedRun, { wall }: RecentLimit) => Math.max(0, wall - endedAt);

const formatTimeSinceEnd = (run: EndedRun, limit: RecentLimit) =>
  `${formatBriefDuration(computeTimeSinceEnd(run, limit))} ago`;
