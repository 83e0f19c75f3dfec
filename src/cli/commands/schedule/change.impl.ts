import type { WallTime } from "../../../core/base/clock.ts";
import { ConfigError, EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { generateRunId } from "../../../core/base/ids.ts";
import { canonicalizeHost, collectTexts, quoteText } from "../../../core/base/text.ts";
import { buildTraceVariables, readTraceContext } from "../../../core/base/trace.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { checkDefinition, type Definition, findUnknownField } from "../../../schedule/definition.ts";
import type { JsonFields } from "../../../schedule/json-fields.ts";
import { type CronText, formatOncePlan, MANUAL_PLAN, parsePlan } from "../../../schedule/plan.ts";
import { listBackfilled } from "../../../schedule/state/backfill.ts";
import type { DueState } from "../../../schedule/state/due.ts";
import type { FirstOccurrenceOptions } from "../../../schedule/state/due-transitions.ts";
import { prepareCancellation } from "../../../site/operate/jobs.ts";
import { formatOperator } from "../../../site/operate/operator-action.ts";
import type { ScheduleMutation } from "../../../site/operate/schedule-mutation.ts";
import {
  buildAddMutation,
  buildBackfillCancellation,
  buildBackfillMutation,
  buildBuryMutation,
  buildDeleteMutation,
  buildHostDeleteMutation,
  buildModifyMutation,
  buildMoveMutation,
  buildPauseMutation,
  buildResumeMutation,
  buildTriggerMutation,
} from "../../../site/operate/schedule-mutations.ts";
import type { StoredSchedule } from "../../../site/operate/stored-schedules.ts";
import { createActionCommand } from "../../frame/action.ts";
import { type ActionImplementation, toFlags } from "../../frame/command.ts";
import { ACTION_FLAGS, type ActionFlags } from "../../frame/command-line/flags.ts";
import {
  formatInstantUtc,
  INSTANT_FORM,
  listTimeNotes,
  parseInstant,
  type WrittenInstant,
} from "../../frame/command-line/instant.ts";
import { editText } from "../../frame/editor.ts";
import { escapeInvisible, formatJsonDocument } from "../../frame/json-output.ts";
import type { ActionOutcome } from "../../frame/outcome.ts";
import { type ActionContext, type CommandContext, createStoreCommand } from "../../frame/store-command.ts";
import { amendSchedules } from "./amend-schedules.ts";
import type {
  ScheduleAddFlags,
  ScheduleAtFlags,
  ScheduleBackfillFlags,
  ScheduleBuryFlags,
  ScheduleDeleteFlags,
  ScheduleEditFlags,
  ScheduleMoveFlags,
  SchedulePauseFlags,
  ScheduleTriggerFlags,
} from "./change.ts";
import { parseDataJson } from "./definition-flags.ts";
import {
  applyGivenFields,
  checkConfiguredTotals,
  checkNoneEmpty,
  readGivenFields,
} from "./definition-input.ts";
import { describeOutage, formatUpcomingRuns } from "./describe-schedule.ts";
import { readCalendarsOf, readExistingSchedule, readSchedule, type ValidSchedule } from "./read-schedule.ts";
import { readTimes } from "./times.ts";

export const editSchedule = createActionCommand<ScheduleEditFlags>(async (context) => {
  const seen = await readExistingSchedule(context, context.args[0] ?? "");
  return hasChanges(context) ? await editByFlags(context, seen) : await editInEditor(context, seen);
});

const NON_CHANGE_FLAGS = new Set(toFlags(ACTION_FLAGS).map(({ name }) => name));

/** Reports whether a flag or a command changes the schedule. */
function hasChanges({ flags, command }: CommandContext<ScheduleEditFlags>): boolean {
  return command.length > 0 || Object.keys(flags).some((name) => !NON_CHANGE_FLAGS.has(name));
}

async function editByFlags(
  context: CommandContext<ScheduleEditFlags>,
  { id, definition, fault }: StoredSchedule,
): Promise<ActionOutcome> {
  if (definition === undefined)
    throw new ConfigError(
      `schedule ${quoteText(id)} cannot be read: ${fault}; open it in your editor: signalbox schedule edit`,
    );
  const { flags } = context;
  const now = context.clock.getWallTime();
  const given = readGivenFields(context, definition.timezone, now);
  const zone = given.timezone ?? definition.timezone;
  const notes = [
    ...listTimeNotes([flags.start, flags.at, flags.end], zone, now),
    ...(await checkConfiguredTotals(context, given.leases ?? [])),
  ];
  const { times, first } = readPlannedTimes(flags, undefined, zone, now);
  const applyChange = (before: Definition | undefined) =>
    applyGivenFields(applyTimes(before ?? definition, flags, times), given, flags);
  return await changeSchedule(context, id, buildModifyMutation([id], applyChange, first), notes);
}

/** @param times  undefined: they do not change */
function applyTimes(
  { type: old, cron, ...rest }: Definition,
  { type = old }: ScheduleEditFlags,
  times: CronText | undefined,
): Definition {
  return {
    ...rest,
    cron: times === undefined ? cron : parsePlan(times).text,
    ...(type && type !== "-" && { type }),
  };
}

async function editInEditor(context: ActionContext, seen: StoredSchedule): Promise<ActionOutcome> {
  const { flags, io } = context;
  if (!io.terminal.canAsk() && !flags.yes)
    throw new UsageError(
      "edit needs a terminal, or flags with the changes; see: signalbox schedule edit --help",
    );
  const { id, definition = {}, definitionMod } = seen;
  // What others have changed since it was opened is not overwritten.
  const opened = { ...context, flags: { "expect-revision": definitionMod, ...flags } };
  return await editText(context, {
    text: escapeInvisible(`${JSON.stringify(definition, undefined, 2)}\n`),
    parse: (text) => parseDefinition(`schedule ${id}`, text, { ...definition }),
    isSettled: ({ exitCode }) => exitCode === EXIT.ok,
    apply: (after) =>
      changeSchedule(
        opened,
        id,
        buildModifyMutation([id], () => after),
      ),
  });
}

/** @param name  for the fault. @param before  the definition that was edited */
function parseDefinition(
  name: string,
  text: string,
  before: JsonFields,
): { value: Definition } | { faults: string[] } {
  try {
    const value = checkDefinition(JSON.parse(text) as Definition);
    const fault = findUnknownField({ ...value }, before);
    return fault === undefined ? { value } : { faults: [`${name}: ${fault}`] };
  } catch (error) {
    if (error instanceof SignalboxError || error instanceof SyntaxError)
      return { faults: [`${name}: ${error.message}`] };
    throw error;
  }
}

async function changeSchedule(
  context: ActionContext,
  id: string,
  amendment: ScheduleMutation,
  notes: readonly string[] = [],
): Promise<ActionOutcome> {
  return await amendSchedules(context, {
    amendment,
    notes,
    nothing: `schedule ${quoteText(id)} is up to date: nothing to change`,
    buildQuestion: () => `Change schedule ${id}?`,
  });
}

export const addRecurring = createActionCommand<ScheduleAddFlags>((context) =>
  addSchedule(context, parseAddArguments(context)),
);

export const scheduleOnce = createActionCommand<ScheduleAtFlags>((context) =>
  addSchedule(context, parseOnceArguments(context)),
);

/** Adds a schedule as its arguments and flags say. @throws UsageError, CronError */
async function addSchedule(
  context: CommandContext<ScheduleAddFlags>,
  { id, type, cron, data, once }: AddArguments,
): Promise<ActionOutcome> {
  const { flags } = context;
  checkNoneEmpty(flags);
  const now = context.clock.getWallTime();
  if (data !== undefined && flags.data !== undefined)
    throw new UsageError("DATA was given twice: as an argument and with --data; leave one of them out");
  const given = readGivenFields(context, "UTC", now);
  const zone = given.timezone ?? "UTC";
  const { times = MANUAL_PLAN, first: firstGiven } = readPlannedTimes(flags, cron, zone, now);
  const { text } = parsePlan(times); // refused as an argument, not as a part of a definition
  const base = {
    cron: typeof times === "string" ? times : text,
    timezone: "UTC",
    ...(type !== undefined && { type }),
  };
  const definition = {
    ...applyGivenFields(base, { ...given, ...(data !== undefined && { data: parseDataJson(data) }) }, flags),
    ...buildPause(context, now),
  };
  const first = { ...(once !== undefined && { start: once.at }), ...firstGiven };
  const notes = [
    ...(once?.notes ?? []),
    ...listTimeNotes([flags.start, flags.at, flags.end], zone, now),
    ...(await checkConfiguredTotals(context, definition.leases)),
  ];
  const calendars = await readCalendarsOf(context, definition);
  return await amendSchedules(context, {
    amendment: buildAddMutation(id, definition, first),
    nothing: `schedule ${quoteText(id)} is up to date`,
    notes,
    buildQuestion: () => `Add schedule ${id}?`,
    buildFollowUp: (changes) => {
      const due = changes.find(({ before }) => before.id === id)?.due;
      if (due === undefined) return [];
      const upcoming = formatUpcomingRuns(id, definition, due, 3, { calendars, since: now });
      return collectTexts([...upcoming, describeOutage(definition)]);
    },
  });
}

function buildPause({ flags: { paused, reason }, operator }: CommandContext<ScheduleAddFlags>, at: number) {
  if (!paused) return {};
  return { pause: { by: formatOperator(operator), at, ...(reason !== undefined && { why: reason }) } };
}

/**
 * Reads the times of a schedule, and --start and --at.
 * @param cron  a cron text beside the flags
 */
function readPlannedTimes(
  flags: ScheduleEditFlags,
  cron: string | undefined,
  zone: string,
  now: WallTime,
): { times: CronText | undefined; first: FirstOccurrenceOptions } {
  const [start, at] = [flags.start?.(zone, now), flags.at?.(zone, now)];
  // From the whole second before: the first run of an interval comes when it has passed once.
  const times = readTimes(flags, cron, { zone, start, now: Math.floor((now - 1) / 1_000) * 1_000 });
  // The start of a rule is a part of it, and may be in the past.
  const begins = start !== undefined && flags.rrule === undefined;
  return { times, first: { ...(begins && { start: start.at }), ...(at !== undefined && { at: at.at }) } };
}

/** What the arguments of a new schedule say. */
interface AddArguments {
  id: string;
  type?: string;
  /** Undefined if the flags say when. */
  cron?: string;
  /** JSON. */
  data?: string;
  /** When it is due once. The first occurrence is not before, unless --start is given. */
  once?: WrittenInstant;
}

/**
 * Parses `KEY TYPE CRON [DATA]`, or `KEY CRON` with a command. With --after, CRON may be missing.
 * @throws UsageError
 */
function parseAddArguments(context: CommandContext<ScheduleAddFlags>): AddArguments {
  const [id = "", first, second, data] = context.args;
  if (second === undefined) return parseShortArguments(context, id, first);
  if (first !== undefined && /^[^@\s]\S*$/.test(second) && /^@|\s/.test(first))
    throw new UsageError(
      `write KEY TYPE CRON, or KEY CRON -- COMMAND; got ${quoteText(first)} as TYPE, and ${quoteText(second)} as CRON`,
    );
  return { id, cron: second, ...buildHandler(first, data) };
}

function parseShortArguments(
  context: CommandContext<ScheduleAddFlags>,
  id: string,
  first: string | undefined,
): AddArguments {
  const isCommand = hasCommand(context);
  if (first !== undefined && isCommand) return { id, cron: first };
  const { after, cron, rrule, "after-end": wait } = context.flags;
  const isTimed = after || [cron, rrule, wait].some((one) => one !== undefined);
  if (isTimed && (isCommand || after || first !== undefined)) return { id, ...buildHandler(first) };
  throw new UsageError(
    first === undefined
      ? "CRON is missing: write KEY TYPE CRON, KEY CRON -- COMMAND, or --after KEY for a schedule that follows another"
      : `CRON or COMMAND is missing: write KEY TYPE CRON, or KEY CRON -- COMMAND; got ${quoteText(first)} as TYPE`,
  );
}

function hasCommand({ command, flags }: CommandContext<ScheduleAtFlags>): boolean {
  return command.length > 0 || flags.command !== undefined;
}

/** Returns the handler of a new schedule: its type, and its data. */
function buildHandler(type: string | undefined, data?: string): Pick<AddArguments, "type" | "data"> {
  return { ...(type !== undefined && type !== "-" && { type }), ...(data !== undefined && { data }) };
}

/** Parses `WHEN [TYPE] [DATA]`. @throws UsageError */
function parseOnceArguments(context: CommandContext<ScheduleAtFlags>): AddArguments {
  const [when = "", type, data] = context.args;
  const { timezone: zone = "UTC", id: given } = context.flags;
  const now = context.clock.getWallTime();
  const once = parseInstant(when, zone, now);
  if (once === undefined)
    throw new UsageError(`WHEN: ${quoteText(when)} is not an instant; write it as ${INSTANT_FORM}`);
  const { at } = once;
  if (at < now) throw new UsageError(`WHEN: ${new Date(at).toISOString()} has passed`);
  if (!hasCommand(context) && type === undefined)
    throw new UsageError("COMMAND or TYPE is missing: write WHEN -- COMMAND, or WHEN TYPE [DATA]");
  const stamp = new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
  const id = given ?? `at-${stamp}-${generateRunId(context.random).slice(-4)}`;
  return { id, cron: formatOncePlan(at), once, ...buildHandler(type, data) };
}

/** Time between two looks at a backfill, ms. */
const LOOK_EVERY = 1_000;

const change = createActionCommand<ScheduleBackfillFlags>(async (context) => {
  const { cancel, parallel = 1, ...span } = context.flags;
  const { id, definition } = await readSchedule(context, context.args[0] ?? "");
  const now = context.clock.getWallTime();
  const from = span.from?.(definition.timezone, now).at;
  if (cancel && from !== undefined)
    throw new UsageError("--from and --cancel exclude each other; leave one of them out");
  if (from === undefined && !cancel) throw new UsageError("--to and --parallel need --from");
  const to = span.to?.(definition.timezone, now).at ?? now;
  return await amendSchedules(context, {
    amendment:
      from === undefined
        ? buildBackfillCancellation([id])
        : buildBackfillMutation(id, { from, to, parallel }),
    nothing: `no backfill of schedule ${id} is under way`,
    notes: listTimeNotes([span.from, span.to], definition.timezone, now),
    buildQuestion: () => (from === undefined ? `Cancel the backfill of ${id}?` : `Backfill schedule ${id}?`),
    buildFollowUp: ([one]) => (one?.due?.backfill === undefined ? [] : [formatProgress(one.due)]),
  });
});

const show = createStoreCommand<ScheduleBackfillFlags>(async (context) => {
  for (let before: string | undefined; ; ) {
    const schedule = await readSchedule(context, context.args[0] ?? "");
    const line = describeProgress(context.flags, schedule);
    if (line !== before) context.io.writeOutput(line);
    before = line;
    if (!context.flags.watch || !isUnderWay(schedule.due)) return EXIT.ok;
    await context.clock.sleep(LOOK_EVERY, context.signal);
  }
});

/** Starts, cancels or shows a backfill. */
export const backfillSchedule: ActionImplementation<ScheduleBackfillFlags> = {
  perform: change.perform,
  execute: async (call, io) => {
    const { flags } = call;
    const isChange = [flags.from, flags.to, flags.parallel, flags.cancel].some((one) => one !== undefined);
    if (!isChange) return await show(call, io);
    const code = await change.execute(call, io);
    return code === EXIT.ok && flags.watch && !flags["dry-run"] ? await show(call, io) : code;
  },
};

function describeProgress({ json, watch }: ScheduleBackfillFlags, { id, due }: ValidSchedule): string {
  if (json) {
    const open = listBackfilled(due?.open ?? []);
    const document = { id, backfill: due?.backfill ?? null, open };
    return watch ? `${JSON.stringify(document)}\n` : formatJsonDocument(document);
  }
  return isUnderWay(due) && due !== undefined
    ? `schedule ${id}: ${formatProgress(due)}\n`
    : `no backfill of schedule ${id} is under way\n`;
}

function isUnderWay(due: DueState | undefined): boolean {
  return due !== undefined && (due.backfill !== undefined || listBackfilled(due.open).length > 0);
}

/** Formats the progress: `12 of 30 started, 2 not finished, next 2026-11-21 03:00:00 UTC`. */
function formatProgress({ backfill, open }: DueState): string {
  const waiting = `${listBackfilled(open).length} not finished`;
  if (backfill === undefined) return `all started, ${waiting}`;
  const { started, total, next } = backfill;
  return `${started} of ${total} started, ${waiting}, next ${formatInstantUtc(next)}`;
}

export const deleteSchedules = createKeysCommand<ScheduleDeleteFlags>("Delete", (ids, { flags: { host } }) =>
  host === undefined ? buildDeleteMutation(ids) : buildHostDeleteMutation(ids, canonicalizeHost(host)),
);
export const resumeSchedules = createKeysCommand("Resume", buildResumeMutation);
export const cancelSchedules = createKeysCommand("Cancel", (ids, context) =>
  prepareCancellation(context, ids, { by: formatOperator(context.operator), why: context.flags.reason }),
);
export const moveSchedules = createKeysCommand<ScheduleMoveFlags>("Move", (ids, { flags, clock }) => {
  const now = clock.getWallTime();
  return buildMoveMutation(ids, flags.to?.("UTC", now).at ?? now);
});
export const buryDeadLetters = createKeysCommand<ScheduleBuryFlags>(
  "Delete dead letters of",
  (ids, context) => buildBuryMutation(ids, readDeadTimes(context)),
);
export const pauseSchedules = createKeysCommand<SchedulePauseFlags>(
  "Pause",
  (ids, { flags, clock, operator }) => {
    const until = flags.until?.("UTC", clock.getWallTime()).at;
    return buildPauseMutation(ids, { by: formatOperator(operator), until, why: flags.reason });
  },
);
export const triggerSchedules = createKeysCommand<ScheduleTriggerFlags>("Trigger", (ids, context) => {
  const { data, env, "ignore-calendar": ignoresCalendars } = context.flags;
  const caller = readTraceContext(context.io.env);
  return buildTriggerMutation(ids, {
    dead: readDeadTimes(context),
    ignoresCalendars,
    trace: caller && buildTraceVariables(caller),
    ...(data !== undefined && { data }),
    ...(env !== undefined && { env: Object.fromEntries(env) }),
  });
});

/** Returns the values of `--dead`, with times. */
function readDeadTimes({ flags, clock }: CommandContext<ScheduleBuryFlags>) {
  return flags.dead?.map((one) => (one === "all" ? one : one("UTC", clock.getWallTime()).at));
}

/** Creates a command on named schedules: `KEY…`. @param verb  for the question */
function createKeysCommand<F extends ActionFlags = ActionFlags>(
  verb: string,
  buildAmendment: (
    ids: readonly string[],
    context: CommandContext<F>,
  ) => ScheduleMutation | Promise<ScheduleMutation>,
): ActionImplementation<F> {
  return createActionCommand<F>(async (context) => {
    const ids = [...new Set(context.args.map((id) => validateName("schedule", id)))];
    const what = ids.length === 1 ? `schedule ${ids[0]}` : `${ids.length} schedules`;
    return await amendSchedules(context, {
      amendment: await buildAmendment(ids, context),
      nothing: `${what}: nothing to change`,
      buildQuestion: (changes) => `${verb} ${changes.length === 1 ? what : `${changes.length} schedules`}?`,
    });
  });
}
