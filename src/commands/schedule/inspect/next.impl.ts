import { EXIT, UsageError } from "../../../base/errors.ts";
import { createRealClock } from "../../../process/clock.ts";
import { type Definition, isPaused } from "../../../schedule/definition.ts";
import { parseCountFlag } from "../../command-line/flags.ts";
import { formatInstantUtc, parseInstantFlag } from "../../command-line/instant.ts";
import { formatJsonDocument } from "../../json-output.ts";
import { createMessagePrinter } from "../../message-printer.ts";
import type { Call, CommandExecutor, CommandIo } from "../../spec.ts";
import { createStoreCommand } from "../../store-command.ts";
import { renderTextTable } from "../../table.ts";
import { formatSchedulePause } from "../describe-schedule.ts";
import { computeNextRuns, computeRunsFrom, formatClockMark, type UpcomingRun } from "../next-lines.ts";
import { parseCronArgument, readCalendarsOf, readSchedule } from "../read-schedule.ts";

/** Largest number of occurrences to show. */
const MOST = 1_000;

export const execute: CommandExecutor = async (call, io) => {
  const given = parseCronArgument(call);
  if (given === undefined && call.args.length === 0) throw new UsageError("KEY or CRON is missing");
  if (given === undefined) return await showNextOfSchedule(call, io);
  const now = createRealClock().getWallTime();
  const from = parseInstantFlag(call, "from", given.timezone, now) ?? now;
  return printRuns(call, io, { definition: given, runs: computeRunsFrom("", given, from, parseCount(call)) });
};

const showNextOfSchedule = createStoreCommand(async (call, io, context) => {
  const { id, definition, due } = await readSchedule(context, call.args[0] ?? "");
  const now = context.clock.getWallTime();
  const from = parseInstantFlag(call, "from", definition.timezone, now);
  const marks = { calendars: await readCalendarsOf(context, definition), since: from ?? now };
  const runs =
    from === undefined && due !== undefined
      ? computeNextRuns(id, definition, due, parseCount(call), marks)
      : computeRunsFrom(id, definition, from ?? now, parseCount(call), marks);
  const note = isPaused(definition, now)
    ? `the schedule is paused${formatSchedulePause(definition.pause)}`
    : undefined;
  return printRuns(call, io, { id, definition, runs, note });
});

interface NextRunsReport {
  id?: string;
  definition: Definition;
  runs: readonly UpcomingRun[];
  note?: string | undefined;
}

function printRuns(call: Call, io: CommandIo, { id, definition, runs, note }: NextRunsReport): number {
  const { cron, timezone } = definition;
  if (call.flags.json) {
    io.writeOutput(
      formatJsonDocument({ ...(id !== undefined && { id }), cron, timezone, rows: runs, note: note ?? null }),
    );
    return EXIT.ok;
  }
  if (runs.length === 0) io.writeOutput("it never fires again\n");
  else io.writeOutput(renderTextTable(["local", "scheduled", "run", "clock"], runs.map(toRow)));
  if (note !== undefined) createMessagePrinter(call, io)(`note: ${note}`);
  return EXIT.ok;
}

function toRow(run: UpcomingRun): string[] {
  const mark = formatClockMark(run)
    .trim()
    .replace(/^\[|\]$/g, "");
  return [run.local, formatInstantUtc(run.at), run.runAt === run.at ? "" : formatInstantUtc(run.runAt), mark];
}

function parseCount(call: Call): number {
  const wanted = parseCountFlag(call, "count", 1) ?? 10;
  if (wanted > MOST) throw new UsageError(`--count must be at most ${MOST}; got ${wanted}`);
  return wanted;
}
