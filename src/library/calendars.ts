import * as v from "valibot";
import { pickDefined } from "../base/pick-defined.ts";
import { quoteText } from "../base/text.ts";
import { formatCalendarChange } from "../operate/calendar-changes.ts";
import { applySite, isEmptyPlan, planSite } from "../operate/site.ts";
import { readAllStoredSchedules } from "../operate/stored-schedules.ts";
import { validateName } from "../protocol/names.ts";
import { type Calendar, findDayFault, normalizeDays } from "../schedule/calendar/calendar.ts";
import { type LibraryConnection, translated } from "./connection.ts";
import { NotFoundError, UsageError } from "./errors.ts";
import { parseOptions, TEXT, TEXTS } from "./options-schema.ts";
import type { ConnectionSchedules } from "./schedules.ts";
import type { CalendarDays, CalendarStore } from "./types.ts";

const FIELDS = { days: TEXTS, note: v.optional(TEXT) } satisfies Record<keyof CalendarDays, v.GenericSchema>;

/** @see CalendarStore */
export function createCalendarStore(
  connection: LibraryConnection,
  schedules: ConnectionSchedules,
): CalendarStore {
  const { ports } = connection;

  const read = () => {
    connection.checkOpen();
    return translated(() => readAllStoredSchedules(ports));
  };

  const change = async (name: string, after: Calendar | undefined) => {
    const document = { calendars: new Map([[validateName("calendar", name), after]]) };
    const plan = async () => {
      const stored = await read();
      if (after === undefined && !stored.calendars.has(name)) throw createMissingError(name);
      const site = { ...stored, groups: new Map(), resources: new Map() };
      return planSite(site, document, { prunes: false, isSingle: true }, ports.clock.getWallTime());
    };
    for (;;) {
      const shown = await plan();
      if (isEmptyPlan(shown)) return;
      const update = {
        action: "calendar" as const,
        target: `calendar ${name}`,
        reason: undefined,
        shown,
        replan: plan,
        formatOutcome: ({ calendars }: typeof shown) => calendars.map(formatCalendarChange).join("; "),
      };
      const ids = shown.schedules.map(({ before }) => before.id);
      const { kind } = await schedules.applyAndRecord(ids, () => applySite(ports, update));
      if (kind === "done") return;
    }
  };

  return {
    list: async () => [...(await read()).calendars.keys()].sort(),

    async get(name) {
      const stored = (await read()).calendars.get(validateName("calendar", name));
      if (stored === undefined) throw createMissingError(name);
      if ("fault" in stored)
        throw new UsageError(`calendar ${quoteText(name)} cannot be read: ${stored.fault}`);
      const { days, note } = stored.value;
      return { days, ...pickDefined({ note }) };
    },

    async set(name, calendar) {
      const { days, note } = parseOptions("calendars.set", calendar, FIELDS);
      const normal = normalizeDays(days);
      const fault = findDayFault(normal);
      if (fault !== undefined) throw new UsageError(fault);
      await change(name, { days: normal, ...pickDefined({ note }) });
    },

    delete: (name) => change(name, undefined),
  };
}

function createMissingError(name: string): NotFoundError {
  return new NotFoundError(`there is no calendar ${quoteText(name)}`);
}
