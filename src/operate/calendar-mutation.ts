import { isDeepStrictEqual } from "node:util";
import { EXIT, SignalboxError, UsageError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import type { AuditRecord } from "../protocol/audit.ts";
import { guardNotNewer, guardRevision } from "../protocol/guards.ts";
import type { Op } from "../protocol/txn.ts";
import { type Calendar, type Calendars, formatCalendar } from "../schedule/calendar/calendar.ts";
import { listCalendarNames } from "../schedule/calendar/day-rule.ts";
import { computeRecalculatedDue } from "../schedule/state/due-transitions.ts";
import { splitIntoChunks } from "./chunks.ts";
import { executeAction } from "./operator-action.ts";
import type { OperatorPorts } from "./ports.ts";
import { buildGuards, buildOps } from "./schedule-mutation.ts";
import type { StoredCalendar } from "./stored-calendars.ts";
import { type PlannedChange, readAllStoredSchedules, type ScheduleReadResult } from "./stored-schedules.ts";

/** A change of a calendar. It is decided again from the state in etcd until it is applied. */
export interface CalendarMutation {
  readonly name: string;
  /**
   * Returns the new calendar; undefined deletes it.
   * @throws SignalboxError
   */
  decide(before: StoredCalendar | undefined): Calendar | undefined;
}

/** What a mutation of a calendar changes now. */
export interface CalendarPlan {
  readonly name: string;
  readonly before: StoredCalendar | undefined;
  readonly after: Calendar | undefined;
  readonly isSame: boolean;
  /** Ids of the schedules that name it. */
  readonly users: readonly string[];
  /** Schedules whose next occurrence moves. */
  readonly changes: readonly PlannedChange[];
  /** Revision of the read. */
  readonly revision: bigint;
}

type CalendarMutationResult =
  | { kind: "done"; plan: CalendarPlan; revision: bigint; record: AuditRecord }
  | { kind: "nothing" | "changed"; plan: CalendarPlan; revision: bigint };

/** Maximum number of attempts while others write the same keys. */
const TRIES = 20;
/** Largest number of schedules that a message names. */
const NAMED = 10;

/**
 * Returns what a change of a calendar would change now.
 * @throws the errors of `decide`; UsageError if schedules use a calendar that would be deleted; StoreError
 */
export async function previewCalendarMutation(
  ports: OperatorPorts,
  { name, decide }: CalendarMutation,
): Promise<CalendarPlan> {
  const stored = await readAllStoredSchedules(ports);
  const before = stored.calendars.get(name);
  const after = decide(before);
  const users = listUsers(stored, name);
  if (after === undefined && users.length > 0) throw createUsedError(name, users);
  const isSame = isDeepStrictEqual(before && ("value" in before ? before.value : before), after);
  const changes = after === undefined || isSame ? [] : recalculate(stored, users, { name, after }, ports);
  return { name, before, after, isSame, users, changes, revision: stored.revision };
}

/**
 * Changes a calendar and the next occurrences of the schedules that use it, in one guarded transaction with its audit
 * record.
 * @param options.seen  revision at which the operator read the calendar. A later one stops the mutation
 * @throws the errors of `previewCalendarMutation`; SignalboxError 75 if others write all the time; 77; 78 if it is too
 *   much for one transaction
 */
export async function applyCalendarMutation(
  ports: OperatorPorts,
  mutation: CalendarMutation,
  { reason, seen }: { reason?: string | undefined; seen?: bigint | undefined } = {},
): Promise<CalendarMutationResult> {
  for (let left = TRIES; left > 0; left -= 1) {
    const plan = await previewCalendarMutation(ports, mutation);
    const { revision } = plan;
    if (seen !== undefined && (plan.before?.mod ?? 0n) > seen) return { kind: "changed", plan, revision };
    if (plan.isSame) return { kind: "nothing", plan, revision };
    const receipt = await writePlan(ports, plan, { reason, seen: seen ?? revision });
    if (receipt.kind === "done")
      return { kind: "done", plan, revision: receipt.revision, record: receipt.record };
  }
  throw new SignalboxError(
    EXIT.changed,
    "nothing was done: other clients changed the schedules at the same time; try again",
  );
}

/** Formats a change of a calendar: `calendar holidays added: 12 entries`. */
export function formatCalendarChange({
  name,
  before,
  after,
}: Pick<CalendarPlan, "name" | "before" | "after">): string {
  const was = before && "value" in before ? before.value.days : [];
  if (after === undefined) return `calendar ${name} deleted: ${was.length} entries`;
  if (before === undefined) return `calendar ${name} added: ${formatEntries(after.days)}`;
  const added = after.days.filter((day) => !was.includes(day));
  const removed = was.filter((day) => !after.days.includes(day));
  const parts = [
    ...(added.length === 0 ? [] : [`added ${formatEntries(added)}`]),
    ...(removed.length === 0 ? [] : [`removed ${formatEntries(removed)}`]),
  ];
  return `calendar ${name} changed: ${parts.join("; ") || "its note"}`;
}

/** Formats the first entries of a calendar, and how many more there are. */
export function formatEntries(days: readonly string[]): string {
  const more = days.length > NAMED ? ` and ${days.length - NAMED} more` : "";
  return `${days.slice(0, NAMED).join(", ") || "no days"}${more}`;
}

/** Lists the schedules that name a calendar. */
export function listUsers({ schedules }: ScheduleReadResult, name: string): string[] {
  return [...schedules.values()]
    .filter(({ definition }) => definition !== undefined && listCalendarNames(definition).includes(name))
    .map(({ id }) => id);
}

function recalculate(
  { schedules, calendars }: ScheduleReadResult,
  users: readonly string[],
  { name, after }: { name: string; after: Calendar },
  { clock }: OperatorPorts,
): PlannedChange[] {
  const now = clock.getWallTime();
  const changed: Calendars = new Map(calendars).set(name, { value: after, mod: 0n });
  return users.flatMap((id): PlannedChange[] => {
    const before = schedules.get(id);
    const { definition, due } = before ?? {};
    // Another calendar of the schedule may be missing: then it does not fire, and nothing can be computed.
    const isReadable = definition !== undefined && due !== undefined && canRead(definition, changed);
    if (before === undefined || !isReadable) return [];
    const next = computeRecalculatedDue(id, definition, due, now, { before: calendars, after: changed });
    return next === due ? [] : [{ before, due: next }];
  });
}

const canRead = (fields: Parameters<typeof listCalendarNames>[0], calendars: Calendars) =>
  listCalendarNames(fields).every((name) => {
    const found = calendars.get(name);
    return found !== undefined && "value" in found;
  });

/** Creates the error for a calendar that schedules use and that would be deleted. */
export function createUsedError(name: string, users: readonly string[]): UsageError {
  return new UsageError(
    `calendar ${quoteText(name)} cannot be deleted: ${users.length === 1 ? "schedule" : "schedules"} ${formatEntries(users)} ${users.length === 1 ? "uses" : "use"} it`,
  );
}

async function writePlan(
  ports: OperatorPorts,
  plan: CalendarPlan,
  { reason, seen }: { reason: string | undefined; seen: bigint },
) {
  const { keys } = ports;
  const { name, before, after, changes, revision } = plan;
  const key = keys.calendar(name);
  const own: Op =
    after === undefined ? { op: "delete", key } : { op: "put", key, value: formatCalendar(after) };
  const moved = changes.length === 0 ? "" : `; ${changes.length} schedules move`;
  return await executeAction(ports, {
    action: "calendar",
    target: `calendar ${name}`,
    seen,
    reason,
    outcome: `${formatCalendarChange(plan)}${moved}`,
    compare: [
      guardRevision(key, before?.mod ?? 0n),
      ...guardNotNewer(revision, keys.schedules(), keys.calendars()),
      ...buildGuards(keys, changes, revision),
    ],
    ops: splitIntoChunks(keys, [own, ...changes.flatMap((change) => buildOps(keys, change))]),
  });
}
