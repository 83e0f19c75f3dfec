import { ConfigError } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";
import { isBlackoutText } from "./blackout.ts";
import { type Calendars, type DayMatcher, getDayMatcher } from "./calendar.ts";

export const EXCLUSION_RULES = ["skip", "next", "previous"] as const;
/**
 * What happens to an occurrence on an excluded day. `skip`: it is left out. `next`, `previous`: it moves to the same time
 * on the nearest day after or before that is not excluded; if there is one at that time already, only one runs.
 */
export type ExclusionRule = (typeof EXCLUSION_RULES)[number];

/** The fields of a schedule that name calendars; `except` also has times of the day, see `parseBlackout`. */
export interface CalendarFields {
  readonly except?: readonly string[];
  readonly only?: readonly string[];
  readonly ifExcluded?: ExclusionRule;
}

/** On which days a schedule may fire. A day is days since 1970-01-01, on the wall clock of the schedule's zone. */
export interface DayRule {
  readonly rule: ExclusionRule;
  isExcluded(day: number): boolean;
  /** Says why a day is excluded: the name of the calendar, or `not in` those of `only`. */
  findReason(day: number): string | undefined;
}

/** Returns the names of all calendars of a schedule, each once. */
export function listCalendarNames({ except = [], only = [] }: CalendarFields): string[] {
  return [...new Set([...except, ...only])].filter((name) => !isBlackoutText(name));
}

/** Says why a schedule must not fire: a calendar is missing or cannot be read. Undefined if all can be read. */
export function findCalendarFault(fields: CalendarFields, calendars: Calendars): string | undefined {
  for (const name of listCalendarNames(fields)) {
    const found = calendars.get(name);
    if (found === undefined) return `there is no calendar ${quoteText(name)}`;
    if (!("value" in found)) return `calendar ${quoteText(name)} cannot be read: ${found.fault}`;
  }
  return undefined;
}

/**
 * Builds the rule of a schedule: a day is excluded if it is in any calendar of `except`, or in none of `only`.
 * @returns undefined if the schedule has no calendars
 * @throws ConfigError if a calendar is missing or cannot be read
 */
export function buildDayRule(fields: CalendarFields, calendars: Calendars): DayRule | undefined {
  if (listCalendarNames(fields).length === 0) return undefined;
  const fault = findCalendarFault(fields, calendars);
  if (fault !== undefined) throw new ConfigError(`${fault}; create it with: signalbox calendar add`);
  const except = listMatchers(listCalendarNames({ except: fields.except ?? [] }), calendars);
  const only = listMatchers(fields.only, calendars);
  const findReason = (day: number) => {
    const name = except.find(([, matches]) => matches(day))?.[0];
    if (name !== undefined || only.length === 0 || only.some(([, matches]) => matches(day))) return name;
    return `not in ${only.map(([one]) => one).join(", ")}`;
  };
  return {
    rule: fields.ifExcluded ?? "skip",
    isExcluded: (day) => findReason(day) !== undefined,
    findReason,
  };
}

function listMatchers(names: readonly string[] = [], calendars: Calendars): [string, DayMatcher][] {
  return names.flatMap((name) => {
    const found = calendars.get(name);
    return found !== undefined && "value" in found ? [[name, getDayMatcher(found.value)]] : [];
  });
}
