import * as v from "valibot";
import { quoteText } from "../base/text.ts";
import { formatCalendarChange } from "../operate/calendar-changes.ts";
import { applySite, isEmptyPlan, planSite } from "../operate/site.ts";
import { readAllStoredSchedules } from "../operate/stored-schedules.ts";
import { validateName } from "../protocol/names.ts";
import { type Calendar, findDayFault, normalizeDays } from "../schedule/calendar/calendar.ts";
import { type LibraryConnection, translated } from "./connection.ts";
import { NotFoundError, UsageError } from "./errors.ts";
import { parseOptions, pickDefined, TEXT, TEXTS } from "./options-schema.ts";
import type { SchedulesImpl } from "./schedules.ts";
import type { CalendarDays, CalendarStore } from "./types.ts";

const FIELDS = { days: TEXTS, note: v.optional(TEXT) } satisfies Record<keyof CalendarDays, v.GenericSchema>;

/** @see CalendarStore */
export class CalendarStoreImpl implements CalendarStore {
  readonly #connection: LibraryConnection;
  readonly #schedules: SchedulesImpl;

  constructor(connection: LibraryConnection, schedules: SchedulesImpl) {
    this.#connection = connection;
    this.#schedules = schedules;
  }

  async list() {
    return [...(await this.#read()).calendars.keys()].sort();
  }

  async get(name: string) {
    const stored = (await this.#read()).calendars.get(validateName("calendar", name));
    if (stored === undefined) throw createMissingError(name);
    if ("fault" in stored)
      throw new UsageError(`calendar ${quoteText(name)} cannot be read: ${stored.fault}`);
    const { days, note } = stored.value;
    return { days, ...pickDefined({ note }) };
  }

  async set(name: string, calendar: CalendarDays) {
    const { days, note } = parseOptions("calendars.set", calendar, FIELDS);
    const normal = normalizeDays(days);
    const fault = findDayFault(normal);
    if (fault !== undefined) throw new UsageError(fault);
    await this.#change(name, { days: normal, ...pickDefined({ note }) });
  }

  async delete(name: string) {
    await this.#change(name, undefined);
  }

  #read() {
    this.#connection.checkOpen();
    return translated(() => readAllStoredSchedules(this.#connection.ports));
  }

  async #change(name: string, after: Calendar | undefined): Promise<void> {
    const { ports } = this.#connection;
    const document = { calendars: new Map([[validateName("calendar", name), after]]) };
    const plan = async () => {
      const stored = await this.#read();
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
      const { kind } = await this.#schedules.applyAndRecord(ids, () => applySite(ports, update));
      if (kind === "done") return;
    }
  }
}

function createMissingError(name: string): NotFoundError {
  return new NotFoundError(`there is no calendar ${quoteText(name)}`);
}
