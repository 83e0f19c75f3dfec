import { EXIT, UsageError } from "../../base/errors.ts";
import { clean, quoteText } from "../../base/text.ts";
import { readPages } from "../../observe/read.ts";
import { readAllStoredSchedules, type StoredSchedule } from "../../operate/stored-schedules.ts";
import { createRealClock } from "../../process/clock.ts";
import { validateName } from "../../protocol/names.ts";
import { findCalendarFault } from "../../schedule/calendar/day-rule.ts";
import { type ChainGraph, listConnected } from "../../schedule/chain-graph.ts";
import { type Definition, getScheduleType, isPaused } from "../../schedule/definition.ts";
import { SCHEDULE_DEFAULTS } from "../../schedule/definition-values.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { explainPlan, parsePlan } from "../../schedule/plan.ts";
import type { DueState } from "../../schedule/state/due.ts";
import { type OccurrenceOutcome, parseOutcomes } from "../../schedule/state/outcome.ts";
import type { JsonFlags } from "../command-line/flags.ts";
import { parseCountFlag } from "../command-line/flags.ts";
import { formatInstantUtc, parseInstantFlag } from "../command-line/instant.ts";
import { formatJsonDocument } from "../json-output.ts";
import { createReadCommand } from "../read-snapshot.ts";
import type { Call, CommandExecutor, CommandIo } from "../spec.ts";
import { type CommandContext, createMessagePrinter, createStoreCommand } from "../store-command.ts";
import { renderTextTable } from "../table.ts";
import {
  computeNextRuns,
  computeRunsFrom,
  describeDefinition,
  describeExcludedDays,
  formatArgv,
  formatClockMark,
  formatSchedulePause,
  type UpcomingRun,
} from "./describe-schedule.ts";
import type { ScheduleExplainFlags, ScheduleListFlags, ScheduleNextFlags } from "./inspect.ts";
import { parseCronArgument, readCalendarsOf, readSchedule } from "./read-schedule.ts";

/** Column titles of PerfectSched's table. */
export const LIST_HEAD = ["key", "type", "cron", "delay", "timezone", "next_time", "next_run_time", "data"];

/** A schedule in a listing. */
export interface ListedSchedule {
  /** Cells in the order of `LIST_HEAD`, with unescaped text from etcd. `delay` is in seconds. */
  cells: readonly string[];
  /** When its next occurrence may start, ms since the epoch; undefined if it has none. */
  runAt: number | undefined;
}

/** Creates a command that lists schedules. @param renderText  renders the rows */
export const createScheduleListCommand = (
  renderText: (schedules: readonly ListedSchedule[]) => string,
): CommandExecutor<ScheduleListFlags> =>
  createReadCommand(async (call, io, context) => {
    const { revision, schedules, calendars } = await readAllStoredSchedules(context, context.signal);
    const tags = call.flags.tag ?? [];
    const rows = [...schedules.values()].filter(({ definition }) =>
      tags.every((tag) => definition?.tags?.includes(tag) === true),
    );
    if (call.flags.json) {
      io.writeOutput(formatJsonDocument({ revision, rows: rows.map(toScheduleJson) }));
      return;
    }
    io.writeOutput(renderText(rows.map((seen) => ({ cells: toScheduleRow(seen), runAt: getRunAt(seen) }))));
    io.writeOutput(`${rows.length} entries.\n`);
    for (const { id, fault, definition } of rows) {
      if (fault !== undefined) context.printMessage(`note: schedule ${id} cannot be read: ${fault}`);
      const missing = definition && findCalendarFault(definition, calendars);
      if (missing !== undefined) context.printMessage(`note: schedule ${id} does not fire: ${missing}`);
    }
  });

export const listSchedules = createScheduleListCommand((schedules) =>
  schedules.length === 0
    ? ""
    : renderTextTable(
        LIST_HEAD,
        schedules.map(({ cells }) => cells),
      ),
);

function getRunAt({ due }: StoredSchedule): number | undefined {
  return due?.next === undefined ? undefined : due.runAt;
}

function toScheduleRow({ id, definition, due }: StoredSchedule): string[] {
  if (definition === undefined) return [id, "?", "?", "?", "?", "?", "?", "?"];
  const { cron, timezone, delay = 0, data, command } = definition;
  const type = command === undefined ? getScheduleType(id, definition) : "-";
  return [
    id,
    type,
    cron,
    String(delay / 1000),
    timezone,
    ...formatTimes(due),
    data !== undefined ? JSON.stringify(data) : command === undefined ? "" : formatArgv(command),
  ];
}

/** Formats when the next occurrence is due, and when it may start. */
function formatTimes(due: DueState | undefined): [string, string] {
  if (due === undefined) return ["-", "-"];
  if (due.next === undefined) return ["never", "never"];
  return [formatInstantUtc(due.next), formatInstantUtc(due.runAt)];
}

function toScheduleJson({ id, definition, fault, due, definitionMod }: StoredSchedule): object {
  return {
    id,
    modRevision: definitionMod,
    definition: definition ?? null,
    ...(fault !== undefined && { fault }),
    nextTime: due?.next ?? null,
    nextRunTime: due?.next === undefined ? null : due.runAt,
    open: due?.open ?? [],
    last: due?.last ?? null,
  };
}

/** Implements `schedule show KEY` as `show schedule KEY`. */
export const showSchedule: CommandExecutor<JsonFlags> = async (call, io) => {
  const show = await import("../see/show.impl.ts");
  return await show.execute({ ...call, args: ["schedule", ...call.args] }, io);
};

export const showChains = createReadCommand<JsonFlags>(async (call, io, context) => {
  const { revision, schedules } = await readAllStoredSchedules(context, context.signal);
  const graph: ChainGraph = new Map(
    [...schedules].map(([id, { definition }]) => [id, definition?.after ?? []]),
  );
  const ids = selectIds(graph, call.args[0]);
  if (call.flags.json) {
    const rows = ids.map((id) => toChainJson(schedules.get(id), id));
    io.writeOutput(formatJsonDocument({ revision, rows }));
    return;
  }
  const lines = renderChains(graph, new Set(ids), (id) => describeSchedule(schedules.get(id), id));
  io.writeOutput(lines.length === 0 ? "no schedule follows another\n" : `${lines.join("\n")}\n`);
});

/** Returns the ids of all schedules in chains, or of those in the chains of one schedule, sorted. */
function selectIds(graph: ChainGraph, key: string | undefined): string[] {
  if (key === undefined) {
    const followed = new Set([...graph.values()].flat());
    return [...graph.keys()].filter((id) => followed.has(id) || (graph.get(id)?.length ?? 0) > 0).sort();
  }
  const id = validateName("schedule", key);
  if (!graph.has(id))
    throw new NotFoundError(`there is no schedule ${quoteText(id)}; see: signalbox schedule list`);
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

/** Largest number of occurrences to show. */
const MOST_RUNS = 1_000;

export const listNextRuns: CommandExecutor<ScheduleNextFlags> = async (call, io) => {
  const given = parseCronArgument(call);
  if (given === undefined && call.args.length === 0) throw new UsageError("KEY or CRON is missing");
  if (given === undefined) return await showNextOfSchedule(call, io);
  const now = createRealClock().getWallTime();
  const from = parseInstantFlag(call, "from", given.timezone, now) ?? now;
  return printRuns(call, io, { definition: given, runs: computeRunsFrom("", given, from, parseCount(call)) });
};

const showNextOfSchedule = createStoreCommand<ScheduleNextFlags>(async (call, io, context) => {
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

function printRuns(
  call: Call<ScheduleNextFlags>,
  io: CommandIo,
  { id, definition, runs, note }: NextRunsReport,
): number {
  const { cron, timezone } = definition;
  if (call.flags.json) {
    io.writeOutput(
      formatJsonDocument({ ...(id !== undefined && { id }), cron, timezone, rows: runs, note: note ?? null }),
    );
    return EXIT.ok;
  }
  if (runs.length === 0) io.writeOutput("it never fires again\n");
  else io.writeOutput(renderTextTable(["local", "scheduled", "run", "clock"], runs.map(toRunRow)));
  if (note !== undefined) createMessagePrinter(call, io)(`note: ${note}`);
  return EXIT.ok;
}

function toRunRow(run: UpcomingRun): string[] {
  const mark = formatClockMark(run)
    .trim()
    .replace(/^\[|\]$/g, "");
  return [run.local, formatInstantUtc(run.at), run.runAt === run.at ? "" : formatInstantUtc(run.runAt), mark];
}

function parseCount(call: Call<ScheduleNextFlags>): number {
  const wanted = parseCountFlag(call, "count", 1) ?? 10;
  if (wanted > MOST_RUNS) throw new UsageError(`--count must be at most ${MOST_RUNS}; got ${wanted}`);
  return wanted;
}

export const explainSchedule: CommandExecutor<ScheduleExplainFlags> = async (call, io) => {
  const given = parseCronArgument(call);
  if (given === undefined) return await explainStoredSchedule(call, io);
  const { cron, timezone } = given;
  const where = call.flags.timezone === undefined ? "" : `, ${timezone}`;
  return printExplanation(call, io, { cron }, [`${explainPlan(parsePlan(cron))}${where}`]);
};

const explainStoredSchedule = createStoreCommand<ScheduleExplainFlags>(async (call, io, context) => {
  const { id, definition } = await readSchedule(context, call.args[0] ?? "");
  const calendars = await readCalendarsOf(context, definition);
  const lines = [
    ...describeDefinition(id, definition),
    ...describeExcludedDays(definition, calendars, context.clock.getWallTime()),
  ];
  return printExplanation(call, io, { id, cron: definition.cron }, lines);
});

function printExplanation(
  call: Call<ScheduleExplainFlags>,
  io: CommandIo,
  about: object,
  lines: readonly string[],
): number {
  if (call.flags.json) io.writeOutput(formatJsonDocument({ ...about, words: lines }));
  else for (const line of lines) io.writeOutput(`${clean(line)}\n`);
  return EXIT.ok;
}

interface DeadLetter extends OccurrenceOutcome {
  id: string;
}

const DEAD_HEAD = ["key", "scheduled", "result", "code", "attempts", "given up", "host", "why"];

export const listDeadLetters = createStoreCommand<JsonFlags>(async (call, io, context) => {
  const [id] = call.args;
  const letters =
    id === undefined
      ? await readAllDeadLetters(context)
      : await readDeadLetters(context, validateName("schedule", id));
  if (call.flags.json) io.writeOutput(formatJsonDocument({ rows: letters }));
  else if (letters.length === 0) io.writeOutput("no dead letters\n");
  else io.writeOutput(renderTextTable(DEAD_HEAD, letters.map(toLetterRow)));
});

async function readDeadLetters(context: CommandContext, id: string): Promise<DeadLetter[]> {
  const { outcomes } = await readSchedule(context, id);
  return outcomes.dead.map((one) => ({ id, ...one }));
}

async function readAllDeadLetters(context: CommandContext): Promise<DeadLetter[]> {
  const letters: DeadLetter[] = [];
  for await (const { kvs } of readPages(context, context.keys.getOutcomesRange(), { signal: context.signal }))
    for (const { key, value } of kvs) {
      const parsed = context.keys.parse(key);
      if (parsed.kind === "outcomes")
        letters.push(...parseOutcomes(value).dead.map((one) => ({ id: parsed.name, ...one })));
    }
  return letters;
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
