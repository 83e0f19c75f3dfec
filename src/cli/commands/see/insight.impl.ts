import { UsageError } from "../../../core/base/errors.ts";
import { clean, quoteText } from "../../../core/base/text.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { formatOperator } from "../../../site/operate/operator-action.ts";
import { buildClaims, type Claim, findClaimTicket, findResetTargets } from "../../../site/state/claims.ts";
import type { Snapshot } from "../../../site/state/snapshot.ts";
import {
  ASCII_SIGNS,
  buildTimeline,
  formatTimeline,
  type TimelineTrack,
  UNICODE_SIGNS,
} from "../../../site/state/timeline.ts";
import {
  computeDrainEffect,
  computeResetEffect,
  computeTotalEffect,
  type DirectEffect,
  formatWhatIf,
  predictChange,
  type WhatIfReport,
} from "../../../site/state/what-if.ts";
import type { CommandIo } from "../../frame/command.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { printResult } from "../../frame/json-output.ts";
import {
  createReadCommand,
  QUEUE_COLLECTIONS,
  readAllOutcomes,
  readSnapshot,
  readSnapshotRanges,
  retryCompacted,
} from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { parseDrainTarget } from "../drain-target.ts";
import type { TimelineFlags, WhatIfResetFlags } from "./insight.ts";
import { isUtf8 } from "./paint.ts";

/** Widest bar, in columns. */
const MOST_COLUMNS = 1_000;
/** How far back the bars begin without --since, ms. */
const HOUR_MS = 3_600_000;

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

export const previewDrain = createWhatIfCommand<JsonFlags>(({ args, operator }) => {
  const target = parseDrainTarget(args);
  return (snapshot, wall) => computeDrainEffect(snapshot, target, { by: formatOperator(operator), wall });
});

export const previewReset = createWhatIfCommand<WhatIfResetFlags>(({ args, flags }) => {
  const kind = args[0] === "resource" ? "resource" : "lock";
  const name = validateName(kind, args[1] ?? "");
  return (snapshot) => {
    const claims = buildClaims(snapshot);
    const targets = findResetTargets(snapshot, kind, name, flags.run);
    const evicted = [...new Set(targets.map(({ run }) => run))].flatMap((run) => claims.get(run) ?? []);
    return computeResetEffect(snapshot, evicted);
  };
});

export const previewTotal = createWhatIfCommand<JsonFlags>(({ args: [name = "", text = ""] }) => {
  const resource = validateName("resource", name);
  if (!/^[1-9]\d{0,14}$/.test(text))
    throw new UsageError(`TOTAL must be a whole number of 1 or more; got ${quoteText(text)}`);
  return (snapshot, wall) => computeTotalEffect(snapshot, { resource, total: Number(text) }, wall);
});

/** Creates a command that prints the effects of a change. @param prepare  checks the arguments, before anything is read */
function createWhatIfCommand<F extends JsonFlags>(
  prepare: (context: CommandContext<F>) => (snapshot: Snapshot, wall: number) => DirectEffect,
) {
  return createReadCommand<F>(async (context) => {
    const computeEffect = prepare(context);
    const snapshot = await readSnapshot(context, [...QUEUE_COLLECTIONS, "hosts", "histories"]);
    const wall = context.clock.getWallTime();
    const report = predictChange(snapshot, computeEffect(snapshot, wall), wall);
    const document = { revision: snapshot.revision, ...toWhatIfJson(report) };
    printResult(context, document, () => formatLines(formatWhatIf(report, wall)));
  });
}

function formatLines(lines: readonly string[]): string {
  return `${lines.map((line) => clean(line)).join("\n")}\n`;
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
