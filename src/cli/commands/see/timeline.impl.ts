import { HOUR_MS } from "../../../core/base/clock.ts";
import { UsageError } from "../../../core/base/errors.ts";
import { clean, quoteText } from "../../../core/base/text.ts";
import { buildTimeline, type TimelineTrack } from "../../../site/state/timeline.ts";
import type { CommandIo } from "../../frame/command.ts";
import { printResult } from "../../frame/json-output.ts";
import {
  createReadCommand,
  readAllOutcomes,
  readSnapshotRanges,
  retryCompacted,
} from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { ASCII_SIGNS, formatTimeline, UNICODE_SIGNS } from "../../views/timeline-drawing.ts";
import { isUtf8 } from "./paint.ts";
import type { TimelineFlags } from "./timeline.ts";

/** Widest bar, in columns. */
const MOST_COLUMNS = 1_000;

/** How far back the bars begin without --since, ms. */
export const showTimeline = createReadCommand<TimelineFlags>(async (context) => {
  const until = context.clock.getWallTime();
  const span = { from: context.flags.since?.(until) ?? until - HOUR_MS, until };
  if (span.from === until) throw new UsageError("--since must be before now; got now");
  const inputs = await retryCompacted(() => readInputs(context));
  const tracks = selectTracks(buildTimeline(inputs, span), context.args);
  printResult(context, { revision: inputs.snapshot.revision, ...span, tracks }, () => {
    const signs = isUtf8(context.io.env) ? UNICODE_SIGNS : ASCII_SIGNS;
    const width = Math.min(MOST_COLUMNS, context.flags.width ?? computeWidth(context.io, tracks));
    const lines = formatTimeline(tracks, span, { width, signs });
    return tracks.length === 0 ? describeNothingRecorded(context.args) : formatLines(lines);
  });
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

function describeNothingRecorded(args: readonly string[]): string {
  const of = args.length === 0 ? "" : ` of ${args.map((name) => quoteText(name)).join(", ")}`;
  return `nothing is recorded${of} in this time\n`;
}

function formatLines(lines: readonly string[]): string {
  return `${lines.map((line) => clean(line)).join("\n")}\n`;
}
