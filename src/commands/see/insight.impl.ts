import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { quoteShellWord } from "../../base/shell.ts";
import { clean, formatShortList, quoteText } from "../../base/text.ts";
import { formatOperator } from "../../operate/ports.ts";
import { validateName } from "../../protocol/names.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { buildClaims, type Claim, findClaimTicket, findResetTargets } from "../../state/claims.ts";
import type { CollisionReport, OverlapCollision, SpreadSuggestion } from "../../state/collisions.ts";
import { findAllCollisions } from "../../state/collisions.ts";
import type { TimeSpan } from "../../state/forecast.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import {
  ASCII_SIGNS,
  buildTimeline,
  formatTimeline,
  type TimelineTrack,
  UNICODE_SIGNS,
} from "../../state/timeline.ts";
import {
  formatWhatIf,
  predictDrain,
  predictReset,
  predictTotal,
  type WhatIfReport,
} from "../../state/what-if.ts";
import type { JsonFlags } from "../command-line/flags.ts";
import { parseCountFlag, parseDurationFlag } from "../command-line/flags.ts";
import { parseSinceFlag } from "../command-line/instant.ts";
import { parseDrainTarget } from "../drain-target.ts";
import { formatJsonDocument } from "../json-output.ts";
import {
  createReadCommand,
  QUEUE_COLLECTIONS,
  readAllOutcomes,
  readSnapshot,
  readSnapshotRanges,
  retryCompacted,
} from "../read-snapshot.ts";
import type { Call, CommandIo } from "../spec.ts";
import type { CommandContext } from "../store-command.ts";
import { renderTextTable } from "../table.ts";
import type { CollisionsFlags, TimelineFlags, WhatIfResetFlags } from "./insight.ts";
import { isUtf8 } from "./paint.ts";

const DAY = 86_400_000;
/** Longest time to look ahead, ms. */
const LONGEST_AHEAD = 31 * DAY;
/** Number of names in a cell. */
const NAMES_IN_CELL = 6;

export const showCollisions = createReadCommand<CollisionsFlags>(async (call, io, context) => {
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
  } else io.writeOutput(renderCollisions(report, suggestions, span, ids));
});

/** Returns the schedules that were named; undefined if none was. */
function selectSchedules({ args }: Call<object>, { schedules }: Snapshot): ReadonlySet<string> | undefined {
  for (const id of args.map((arg) => validateName("schedule", arg)))
    if (!schedules.has(id))
      throw new NotFoundError(`there is no schedule ${quoteText(id)}; see: signalbox schedule list`);
  return args.length === 0 ? undefined : new Set(args);
}

function parseWithin(call: Call<CollisionsFlags>): number {
  const within = parseDurationFlag(call, "within") ?? DAY;
  if (within > 0 && within <= LONGEST_AHEAD) return within;
  throw new UsageError(`--within must be greater than 0 and at most 31d; got ${String(call.flags.within)}`);
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
    renderPart("usually not ended at the next start", OVERLAP_HEAD, overlaps, toOverlapRow),
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

const OVERLAP_HEAD = ["EARLIER", "LATER", "EXCLUDED BY", "TIMES", "FIRST", "LONGEST"];

function toOverlapRow({ earlier, later, lock, times, first, longest }: OverlapCollision): string[] {
  const excludedBy = lock === undefined ? "the same schedule" : `lock ${lock}`;
  return [earlier, later, excludedBy, String(times), formatInstant(first), formatBriefDuration(longest)];
}

/** Widest bar, in columns. */
const MOST_COLUMNS = 1_000;
/** How far back the bars begin without --since, ms. */
const HOUR = 3_600_000;

export const showTimeline = createReadCommand<TimelineFlags>(async (call, io, context) => {
  const until = context.clock.getWallTime();
  const span = { from: parseSinceFlag(call, until) ?? until - HOUR, until };
  if (span.from === until) throw new UsageError("--since must be before now; got now");
  const given = parseCountFlag(call, "width", 10);
  const inputs = await retryCompacted(() => readInputs(context));
  const tracks = selectTracks(buildTimeline(inputs, span), call.args);
  if (call.flags.json) {
    io.writeOutput(formatJsonDocument({ revision: inputs.snapshot.revision, ...span, tracks }));
    return;
  }
  const signs = isUtf8(io.env) ? UNICODE_SIGNS : ASCII_SIGNS;
  const width = Math.min(MOST_COLUMNS, given ?? computeWidth(io, tracks));
  const lines = formatTimeline(tracks, span, { width, signs });
  io.writeOutput(
    tracks.length === 0 ? describeNothingRecorded(call) : `${lines.map((line) => clean(line)).join("\n")}\n`,
  );
});

async function readInputs(context: CommandContext) {
  const collections = ["locks", "resources", "drains", "histories", "runnings", "audits", "groups"] as const;
  const snapshot = await readSnapshotRanges(context, collections);
  const histories = await readAllOutcomes(context, snapshot.revision);
  return { snapshot, outcomes: new Map([...histories].map(([id, { runs }]) => [id, runs])) };
}

/** Selects the tracks of the given names, or all. */
function selectTracks(tracks: readonly TimelineTrack[], names: readonly string[]): TimelineTrack[] {
  const isGiven = ({ subject }: TimelineTrack) => names.includes(subject.slice(subject.indexOf(" ") + 1));
  return tracks.filter((track) => names.length === 0 || isGiven(track));
}

function computeWidth({ terminal }: CommandIo, tracks: readonly TimelineTrack[]): number {
  const longest = tracks.reduce((most, { subject }) => Math.max(most, subject.length), 0);
  return Math.max(10, terminal.getSize().columns - longest - 3);
}

function describeNothingRecorded({ args }: Call<object>): string {
  const of = args.length === 0 ? "" : ` of ${args.map((name) => quoteText(name)).join(", ")}`;
  return `nothing is recorded${of} in this time\n`;
}

export const previewDrain = createReadCommand<JsonFlags>(async (call, io, context) => {
  const target = parseDrainTarget(call.args);
  const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "histories"]);
  const wall = context.clock.getWallTime();
  const report = predictDrain(snapshot, target, { by: formatOperator(context.operator), wall });
  printWhatIf(call, io, { report, revision: snapshot.revision, wall });
});

export const previewReset = createReadCommand<WhatIfResetFlags>(async (call, io, context) => {
  const kind = call.args[0] === "resource" ? "resource" : "lock";
  const name = validateName(kind, call.args[1] ?? "");
  const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "histories"]);
  const wall = context.clock.getWallTime();
  const claims = buildClaims(snapshot);
  const targets = findResetTargets(snapshot, kind, name, call.flags.run);
  const evicted = [...new Set(targets.map(({ run }) => run))].flatMap((run) => claims.get(run) ?? []);
  const report = predictReset(snapshot, evicted, wall);
  printWhatIf(call, io, { report, revision: snapshot.revision, wall });
});

export const previewTotal = createReadCommand<JsonFlags>(async (call, io, context) => {
  const [name = "", text = ""] = call.args;
  const resource = validateName("resource", name);
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new UsageError(`TOTAL must be a whole number of 1 or more; got ${quoteText(text)}`);
  const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "hosts", "histories"]);
  const wall = context.clock.getWallTime();
  const report = predictTotal(snapshot, { resource, total: Number(text) }, wall);
  printWhatIf(call, io, { report, revision: snapshot.revision, wall });
});

/** Prints the effects of a change. @param wall  wall clock, ms since the epoch */
function printWhatIf(
  call: Call<JsonFlags>,
  io: CommandIo,
  { report, revision, wall }: { report: WhatIfReport; revision: bigint; wall: number },
): void {
  if (call.flags.json) io.writeOutput(formatJsonDocument({ revision, ...toWhatIfJson(report) }));
  else
    io.writeOutput(
      `${formatWhatIf(report, wall)
        .map((line) => clean(line))
        .join("\n")}\n`,
    );
}

function toWhatIfJson({ ends, leaves, grants, blocked }: WhatIfReport): object {
  return {
    ends: ends.map(toClaimIds),
    leaves: leaves.map(({ claim, why, isPerhaps }) => ({ ...toClaimIds(claim), why, isPerhaps })),
    grants: grants.map(({ claim, round, before, expected }) => ({
      ...toClaimIds(claim),
      round,
      before: before ?? null,
      expected: expected === undefined ? null : { p50: expected.p50, p95: expected.p95 },
    })),
    blocked: blocked.map(({ claim, drains }) => ({
      ...toClaimIds(claim),
      drains: drains.map(({ scope, name, by, why }) => ({ scope, name, by, why })),
    })),
  };
}

function toClaimIds(claim: Claim): object {
  const { host, pid, command } = findClaimTicket(claim) ?? {};
  const queues = claim.entries.map(({ queue: { kind, name }, entry }) => ({
    kind,
    name,
    count: entry.ticket?.count,
  }));
  return { run: claim.run, host, pid, command, queues };
}
