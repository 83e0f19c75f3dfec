import { isDeepStrictEqual } from "node:util";
import { formatDuration } from "../../base/duration.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { quoteText } from "../../base/text.ts";
import type { PlannedChange } from "../../operate/planned-change.ts";
import type { Definition, Pause } from "../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import { MANUAL } from "../../schedule/plan/plan.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { formatInstantUtc } from "../command-line/instant.ts";
import type { FieldChange, ScheduleChangeKind, ScheduleChangeRecord } from "../outcome.ts";

/** Converts a planned change to the record that programs get. */
export function toScheduleChange(change: PlannedChange): ScheduleChangeRecord {
  const { before, definition, due } = change;
  const fields = definition && computeFieldChanges(before.definition, definition);
  return { id: before.id, kind: getChangeKind(change), fields, definition, due };
}

function getChangeKind({ before, definition, due, isDeleted }: PlannedChange): ScheduleChangeKind {
  if (isDeleted) return "deleted";
  if (before.definitionMod === 0n) return "added";
  if (definition === undefined)
    return findTriggeredTime(before.due, due) === undefined ? "changed" : "triggered";
  const fields = computeFieldChanges(before.definition, definition);
  if (fields.length !== 1 || fields[0]?.field !== "pause") return "changed";
  return definition.pause === undefined ? "resumed" : "paused";
}

/**
 * Formats a change as one line:
 * `schedule backup changed: cron "0 3 * * *" -> "0 4 * * *"; next 2026-11-22 04:00:00 UTC`.
 */
export function formatScheduleChange(change: PlannedChange): string {
  const { before, definition, due } = change;
  const what = `schedule ${before.id}`;
  const next = formatNextDue(due, definition ?? before.definition);
  switch (getChangeKind(change)) {
    case "deleted":
      return `${what} deleted${before.definition === undefined ? "" : `: ${formatDefinitionSummary(before.definition)}`}`;
    case "added":
      return `${what} added: ${definition === undefined ? "" : formatDefinitionSummary(definition)}${next}`;
    case "paused":
      return `${what} paused${formatSchedulePause(definition?.pause)}`;
    case "resumed":
      return `${what} resumed${next}`;
    case "triggered": {
      const open = findTriggeredTime(before.due, due);
      return `${what} triggered${open === undefined ? "" : `: one run of ${formatInstantUtc(open)}`}`;
    }
    case "changed": {
      if (definition === undefined && !isDeepStrictEqual(before.due?.successors, due?.successors))
        return `${what}: ${formatSuccessors(due?.successors)}`;
      if (definition === undefined && before.due?.backfill !== due?.backfill)
        return `${what}: ${due?.backfill === undefined ? "backfill canceled" : `backfill of ${due.backfill.total} occurrences`}`;
      const fields = definition === undefined ? [] : computeFieldChanges(before.definition, definition);
      const told = fields.map((one) => `${one.field} ${one.before ?? "none"} -> ${one.after ?? "none"}`);
      return `${what} changed${told.length === 0 ? "" : `: ${told.join(", ")}`}${next}`;
    }
  }
}

/** Lists the fields that differ, in the order of their declaration. */
function computeFieldChanges(before: Definition | undefined, after: Definition): FieldChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])] as (keyof Definition)[];
  return names.flatMap((field) => {
    const [was, is] = [before?.[field], after[field]];
    if (isDeepStrictEqual(was, is)) return [];
    return [{ field, before: formatField(field, was), after: formatField(field, is) }];
  });
}

/** Says which schedules follow: `followed by load, report`. */
export function formatSuccessors(successors: readonly string[] | undefined): string {
  return successors === undefined ? "no schedule follows it" : `followed by ${successors.join(", ")}`;
}

/** Says which schedules must end first: `after extract, when it has succeeded`. */
export function formatPredecessors({
  after = [],
  on = SCHEDULE_DEFAULTS.on,
}: Pick<Definition, "after" | "on">): string {
  const end = { success: "succeeded", failure: "been given up", end: "ended" }[on];
  return `after ${after.join(", ")}, when ${after.length === 1 ? "it" : "each"} has ${end}`;
}

/** Summarizes a definition: `"0 3 * * *" UTC, runs db-dump --all`. */
function formatDefinitionSummary(definition: Definition): string {
  const { cron, timezone, command, type, after } = definition;
  const runs =
    command === undefined ? (type === undefined ? "" : `, type ${type}`) : `, runs ${formatArgv(command)}`;
  const when = after !== undefined && cron === MANUAL ? "" : `${quoteText(cron)} ${timezone}`;
  const chain = after === undefined ? "" : `${when === "" ? "" : ", "}${formatPredecessors(definition)}`;
  return `${when}${chain}${runs}`;
}

export function formatArgv(argv: readonly string[]): string {
  return argv.map(quoteShellWord).join(" ");
}

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff", "keepFor"];

function formatField(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (DURATIONS.includes(field)) return formatDuration(value as number);
  if (field === "end") return formatInstantUtc(value as number);
  if (field === "command") return formatArgv(value as readonly string[]);
  if (field === "pause") return formatSchedulePause(value as Pause).trim();
  if (field === "except" || field === "only") return (value as readonly string[]).join(",");
  if (
    field === "timezone" ||
    field === "ifExcluded" ||
    field === "group" ||
    field === "catchup" ||
    field === "overlap"
  )
    return String(value);
  return quoteText(JSON.stringify(value), 200).replace(/^"(.*)"$/s, (_, inner: string) =>
    inner.replaceAll('\\"', '"'),
  );
}

export function formatSchedulePause(pause: Pause | undefined): string {
  if (pause === undefined) return "";
  const until = pause.until === undefined ? "" : ` until ${formatInstantUtc(pause.until)}`;
  return `${until} by ${pause.by}${pause.why === undefined ? "" : ` (${pause.why})`}`;
}

function formatNextDue(due: DueState | undefined, definition: Definition | undefined): string {
  if (due === undefined) return "";
  if (due.next === undefined) return definition?.cron === MANUAL ? "" : "; it never fires again";
  const later = due.runAt === due.next ? "" : `, run at ${formatInstantUtc(due.runAt)}`;
  return `; next ${formatInstantUtc(due.next)}${later}`;
}

/** Returns the scheduled time of a run that a trigger added. */
function findTriggeredTime(before: DueState | undefined, after: DueState | undefined): number | undefined {
  const old = new Set(before?.open.map(({ scheduled }) => scheduled));
  return after?.open.find(({ kind, scheduled }) => kind === "trigger" && !old.has(scheduled))?.scheduled;
}
