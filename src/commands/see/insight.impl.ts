import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { quoteText } from "../../base/text.ts";
import { findAllCollisions } from "../../model/insight/all-collisions.ts";
import type { CollisionReport, OverlapCollision } from "../../model/insight/collisions.ts";
import type { TimeSpan } from "../../model/insight/forecast.ts";
import type { SpreadSuggestion } from "../../model/insight/spread.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import { formatShortList } from "../../model/views/short-list.ts";
import { validateName } from "../../protocol/names.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { parseDurationFlag } from "../command-line/flags.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createReadCommand } from "../read-command.ts";
import { readSnapshotRanges, retryCompacted } from "../read-snapshot.ts";
import type { Call } from "../spec.ts";
import { renderTextTable } from "../table.ts";
import { readAllOutcomes } from "./insight/read-outcomes.ts";

const DAY = 86_400_000;
/** Longest time to look ahead, ms. */
const MOST = 31 * DAY;
/** Number of names in a cell. */
const SHORT = 6;

export const execute = createReadCommand(async (call, io, context) => {
  const from = context.clock.getWallTime();
  const span = { from, until: from + parseWithin(call) };
  const { snapshot, outcomes } = await retryCompacted(async () => {
    const read = await readSnapshotRanges(context, ["schedules", "dues", "resourceConfigs", "calendars"]);
    return { snapshot: read, outcomes: await readAllOutcomes(context, read.revision) };
  });
  const ids = selectSchedules(call, snapshot);
  const { forecasts, report, suggestions } = findAllCollisions(snapshot, outcomes, span, ids);
  if (call.flags.json) {
    const { revision } = snapshot;
    io.writeOutput(
      formatJsonDocument({ revision, ...span, schedules: forecasts.length, ...report, suggestions }),
    );
  } else io.writeOutput(renderReport(report, suggestions, span, ids));
});

/** Returns the schedules that were named; undefined if none was. */
function selectSchedules({ args }: Call, { schedules }: Snapshot): ReadonlySet<string> | undefined {
  for (const id of args.map((arg) => validateName("schedule", arg)))
    if (!schedules.has(id))
      throw new NotFoundError(`there is no schedule ${quoteText(id)}; see: signalbox schedule list`);
  return args.length === 0 ? undefined : new Set(args);
}

function parseWithin(call: Call): number {
  const within = parseDurationFlag(call, "within") ?? DAY;
  if (within > 0 && within <= MOST) return within;
  throw new UsageError(`--within must be greater than 0 and at most 31d; got ${String(call.flags.within)}`);
}

function renderReport(
  { starts, leases, overlaps }: CollisionReport,
  suggestions: readonly SpreadSuggestion[],
  { from, until }: TimeSpan,
  ids: ReadonlySet<string> | undefined,
): string {
  const parts = [
    renderPart("same minute", ["MINUTES", "FIRST", "SCHEDULES"], starts, ({ minutes, first, ids }) => [
      String(minutes),
      formatInstant(first),
      ids.length > SHORT ? `${ids.length}: ${formatShortList(ids, SHORT)}` : ids.join(", "),
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
        formatShortList(ids, SHORT),
      ],
    ),
    renderPart("usually not ended at the next start", OVERLAP_HEAD, overlaps, toOverlapRow),
  ].filter((part) => part !== "");
  const who = ids === undefined ? "" : ` with ${formatShortList([...ids], SHORT)}`;
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

const OVERLAP_HEAD = ["EARLIER", "LATER", "EXCLUDED BY", "TIMES", "FIRST", "LONGEST"];

function toOverlapRow({ earlier, later, lock, times, first, longest }: OverlapCollision): string[] {
  const excludedBy = lock === undefined ? "the same schedule" : `lock ${lock}`;
  return [earlier, later, excludedBy, String(times), formatInstant(first), formatBriefDuration(longest)];
}
