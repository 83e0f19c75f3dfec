import { quoteText } from "../base/text.ts";
import { mergeSignals } from "../base/wait.ts";
import { followEtcd } from "../observe/follow.ts";
import { KeySink } from "../observe/key-sink.ts";
import { isGivenUp, isJob, type JobState } from "../operate/jobs.ts";
import {
  parseStoredSchedule,
  readStoredSchedules,
  type StoredSchedule,
} from "../operate/stored-schedules.ts";
import { validateName } from "../protocol/names.ts";
import { parseRevision } from "../protocol/ticket.ts";
import { getScheduleType, isPaused } from "../schedule/definition.ts";
import type { OccurrenceOutcome } from "../schedule/state/outcome.ts";
import { ClosableWait, type LibraryConnection, translated } from "./connection.ts";
import { JobFailedError, NotFoundError, NotSupportedError, TooLargeError, UsageError } from "./errors.ts";
import { parseOptions, SIGNAL } from "./options-schema.ts";
import type { Job, WatchOptions } from "./types.ts";

/** Converts a stored schedule. @returns undefined if it is not a job @param now  wall clock, ms */
export function toJob(stored: StoredSchedule, now: number): Job | undefined {
  const { id, definition, due } = stored;
  if (!isJob(definition)) return undefined;
  const [open] = due?.open ?? [];
  const state = findState(stored, now);
  const runAt = (open ?? due)?.runAt;
  const hasTime = runAt !== undefined && state !== "running" && state !== "dead";
  return {
    id,
    type: getScheduleType(id, definition),
    data: definition.data,
    state,
    runTime: hasTime ? new Date(runAt) : undefined,
    failures: open?.failures ?? 0,
  };
}

function findState(stored: StoredSchedule, now: number): JobState {
  const { definition, due } = stored;
  const open = due?.open ?? [];
  if (open.some(({ session }) => session !== undefined)) return "running";
  if (definition !== undefined && isPaused(definition, due, now)) return "paused";
  if (open.some(({ failures, postponed = 0 }) => failures + postponed > 0)) return "retrying";
  if (isGivenUp(stored)) return "dead";
  return open.length === 0 && (due?.runAt ?? 0) > now ? "delayed" : "waiting";
}

/**
 * Waits until a job has succeeded.
 * @param since  revision of its definition: earlier runs do not count
 * @throws the errors of `JobReceipt.done`
 */
export async function waitForJob<R>(
  connection: LibraryConnection,
  id: string,
  since: bigint,
  options: WatchOptions = {},
): Promise<R> {
  const { signal } = parseOptions("done", options, { signal: SIGNAL });
  validateName("schedule", id);
  const wait = new ClosableWait(connection, "the connection was closed while waiting");
  const outcome = await wait.run((closing) =>
    translated(() => followJob(connection, id, since, mergeSignals(closing, signal))),
  );
  return getResult(id, outcome) as R;
}

/** @returns the outcome of the run that has succeeded, or was the last one */
async function followJob(
  { ports }: LibraryConnection,
  id: string,
  since: bigint,
  signal: AbortSignal,
): Promise<OccurrenceOutcome> {
  const { keys } = ports;
  const own = [keys.schedule(id), keys.due(id), keys.outcomes(id)];
  const sink = new KeySink(...own.map((key) => ({ key, rangeEnd: `${key}\0` })));
  for await (const event of followEtcd(ports, sink, signal)) {
    if (event.kind === "away") continue;
    const job = parseStoredSchedule(id, ...own.map((key) => sink.stored.get(key)));
    const outcome = findEnd(job, since);
    if (outcome !== undefined) return outcome;
    if (!isOver(job)) continue;
    // The watches of the keys are not in step: what belongs to the end may still come.
    const { schedules } = await readStoredSchedules(ports, [id], signal);
    const read = schedules.get(id);
    const last = read && (findEnd(read, since) ?? findLast(read));
    if (last !== undefined) return last;
  }
  throw new Error("following never ends by itself");
}

/** Finds the success, or the dead letter, of a run that was started after a revision. */
function findEnd({ outcomes }: StoredSchedule, since: bigint): OccurrenceOutcome | undefined {
  const isLater = ({ token }: OccurrenceOutcome) => (parseRevision(token) ?? 0n) > since;
  const succeeded = outcomes.runs.findLast((one) => one.result === "ok" && isLater(one));
  return succeeded ?? outcomes.dead.find(isLater);
}

/** Returns whether a job has no run any more, or none whose result is kept. */
function isOver(job: StoredSchedule): boolean {
  return job.definitionMod === 0n || isGivenUp(job) || job.definition?.keepResult === undefined;
}

/**
 * Returns the last outcome of a job that was given up without a run, for example because of its deadline.
 * @returns undefined if it has runs
 * @throws NotFoundError, UsageError
 */
function findLast(job: StoredSchedule) {
  const { id, definition, definitionMod, outcomes } = job;
  const last = outcomes.dead[0] ?? outcomes.runs[0];
  if (isGivenUp(job) && last !== undefined) return last;
  if (definitionMod === 0n || isGivenUp(job))
    throw new NotFoundError(
      `job ${quoteText(id)} has no run left, and no outcome: it was deleted or changed, or has ended longer ago than its keepResult`,
    );
  if (definition?.keepResult === undefined)
    throw new UsageError(
      `job ${quoteText(id)} keeps no result, so its end cannot be seen; add it with keepResult`,
    );
}

/** @throws JobFailedError, TooLargeError, NotSupportedError */
function getResult(id: string, outcome: OccurrenceOutcome): unknown {
  const { result, reason = result, errorCode, tail, value } = outcome;
  if (result !== "ok") {
    const cause = Object.assign(new Error(reason), errorCode !== undefined && { code: errorCode });
    if (tail !== undefined) cause.stack = tail;
    throw new JobFailedError(`job ${quoteText(id)} was given up: ${reason}`, result, { cause });
  }
  if (errorCode === undefined) return value;
  const message = `job ${quoteText(id)} is done, but its result is missing: ${reason}`;
  throw errorCode === "TOO_LARGE" ? new TooLargeError(message) : new NotSupportedError(message);
}
