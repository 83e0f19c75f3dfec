import { EXIT, UsageError } from "../../../core/base/errors.ts";
import { clean } from "../../../core/base/text.ts";
import { createRealClock } from "../../../core/process/clock.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { type Definition, getPause, isPaused } from "../../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../../schedule/definition-values.ts";
import { explainEventPlan, explainPlan, parsePlan } from "../../../schedule/plan.ts";
import { type ChainGraph, listConnected } from "../../../schedule/state/chain.ts";
import { readAllStoredSchedules, type StoredSchedule } from "../../../site/operate/stored-schedules.ts";
import type { CommandExecutor, CommandIo } from "../../frame/command.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { formatInstantUtc } from "../../frame/command-line/instant.ts";
import { printResult } from "../../frame/json-output.ts";
import { createReadCommand, type OutcomeHistories, readOutcomes } from "../../frame/read-snapshot.ts";
import { type CommandContext, createStoreCommand } from "../../frame/store-command.ts";
import { renderTextTable } from "../../frame/table.ts";
import { type DeadLetter, listDeadLetters } from "../../views/schedules.ts";
import {
  computeNextRuns,
  computeRunsFrom,
  describeDefinition,
  describeExcludedDays,
  formatClockMark,
  formatSchedulePause,
  type UpcomingRun,
} from "./describe-schedule.ts";
import type { ScheduleExplainFlags, ScheduleNextFlags } from "./inspect.ts";
import {
  createUnknownScheduleError,
  parseCronArgument,
  parseTimeArguments,
  readCalendarsOf,
  readSchedule,
} from "./read-schedule.ts";

export const showChains = createReadCommand<JsonFlags>(async (context) => {
  const { revision, schedules } = await readAllStoredSchedules(context, context.signal);
  const graph: ChainGraph = new Map(
    [...schedules].map(([id, { definition }]) => [id, definition?.after ?? []]),
  );
  const ids = selectIds(graph, context.args[0]);
  const rows = ids.map((id) => toChainJson(schedules.get(id), id));
  printResult(context, { revision, rows }, () => {
    const lines = renderChains(graph, new Set(ids), (id) => describeSchedule(schedules.get(id), id));
    return lines.length === 0 ? "no schedule follows another\n" : `${lines.join("\n")}\n`;
  });
});

/** Returns the ids of all schedules in chains, or of those in the chains of one schedule, sorted. */
function selectIds(graph: ChainGraph, key: string | undefined): string[] {
  if (key === undefined) {
    const followed = new Set([...graph.values()].flat());
    return [...graph.keys()].filter((id) => followed.has(id) || (graph.get(id)?.length ?? 0) > 0).sort();
  }
  const id = validateName("schedule", key);
  if (!graph.has(id)) throw createUnknownScheduleError(id);
  return [...listConnected(graph, id)].sort();
}

/** Renders a tree below each schedule that follows none of the others. What follows a schedule is rendered once. */
function renderChains(
  graph: ChainGraph,
  ids: ReadonlySet<string>,
  describe: (id: string) => string,
): string[] {
  const rendered = new Set<string>();
  const renderBelow = (id: string, indent: string): string[] => {
    const next = [...ids].filter((one) => graph.get(one)?.includes(id));
    if (rendered.has(id)) return next.length === 0 ? [] : [`${indent}\`- … as above`];
    rendered.add(id);
    return next.flatMap((one, at) => {
      const isLast = at === next.length - 1;
      const line = `${indent}${isLast ? "`- " : "|- "}${describe(one)}`;
      return [line, ...renderBelow(one, `${indent}${isLast ? "   " : "|  "}`)];
    });
  };
  const roots = [...ids].filter((id) => graph.get(id)?.some((one) => ids.has(one)) !== true);
  return roots.flatMap((id) => [describe(id), ...renderBelow(id, "")]);
}

function describeSchedule(stored: StoredSchedule | undefined, id: string): string {
  const { definition, due } = stored ?? {};
  const { after = [], on = SCHEDULE_DEFAULTS.on } = definition ?? {};
  const condition = after.length === 0 ? "" : ` (on ${on}${after.length > 1 ? ` of ${after.length}` : ""})`;
  const last = due?.last === undefined ? "" : `: ${due.last.result}`;
  return clean(`${id}${condition}${last}`);
}

function toChainJson(stored: StoredSchedule | undefined, id: string): object {
  const { definition, due } = stored ?? {};
  return {
    id,
    after: definition?.after ?? [],
    on: definition?.after && (definition.on ?? SCHEDULE_DEFAULTS.on),
    successors: due?.successors ?? [],
    arrived: due?.arrived ?? [],
    last: due?.last ?? null,
  };
}

/** Usual number of occurrences to show. */
const USUAL_RUNS = 10;

export const listNextRuns: CommandExecutor<ScheduleNextFlags> = async (call, io) => {
  const { args, flags } = call;
  const now = createRealClock().getWallTime();
  const given = parseTimeArguments(call, now);
  if (given === undefined && args.length === 0) throw new UsageError("KEY or CRON is missing");
  if (given === undefined) return await showNextOfSchedule(call, io);
  const { from, count = USUAL_RUNS } = flags;
  const start = from?.(given.timezone, now) ?? given.start ?? now;
  return printRuns({ flags, io }, { definition: given, runs: computeRunsFrom("", given, start, count) });
};

const showNextOfSchedule = createStoreCommand<ScheduleNextFlags>(async (context) => {
  const { id, definition, due } = await readSchedule(context, context.args[0] ?? "");
  const now = context.clock.getWallTime();
  const { count = USUAL_RUNS } = context.flags;
  const from = context.flags.from?.(definition.timezone, now);
  const marks = { calendars: await readCalendarsOf(context, definition), since: from ?? now };
  const runs =
    from === undefined && due !== undefined
      ? computeNextRuns(id, definition, due, count, marks)
      : computeRunsFrom(id, definition, from ?? now, count, marks);
  const note = isPaused(definition, due, now)
    ? `the schedule is paused${formatSchedulePause(getPause(definition, due))}`
    : undefined;
  printRuns(context, { id, definition, runs, note });
  if (note !== undefined && !context.flags.json) context.printMessage(`note: ${note}`);
  return EXIT.ok;
});

interface NextRunsReport {
  id?: string;
  definition: Definition;
  runs: readonly UpcomingRun[];
  note?: string | undefined;
}

function printRuns(
  output: { flags: ScheduleNextFlags; io: CommandIo },
  { id, definition, runs, note }: NextRunsReport,
): number {
  const { cron, timezone } = definition;
  const then = explainEventPlan(parsePlan(cron));
  const document = {
    id,
    cron,
    timezone,
    rows: runs,
    then,
    note: note ?? null,
  };
  printResult(output, document, () => {
    if (runs.length === 0) return `${then ?? "it never fires again"}\n`;
    const table = renderTextTable(["local", "scheduled", "run", "clock"], runs.map(toRunRow));
    return then === undefined ? table : `${table}then ${then}\n`;
  });
  return EXIT.ok;
}

function toRunRow(run: UpcomingRun): string[] {
  const mark = formatClockMark(run)
    .trim()
    .replace(/^\[|\]$/g, "");
  return [run.local, formatInstantUtc(run.at), run.runAt === run.at ? "" : formatInstantUtc(run.runAt), mark];
}

export const explainSchedule: CommandExecutor<ScheduleExplainFlags> = async (call, io) => {
  const { flags } = call;
  const given = parseCronArgument(call);
  if (given === undefined) return await explainStoredSchedule(call, io);
  const { cron, timezone } = given;
  const where = flags.timezone === undefined ? "" : `, ${timezone}`;
  return printExplanation({ flags, io }, { cron }, [`${explainPlan(parsePlan(cron))}${where}`]);
};

const explainStoredSchedule = createStoreCommand<ScheduleExplainFlags>(async (context) => {
  const { id, definition, due } = await readSchedule(context, context.args[0] ?? "");
  const calendars = await readCalendarsOf(context, definition);
  const lines = [
    ...describeDefinition(id, definition, due),
    ...describeExcludedDays(definition, calendars, context.clock.getWallTime()),
  ];
  return printExplanation(context, { id, cron: definition.cron }, lines);
});

function printExplanation(
  output: { flags: ScheduleExplainFlags; io: CommandIo },
  about: object,
  lines: readonly string[],
): number {
  const formatText = () => lines.map((line) => `${clean(line)}\n`).join("");
  printResult(output, { ...about, words: lines }, formatText);
  return EXIT.ok;
}

const DEAD_HEAD = ["key", "scheduled", "result", "code", "attempts", "given up", "host", "why"];

export const printDeadLetters = createStoreCommand<JsonFlags>(async (context) => {
  const letters = listDeadLetters(await readChosenOutcomes(context, context.args[0]));
  printResult(context, { rows: letters }, () =>
    letters.length === 0 ? "no dead letters\n" : renderTextTable(DEAD_HEAD, letters.map(toLetterRow)),
  );
});

async function readChosenOutcomes(
  context: CommandContext,
  given: string | undefined,
): Promise<OutcomeHistories> {
  if (given === undefined)
    return await readOutcomes(context, [context.keys.getOutcomesRange()], undefined, context.signal);
  const { id, outcomes } = await readSchedule(context, given);
  return new Map([[id, outcomes]]);
}

function toLetterRow({
  id,
  scheduled,
  result,
  code,
  attempt,
  endedAt,
  host = "",
  reason = "",
}: DeadLetter): string[] {
  const times = [code, attempt].map((one) => (one === undefined ? "" : String(one)));
  return [id, formatInstantUtc(scheduled), result, ...times, formatInstantUtc(endedAt), host, reason];
}
