import { isDeepStrictEqual } from "node:util";
import { type Calendars, NO_CALENDARS } from "../../schedule/calendar/calendar.ts";
import type { Definition } from "../../schedule/definition.ts";
import {
  computeFirstDue,
  computeModifiedDue,
  type FirstOccurrenceOptions,
} from "../../schedule/state/due-transitions.ts";
import type { PlannedChange } from "./planned-change.ts";
import type { StoredSchedule } from "./stored-schedules.ts";

/** Returns the changes that replace the definition of a schedule; empty if nothing changes. */
export function buildDefinitionChange(
  before: StoredSchedule,
  after: Definition,
  now: number,
  first: FirstOccurrenceOptions = {},
  calendars: Calendars = NO_CALENDARS,
): PlannedChange[] {
  const { id, definition, due } = before;
  const isMoved = first.start !== undefined || first.at !== undefined;
  const isSame = isDeepStrictEqual(definition, after);
  if (isSame && due !== undefined && !isMoved) return [];
  const fresh = definition === undefined || due === undefined || isMoved;
  const { next: _, ...rest } = due ?? { open: [] }; // if no occurrence follows, the old one must not stay
  const next = fresh
    ? { ...rest, ...computeFirstDue(id, after, now, first, calendars), open: rest.open }
    : computeModifiedDue(id, definition, after, due, now, calendars);
  return [{ before, ...(!isSame && { definition: after }), ...(next !== due && { due: next }) }];
}
