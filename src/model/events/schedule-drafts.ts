import { formatBriefDuration } from "../../base/duration.ts";
import { type Definition, isPaused } from "../../schedule/definition.ts";
import type { DueState } from "../../schedule/state/due.ts";
import type { Execution, Snapshot, StoredValue } from "../snapshot/snapshot.ts";
import { shortenOwner } from "../tables/cells.ts";
import { formatExecutionOwner, formatLateness, getResultTone } from "../tables/schedules.ts";
import type { EventDraft } from "./event.ts";
import { visitChanges } from "./event.ts";

/** Builds events for started and ended occurrences of schedules. */
export function buildExecutionDrafts(before: Snapshot, after: Snapshot): EventDraft[] {
  const drafts: EventDraft[] = [];
  visitChanges(before.executions, after.executions, (id, was = [], is = []) => {
    const known = new Set(was.map(({ token }) => token));
    for (const one of is) if (!known.has(one.token)) drafts.push(buildStartedDraft(id, one));
  });
  visitChanges(before.dues, after.dues, (id, was, is) => {
    const last = is?.value?.last;
    // Without a previous state it is unknown whether the outcome is new.
    if (last === undefined || was === undefined || was.value?.last?.run === last.run) return;
    drafts.push(
      buildEndedDraft(id, last, [...(before.executions.get(id) ?? []), ...(after.executions.get(id) ?? [])]),
    );
  });
  return drafts;
}

function buildStartedDraft(id: string, execution: Execution): EventDraft {
  const { value } = execution;
  return {
    kind: "started",
    tone: "held",
    at: value?.since,
    host: value?.host,
    subject: { kind: "schedule", name: id },
    formatWords: () => [
      `schedule ${id}`,
      shortenOwner(formatExecutionOwner(execution)),
      value && value.attempt > 1 ? `attempt ${value.attempt}` : undefined,
      value && value.late >= 1_000 ? `${formatLateness(value.late)} late` : undefined,
    ],
  };
}

/** @param executions  includes the execution that ended, if it was in a snapshot */
function buildEndedDraft(
  id: string,
  last: NonNullable<DueState["last"]>,
  executions: readonly Execution[],
): EventDraft {
  const own = executions.find(({ value }) => value?.run === last.run);
  const { result, startedAt, endedAt } = last;
  return {
    kind: "ended",
    tone: getResultTone(result),
    at: endedAt,
    host: own?.value?.host,
    subject: { kind: "schedule", name: id },
    formatWords: () => [
      `schedule ${id}`,
      own && shortenOwner(formatExecutionOwner(own)),
      `${result} after ${formatBriefDuration(endedAt - startedAt)}`,
    ],
  };
}

/** Builds the event for a change of a schedule definition. */
export function buildDefinitionDraft(
  id: string,
  was: StoredValue<Definition> | undefined,
  is: StoredValue<Definition> | undefined,
): EventDraft {
  return {
    kind: "configured",
    tone: "plain",
    at: undefined,
    subject: { kind: "schedule", name: id },
    formatWords: (at) => [`schedule ${id}`, formatDefinitionChange(was, is, at)],
  };
}

function formatDefinitionChange(
  was: StoredValue<Definition> | undefined,
  is: StoredValue<Definition> | undefined,
  at: number,
): string {
  if (is === undefined) return "deleted";
  if (is.value === undefined) return "malformed";
  if (was === undefined) return `added: ${is.value.cron}`;
  const [old, now] = [was.value !== undefined && isPaused(was.value, at), isPaused(is.value, at)];
  if (old === now) return "changed";
  return now ? `paused by ${is.value.pause?.by ?? "?"}` : "resumed";
}
