import { formatDuration, type WallTime } from "../../../core/base/clock.ts";
import { EXIT, UsageError } from "../../../core/base/errors.ts";
import { clean, pluralize } from "../../../core/base/text.ts";
import { createRealClock } from "../../../core/process/clock.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { listBlackouts } from "../../../schedule/calendar/blackout.ts";
import { type Calendars, formatDay, getWeekdayOf, toDay } from "../../../schedule/calendar/calendar.ts";
import { buildDayRule, findCalendarFault } from "../../../schedule/calendar/day-rule.ts";
import { listMovedDays } from "../../../schedule/calendar/upcoming-days.ts";
import { type Cron, isCron } from "../../../schedule/cron/cron.ts";
import { WEEKDAYS } from "../../../schedule/cron/cron-field.ts";
import { createFinding, type LintFinding, lintCron } from "../../../schedule/cron/lint.ts";
import { checkZone, getZoneOffset } from "../../../schedule/cron/offsets.ts";
import { isPlanned } from "../../../schedule/cron/wall-times.ts";
import type { Definition } from "../../../schedule/definition.ts";
import { lintSecrets } from "../../../schedule/lint-secrets.ts";
import { createPlanTimes, parsePlan } from "../../../schedule/plan.ts";
import { createTiming } from "../../../schedule/timing.ts";
import {
  readAllStoredSchedules,
  readStoredSchedules,
  type StoredSchedule,
} from "../../../site/operate/stored-schedules.ts";
import type { CommandExecutor, CommandIo } from "../../frame/command.ts";
import { printResult } from "../../frame/json-output.ts";
import { createStoreCommand } from "../../frame/store-command.ts";
import { describeEndedProcess, findBackgroundProcess } from "../../syntax/background-process.ts";
import type { ScheduleLintFlags } from "./inspect.ts";
import { createUnknownScheduleError, findCronArgument } from "./read-schedule.ts";

export const lintSchedules: CommandExecutor<ScheduleLintFlags> = async (call, io) => {
  const { flags } = call;
  if (flags.collisions) return await (await import("./collisions.impl.ts")).showCollisions(call, io);
  if (flags.within !== undefined) throw new UsageError("--within needs --collisions; add --collisions");
  const given = findCronArgument(call);
  if (given === undefined) return await lintStoredSchedules(call, io);
  const { cron } = given;
  const zone = checkZone(given.timezone);
  return printRemarks({ flags, io }, lintCron(cron, zone, createRealClock().getWallTime()), 1);
};

const lintStoredSchedules = createStoreCommand<ScheduleLintFlags>(async (context) => {
  const ids = context.args.map((id) => validateName("schedule", id));
  const result = await (ids.length === 0
    ? readAllStoredSchedules(context, context.signal)
    : readStoredSchedules(context, ids, context.signal));
  const all = [...result.schedules.values()];
  const missing = all.find(({ definitionMod }) => definitionMod === 0n);
  if (missing !== undefined) throw createUnknownScheduleError(missing.id);
  const now = context.clock.getWallTime();
  const remarks = all.flatMap((seen) => lintSchedule(seen, now, result.calendars));
  return printRemarks(context, remarks, all.length);
});

function printRemarks(
  output: { flags: ScheduleLintFlags; io: CommandIo },
  remarks: readonly ScheduleLintFinding[],
  looked: number,
): number {
  printResult(output, { looked, rows: remarks }, () =>
    remarks.length === 0
      ? `no findings in ${pluralize(looked, "schedule")}\n`
      : remarks.map((remark) => `${clean(formatRemark(remark))}\n`).join(""),
  );
  return remarks.some(({ level }) => level === "error") ? EXIT.undone : EXIT.ok;
}

function formatRemark({ id, level, about, detail, remedy }: ScheduleLintFinding): string {
  const where = id === undefined ? "" : `${id}: `;
  return `${where}${level}: ${about}: ${detail}${remedy === undefined ? "" : `; ${remedy}`}`;
}

/** A finding, and the schedule it is about. */
interface ScheduleLintFinding extends LintFinding {
  id?: string;
}

function lintSchedule(
  { id, definition, fault, due }: StoredSchedule,
  now: WallTime,
  calendars: Calendars,
): ScheduleLintFinding[] {
  if (definition === undefined) {
    const detail = `the definition cannot be read, so the schedule never fires: ${fault}`;
    return [{ id, level: "error", about: "definition", detail }];
  }
  const { cron, timezone, end } = definition;
  const left = describeEndedProcess(findBackgroundProcess(definition.command ?? []));
  const isOver = due !== undefined && due.next === undefined && end !== undefined;
  const findings = [
    ...lintCron(cron, timezone, now),
    ...(isOver
      ? [createFinding("warning", "end", "its end has passed, it never fires again", "delete the schedule")]
      : []),
    ...(left === undefined ? [] : [createFinding("warning", "command", left)]),
    ...lintSpan(definition, now),
    ...lintSecrets(definition),
    ...lintCalendars(definition, calendars, now),
  ];
  return findings.map((one) => ({ id, ...one }));
}

/** Finds calendars that prevent a schedule from firing. */
function lintCalendars(definition: Definition, calendars: Calendars, now: WallTime): LintFinding[] {
  const fault = findCalendarFault(definition, calendars);
  if (fault !== undefined)
    return [createFinding("error", "calendars", `${fault}, so the schedule does not fire`)];
  const plan = parsePlan(definition.cron);
  const moved =
    plan.kind === "cron"
      ? plan.crons.filter(isCron).flatMap((cron) => lintMovedDays(cron, definition, calendars, now))
      : [];
  if (moved.length > 0) return moved;
  const isDue = plan.kind !== "cron" || definition.end !== undefined;
  if (isDue || createTiming("", definition, calendars).findFrom(now) !== undefined) return [];
  return [
    createFinding(
      "error",
      "calendars",
      listBlackouts(definition).length === 0
        ? "they exclude all its days, so the schedule never fires"
        : "they and its blackouts exclude all its times, so the schedule never fires",
    ),
  ];
}

/** Finds an occurrence that moves to a weekday which the cron text does not name, such as from Monday to Sunday. */
function lintMovedDays(
  { fields, walls }: Cron,
  definition: Definition,
  calendars: Calendars,
  now: WallTime,
): LintFinding[] {
  const rule = buildDayRule(definition, calendars);
  if (rule === undefined || rule.rule === "skip" || fields.weekday.isStar || !fields.day.isStar) return [];
  const { timezone } = definition;
  const today = toDay(now + getZoneOffset(timezone, now));
  const days = Array.from({ length: 366 }, (_, index) => today + index);
  const named = new Set(days.filter((day) => isPlanned(walls, day)).map(getWeekdayOf));
  const found = days.find(
    (day) =>
      !named.has(getWeekdayOf(day)) && !rule.isExcluded(day) && listMovedDays(walls, rule, day).length > 0,
  );
  if (found === undefined) return [];
  const [from = found] = listMovedDays(walls, rule, found);
  const detail = `with --if-excluded ${rule.rule}, what is due on ${formatDay(from)} moves to ${formatDay(found)}, a ${WEEKDAYS[getWeekdayOf(found)]}, which is none of "${fields.weekday.text}"`;
  const remedy = "exclude that weekday too, with a calendar such as sat,sun";
  return [createFinding("warning", "calendars", detail, remedy)];
}

/** Finds settings that do not fit the time between two occurrences. */
function lintSpan(definition: Definition, now: WallTime): LintFinding[] {
  const { timezone, jitter = 0, timeout, deadline, overlap = "forbid", delay = 0 } = definition;
  const { findAfter } = createPlanTimes(parsePlan(definition.cron), timezone);
  const first = findAfter(now);
  const second = first === undefined ? undefined : findAfter(first);
  if (first === undefined || second === undefined) return [];
  const span = second - first;
  const every = `it is due every ${formatDuration(span)}`;
  const findings = [
    jitter >= span &&
      createFinding("hint", "jitter", `${formatDuration(jitter)} may be more than a period: ${every}`),
    delay >= span &&
      createFinding("hint", "delay", `${formatDuration(delay)} is more than a period: ${every}`),
    overlap === "forbid" &&
      timeout !== undefined &&
      timeout > span &&
      createFinding(
        "hint",
        "timeout",
        `a run may take ${formatDuration(timeout)}, but ${every}: runs may be late`,
        "a shorter timeout, or overlap allow",
      ),
    deadline !== undefined &&
      deadline < 1000 &&
      createFinding(
        "warning",
        "deadline",
        `${formatDuration(deadline)} is shorter than a worker may need to start a run: most occurrences will be skipped`,
      ),
  ];
  return findings.filter((one) => one !== false);
}
