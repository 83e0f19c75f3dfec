import { UsageError } from "../../../base/errors.ts";
import { clean, quoteText } from "../../../base/text.ts";
import { buildTimeline, type TimelineTrack } from "../../../model/insight/timeline.ts";
import { ASCII_SIGNS, formatTimeline, UNICODE_SIGNS } from "../../../model/insight/timeline-text.ts";
import { parseCountFlag } from "../../command-line/flags.ts";
import { parseSinceFlag } from "../../command-line/past-time.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createReadCommand } from "../../read-command.ts";
import { readSnapshotRanges, retryCompacted } from "../../read-snapshot.ts";
import type { Call, CommandIo } from "../../spec.ts";
import type { CommandContext } from "../../store-command.ts";
import { isUtf8 } from "../paint.ts";
import { readAllOutcomes } from "./read-outcomes.ts";

/** Widest bar, in columns. */
const MOST_COLUMNS = 1_000;
/** How far back the bars begin without --since, ms. */
const HOUR = 3_600_000;

export const execute = createReadCommand(async (call, io, context) => {
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
    tracks.length === 0 ? describeNone(call) : `${lines.map((line) => clean(line)).join("\n")}\n`,
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

function describeNone({ args }: Call): string {
  const of = args.length === 0 ? "" : ` of ${args.map((name) => quoteText(name)).join(", ")}`;
  return `nothing is recorded${of} in this time\n`;
}
