import { DAY_MS, formatBriefDuration, formatDuration, formatInstant } from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { quoteShellWord } from "../../../core/base/shell.ts";
import { formatShortList } from "../../../core/base/text.ts";
import { validateName } from "../../../core/protocol/names.ts";
import {
  type CollisionReport,
  findAllCollisions,
  type SpreadSuggestion,
} from "../../../site/state/collisions.ts";
import type { TimeSpan } from "../../../site/state/forecast.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import { printResult } from "../../frame/json-output.ts";
import {
  createReadCommand,
  readAllOutcomes,
  readSnapshotRanges,
  retryCompacted,
} from "../../frame/read-snapshot.ts";
import { renderTextTable } from "../../frame/table.ts";
import type { ScheduleLintFlags } from "./inspect.ts";
import { createUnknownScheduleError } from "./read-schedule.ts";

/** Longest time to look ahead, ms. */
const LONGEST_AHEAD = 31 * DAY_MS;
const NAMES_IN_CELL = 6;

export const showCollisions = createReadCommand<ScheduleLintFlags>(async (context) => {
  const from = context.clock.getWallTime();
  const { within = DAY_MS } = context.flags;
  if (within <= 0 || within > LONGEST_AHEAD)
    throw new UsageError(`--within must be greater than 0 and at most 31d; got ${formatDuration(within)}`);
  const span = { from, until: from + within };
  const { snapshot, outcomes } = await retryCompacted(async () => {
    const read = await readSnapshotRanges(context, ["schedules", "dues", "resourceConfigs", "calendars"]);
    return { snapshot: read, outcomes: await readAllOutcomes(context, read.revision) };
  });
  const ids = selectSchedules(context.args, snapshot);
  const { forecasts, report, suggestions } = findAllCollisions(snapshot, outcomes, span, ids);
  const { revision } = snapshot;
  const document = { revision, ...span, schedules: forecasts.length, ...report, suggestions };
  printResult(context, document, () => renderCollisions(report, suggestions, span, ids));
});

/** Returns the schedules that were named; undefined if none was. */
function selectSchedules(args: readonly string[], { schedules }: Snapshot): ReadonlySet<string> | undefined {
  for (const id of args.map((arg) => validateName("schedule", arg)))
    if (!schedules.has(id)) throw createUnknownScheduleError(id);
  return args.length === 0 ? undefined : new Set(args);
}

function renderCollisions(
  { starts, leases, overlaps }: CollisionReport,
  suggestions: readonly SpreadSuggestion[],
  { from, until }: TimeSpan,
  ids: ReadonlySet<string> | undefined,
): string {
  const parts = [
    renderPart("same minute", ["MINUTES", "FIRST", "SCHEDULES"], starts, ({ minutes, first, ids }) => [
      String(minutes),
      formatInstant(first),
      ids.length > NAMES_IN_CELL ? `${ids.length}: ${formatShortList(ids, NAMES_IN_CELL)}` : ids.join(", "),
    ]),
    renderPart(
      "more units than the total",
      ["RESOURCE", "PEAK", "TOTAL", "TIMES", "FIRST", "SCHEDULES"],
      leases,
      ({ resource, peak, total, times, first, ids }) => [
        resource,
        String(peak),
        String(total),
        String(times),
        formatInstant(first),
        formatShortList(ids, NAMES_IN_CELL),
      ],
    ),
    renderPart(
      "usually not ended at the next start",
      ["EARLIER", "LATER", "EXCLUDED BY", "TIMES", "FIRST", "LONGEST"],
      overlaps,
      ({ earlier, later, lock, times, first, longest }) => [
        earlier,
        later,
        lock === undefined ? "the same schedule" : `lock ${lock}`,
        String(times),
        formatInstant(first),
        formatBriefDuration(longest),
      ],
    ),
  ].filter((part) => part !== "");
  const who = ids === undefined ? "" : ` with ${formatShortList([...ids], NAMES_IN_CELL)}`;
  if (parts.length === 0) return `no schedules compete${who} within ${formatBriefDuration(until - from)}\n`;
  if (suggestions.length > 0) parts.push(`to spread them\n${suggestions.map(renderSuggestion).join("")}`);
  return parts.join("\n");
}

function renderSuggestion({ id, command, cron }: SpreadSuggestion): string {
  const other = `signalbox schedule edit ${quoteShellWord(id)} --cron ${quoteShellWord(cron ?? "")}`;
  return `  ${command}\n${cron === undefined ? "" : `  or: ${other}\n`}`;
}

function renderPart<T>(
  title: string,
  head: readonly string[],
  items: readonly T[],
  toRow: (item: T) => string[],
): string {
  return items.length === 0 ? "" : `${title}\n${renderTextTable(head, items.map(toRow))}`;
}
