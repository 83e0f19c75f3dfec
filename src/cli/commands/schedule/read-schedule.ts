import type { WallTime } from "../../../core/base/clock.ts";
import { ConfigError, UsageError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { type Calendars, NO_CALENDARS } from "../../../schedule/calendar/calendar.ts";
import { type CalendarFields, listCalendarNames } from "../../../schedule/calendar/day-rule.ts";
import { checkZone } from "../../../schedule/cron/offsets.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { NotFoundError } from "../../../schedule/errors.ts";
import { type CronText, parsePlan } from "../../../schedule/plan.ts";
import {
  getShownDue,
  readCalendars,
  readStoredSchedules,
  type StoredSchedule,
} from "../../../site/operate/stored-schedules.ts";
import type { Call } from "../../frame/command.ts";
import type { WrittenTime } from "../../frame/command-line/instant.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { readCronTexts, readTimes, type TimeFlags } from "./times.ts";

/** A schedule that exists and can be parsed. */
export interface ValidSchedule extends StoredSchedule {
  definition: Definition;
}

/** Reads one schedule, with the state to show. @throws NotFoundError; ConfigError if it cannot be parsed */
export async function readSchedule(context: CommandContext, given: string): Promise<ValidSchedule> {
  const seen = await readExistingSchedule(context, given);
  const { id, definition, fault } = seen;
  const due = getShownDue(seen);
  if (definition !== undefined) return { ...seen, definition, ...(due !== undefined && { due }) };
  throw new ConfigError(`schedule ${quoteText(id)} cannot be read: ${fault}; see: signalbox schedule edit`);
}

/** Reads the calendars, if a definition names any. @throws StoreError */
export async function readCalendarsOf(context: CommandContext, fields: CalendarFields): Promise<Calendars> {
  return listCalendarNames(fields).length === 0 ? NO_CALENDARS : await readCalendars(context, context.signal);
}

/** Reads one schedule, also if it cannot be parsed. @throws NotFoundError */
export async function readExistingSchedule(context: CommandContext, given: string): Promise<StoredSchedule> {
  const id = validateName("schedule", given);
  const seen = (await readStoredSchedules(context, [id], context.signal)).schedules.get(id);
  if (seen !== undefined && seen.definitionMod !== 0n) return seen;
  throw createUnknownScheduleError(id);
}

export function createUnknownScheduleError(id: string): NotFoundError {
  return new NotFoundError(`there is no schedule ${quoteText(id)}; see: signalbox ls schedules`);
}

/** A command line with a schedule, or a cron text in its place. */
interface CronCall {
  args: readonly string[];
  flags: { readonly cron?: readonly string[]; readonly seconds?: true; readonly timezone?: string };
}

/**
 * Parses --cron and --timezone, or a cron text in place of KEY.
 * @returns undefined if KEY names a schedule
 * @throws UsageError, CronError
 */
export function parseCronArgument(call: CronCall): { cron: CronText; timezone: string } | undefined {
  const given = findCronArgument(call);
  if (given === undefined) return undefined;
  return { cron: parsePlan(given.cron).text, timezone: checkZone(given.timezone) };
}

/**
 * Finds --cron and --timezone, or a cron text in place of the only KEY, without checking them. A text with a space or an @
 * at its start is taken for a cron text, because ids hardly contain these.
 * @throws UsageError
 */
export function findCronArgument({
  args,
  flags,
}: CronCall): { cron: CronText; timezone: string } | undefined {
  const [key, ...more] = args;
  const { cron: flag, timezone: zone } = flags;
  if (flag !== undefined && key !== undefined)
    throw new UsageError("KEY and --cron exclude each other; leave one of them out");
  const given = flag ?? (key !== undefined && more.length === 0 && isCronText(key) ? [key] : undefined);
  const [only, ...others] = readCronTexts(given ?? [], flags);
  const cron = only !== undefined && others.length > 0 ? [only, ...others] : only;
  if (cron !== undefined) return { cron, timezone: zone ?? "UTC" };
  if (zone !== undefined)
    throw new UsageError("--timezone needs a cron text: a schedule has its own time zone");
  return undefined;
}

const isCronText = (key: string) => /^@|\s/.test(key.trim());

/**
 * Parses --rrule, --after-end and --start besides what `parseCronArgument` parses.
 * @returns undefined if KEY names a schedule. `start`: where its times begin
 * @throws UsageError, CronError
 */
export function parseTimeArguments(
  call: Call<TimeFlags & { readonly start?: WrittenTime; readonly timezone?: string }>,
  now: WallTime,
): { cron: CronText; timezone: string; start?: number } | undefined {
  const { rrule, "after-end": wait, start: written, timezone: zone = "UTC" } = call.flags;
  const [text] = call.args;
  if (rrule === undefined && wait === undefined) {
    if (written !== undefined) throw new UsageError("--start needs --rrule or --after-end; or use --from");
    return parseCronArgument(call);
  }
  if (text !== undefined && !isCronText(text))
    throw new UsageError("KEY excludes --rrule and --after-end; leave one of them out");
  const timezone = checkZone(zone);
  const start = written?.(timezone, now);
  const cron = readTimes(call.flags, text, { zone: timezone, start, now });
  if (cron === undefined) return undefined;
  return { cron: parsePlan(cron).text, timezone, ...(start !== undefined && { start: start.at }) };
}
