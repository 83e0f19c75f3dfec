import { commitWithRetries } from "../../observe/ports.ts";
import { guardNotNewer, guardRevision } from "../../protocol/guards.ts";
import { guardSchema } from "../../protocol/schema.ts";
import type { Txn } from "../../protocol/txn.ts";
import { listCalendarNames } from "../../schedule/calendar/day-rule.ts";
import { formatDue } from "../../schedule/state/due.ts";
import { computeFirstDue } from "../../schedule/state/due-transitions.ts";
import type { SchedulePorts } from "../worker-ports.ts";
import type { CachedSchedule } from "./cached-schedule.ts";
import type { ScheduleCache } from "./schedule-cache.ts";

/**
 * Writes the state of a schedule that was created by hand without one. Its first occurrence counts from now.
 * @throws StoreError
 */
export async function writeInitialState(
  ports: SchedulePorts,
  { revision, calendars }: Pick<ScheduleCache, "revision" | "calendars">,
  { id, definition, definitionMod, calendarFault }: CachedSchedule,
): Promise<void> {
  if (definition === undefined || calendarFault !== undefined) return;
  const { keys, clock } = ports;
  const value = formatDue(computeFirstDue(id, definition, clock.getWallTime(), {}, calendars));
  const txn: Txn = {
    compare: [
      guardSchema(keys),
      guardRevision(keys.schedule(id), definitionMod),
      guardRevision(keys.due(id), 0n),
      ...(listCalendarNames(definition).length === 0 ? [] : guardNotNewer(revision, keys.calendars())),
    ],
    success: [{ op: "put", key: keys.due(id), value }],
    failure: [],
  };
  await commitWithRetries(ports, txn);
}
