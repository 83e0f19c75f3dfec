import type { CachedSchedule } from "../cache/cached-schedule.ts";
import { RateLimitedLog } from "../rate-limited-log.ts";
import type { SchedulePorts } from "../worker-ports.ts";

/** Logs why schedules do not fire: a calendar is missing or cannot be read. Each fault of a schedule once. */
export class CalendarFaults {
  readonly #log: RateLimitedLog;
  readonly #reported = new Map<string, string>();

  constructor({ log, clock }: Pick<SchedulePorts, "log" | "clock">) {
    this.#log = new RateLimitedLog(log, clock);
  }

  report({ id, calendarFault }: Pick<CachedSchedule, "id" | "calendarFault">): void {
    if (this.#reported.get(id) === calendarFault) return;
    if (calendarFault === undefined) return void this.#reported.delete(id);
    this.#reported.set(id, calendarFault);
    this.#log.warn("a schedule does not fire", { schedule: id, why: calendarFault });
  }
}
