import { formatDuration } from "../../base/duration.ts";
import { shellWord } from "../../base/shell.ts";
import { quoted } from "../../base/text.ts";
import type { Definition, Pause } from "../../schedule/definition.ts";
import type { Due } from "../../schedule/due.ts";
import type { Change } from "../../work/schedule/amend.ts";
import { shownInstant } from "./instant.ts";

export type ChangeKind = "added" | "deleted" | "paused" | "resumed" | "triggered" | "changed";

/** One field that is written otherwise, in words; undefined: it is not there. */
export interface FieldChange {
  field: string;
  before: string | undefined;
  after: string | undefined;
}

export function kindOf({ before, definition, due, isDeleted }: Change): ChangeKind {
  if (isDeleted) return "deleted";
  if (before.definitionMod === 0n) return "added";
  if (definition === undefined) return openedBy(before.due, due) === undefined ? "changed" : "triggered";
  const fields = fieldChanges(before.definition, definition);
  if (fields.length !== 1 || fields[0]?.field !== "pause") return "changed";
  return definition.pause === undefined ? "resumed" : "paused";
}

/** A change in a line: `schedule backup changed: cron "0 3 * * *" -> "0 4 * * *"; next 2026-11-22 04:00:00 UTC`. */
export function changeLine(change: Change): string {
  const { before, definition, due } = change;
  const what = `schedule ${before.id}`;
  const next = nextText(due);
  switch (kindOf(change)) {
    case "deleted":
      return `${what} deleted${before.definition === undefined ? "" : `: ${summary(before.definition)}`}`;
    case "added":
      return `${what} added: ${definition === undefined ? "" : summary(definition)}${next}`;
    case "paused":
      return `${what} paused${pauseText(definition?.pause)}`;
    case "resumed":
      return `${what} resumed${next}`;
    case "triggered": {
      const open = openedBy(before.due, due);
      return `${what} triggered${open === undefined ? "" : `: one run of ${shownInstant(open)}`}`;
    }
    case "changed": {
      const fields = definition === undefined ? [] : fieldChanges(before.definition, definition);
      const told = fields.map((one) => `${one.field} ${one.before ?? "none"} -> ${one.after ?? "none"}`);
      return `${what} changed${told.length === 0 ? "" : `: ${told.join(", ")}`}${next}`;
    }
  }
}

/** Fields that differ, in the order in which they are declared. */
export function fieldChanges(before: Definition | undefined, after: Definition): FieldChange[] {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])] as (keyof Definition)[];
  return names.flatMap((field) => {
    const [was, is] = [before?.[field], after[field]];
    if (canonical(was) === canonical(is)) return [];
    return [{ field, before: fieldText(field, was), after: fieldText(field, is) }];
  });
}

/** What a schedule is, in a few words: `"0 3 * * *" UTC, runs db-dump --all`. */
export function summary({ cron, timezone, command, type }: Definition): string {
  const runs =
    command === undefined ? (type === undefined ? "" : `, type ${type}`) : `, runs ${argvText(command)}`;
  return `${quoted(cron)} ${timezone}${runs}`;
}

export function argvText(argv: readonly string[]): string {
  return argv.map(shellWord).join(" ");
}

const DURATIONS = ["delay", "jitter", "deadline", "timeout", "backoff"];

function fieldText(field: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  if (DURATIONS.includes(field)) return formatDuration(value as number);
  if (field === "end") return shownInstant(value as number);
  if (field === "command") return argvText(value as readonly string[]);
  if (field === "pause") return pauseText(value as Pause).trim();
  if (field === "timezone" || field === "group" || field === "catchup" || field === "overlap")
    return String(value);
  return quoted(JSON.stringify(value), 200).replace(/^"(.*)"$/s, (_, inner: string) =>
    inner.replaceAll('\\"', '"'),
  );
}

export function pauseText(pause: Pause | undefined): string {
  if (pause === undefined) return "";
  const until = pause.until === undefined ? "" : ` until ${shownInstant(pause.until)}`;
  return `${until} by ${pause.by}${pause.why === undefined ? "" : ` (${pause.why})`}`;
}

function nextText(due: Due | undefined): string {
  if (due === undefined) return "";
  if (due.next === undefined) return "; it never fires again";
  const later = due.runAt === due.next ? "" : `, run at ${shownInstant(due.runAt)}`;
  return `; next ${shownInstant(due.next)}${later}`;
}

/** The nominal time of a run that a trigger has added. */
function openedBy(before: Due | undefined, after: Due | undefined): number | undefined {
  const old = new Set(before?.open.map(({ scheduled }) => scheduled));
  return after?.open.find(({ kind, scheduled }) => kind === "trigger" && !old.has(scheduled))?.scheduled;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
