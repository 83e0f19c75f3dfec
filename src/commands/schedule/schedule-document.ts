import { isJsonObject } from "../../base/parse-json.ts";
import { findNameFault, quoteText, quoteValue } from "../../base/text.ts";
import { type Calendar, parseCalendar } from "../../schedule/calendar/calendar.ts";
import { type Definition, findDefinitionFault, findUnknownField } from "../../schedule/definition.ts";
import { escapeInvisible } from "../json-output.ts";

/** Schedules, and the calendars that they may name. */
interface ScheduleDocument {
  definitions: ReadonlyMap<string, Definition>;
  calendars: ReadonlyMap<string, Calendar>;
}

/** Formats schedules and calendars as one JSON text in a fixed order, to be kept in git. */
export function formatScheduleDocument({ definitions, calendars }: ScheduleDocument): string {
  const document = {
    version: 1,
    calendars: calendars.size === 0 ? undefined : sortEntries(calendars),
    schedules: sortEntries(definitions),
  };
  return escapeInvisible(`${JSON.stringify(document, undefined, 2)}\n`);
}

/** Parses the text of `formatScheduleDocument`. @returns all faults, each with the name of its schedule or calendar */
export function parseScheduleDocument(text: string): ScheduleDocument | { faults: readonly string[] } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { faults: [`it is not JSON: ${(error as Error).message}`] };
  }
  const schedules = isJsonObject(value) ? value.schedules : undefined;
  if (!isJsonObject(schedules)) return { faults: ['it is not {"schedules": {KEY: DEFINITION, …}}'] };
  const { version = 1, calendars: days = {}, schedules: _, ...others } = value as Record<string, unknown>;
  if (version !== 1) return { faults: [`its version must be 1; got ${quoteValue(version)}`] };
  if (!isJsonObject(days)) return { faults: ['"calendars" is not {NAME: {"days": […]}, …}'] };
  const faults = Object.keys(others).map((key) => `unknown field ${quoteText(key)}`);
  const calendars = new Map<string, Calendar>();
  for (const [name, calendar] of Object.entries(days)) {
    const nameFault = findNameFault(name);
    const parsed = nameFault === undefined ? parseCalendar(JSON.stringify(calendar)) : { fault: nameFault };
    if ("value" in parsed) calendars.set(name, parsed.value);
    else faults.push(`calendar ${quoteText(name)}: ${parsed.fault}`);
  }
  const definitions = new Map<string, Definition>();
  for (const [id, definition] of Object.entries(schedules)) {
    const fault = findNameFault(id) ?? findFault(definition);
    if (fault === undefined) definitions.set(id, definition as Definition);
    else faults.push(`schedule ${quoteText(id)}: ${fault}`);
  }
  return faults.length > 0 ? { faults } : { definitions, calendars };
}

function findFault(definition: unknown): string | undefined {
  if (!isJsonObject(definition)) return "its definition is not an object";
  return findUnknownField(definition) ?? findDefinitionFault(definition);
}

function sortEntries(values: ReadonlyMap<string, object>): object {
  return sortFields(Object.fromEntries([...values].map(([name, value]) => [name, sortFields(value)])));
}

function sortFields(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
