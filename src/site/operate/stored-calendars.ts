import type { ParseResult } from "../../core/base/text.ts";
import { guardNotNewer, guardRevision } from "../../core/protocol/guards.ts";
import type { Keys } from "../../core/protocol/keys.ts";
import type { Compare, KeyValue } from "../../core/protocol/txn.ts";
import { type Calendar, parseCalendar } from "../../schedule/calendar/calendar.ts";
import { type CalendarFields, listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { type ObserverPorts, readWithRetries } from "../observe/ports.ts";

/** A calendar as read from etcd, or why it cannot be read. */
export type StoredCalendar = ParseResult<Calendar> & { readonly mod: bigint };

export function toStoredCalendar({ value, modRevision }: KeyValue): StoredCalendar {
  return { ...parseCalendar(value), mod: modRevision };
}

/**
 * Reads all calendars by name.
 * @throws StoreError
 */
export async function readCalendars(
  ports: ObserverPorts,
  signal?: AbortSignal,
): Promise<Map<string, StoredCalendar>> {
  const { kvs } = await readWithRetries(ports, ports.keys.calendars(), signal);
  const calendars = new Map<string, StoredCalendar>();
  for (const kv of kvs) {
    const parsed = ports.keys.parse(kv.key);
    if (parsed.kind === "calendar") calendars.set(parsed.name, toStoredCalendar(kv));
  }
  return calendars;
}

/** Largest number of calendars that are compared one by one: etcd accepts 128 comparisons. */
const MOST_COMPARED = 30;

/**
 * Builds guards on the calendars that definitions name: each must be as it was read, also if it did not exist. If there
 * are very many, no calendar may be newer than the newest one.
 */
export function guardCalendars(
  keys: Keys,
  definitions: readonly CalendarFields[],
  calendars: ReadonlyMap<string, StoredCalendar>,
): Compare[] {
  const names = new Set(definitions.flatMap(listCalendarNames));
  if (names.size > MOST_COMPARED) {
    const mods = [...calendars.values()].map(({ mod }) => mod);
    return guardNotNewer(
      mods.reduce((most, mod) => (mod > most ? mod : most), 0n),
      keys.calendars(),
    );
  }
  return [...names].map((name) => guardRevision(keys.calendar(name), calendars.get(name)?.mod ?? 0n));
}
