import { ConfigError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import { validateName } from "../protocol/names.ts";
import { checkDefinition, type Definition } from "../schedule/definition.ts";
import { computeFirstDue, type FirstOccurrenceOptions } from "../schedule/state/due-transitions.ts";
import type { ScheduleMutation } from "./schedule-mutation.ts";
import { buildDefinitionChange } from "./schedule-mutations.ts";
import {
  createMissingSchedule,
  type PlannedChange,
  type ScheduleReadResult,
  type StoredSchedule,
} from "./stored-schedules.ts";

/**
 * State of a schedule in the source of the import, ms since the epoch: its next occurrence and when it may be claimed.
 */
export interface SchedulePosition {
  next: number;
  runAt: number;
}

/** The schedules of one import file. */
export interface ScheduleImport {
  /** Target in the audit record. */
  target: string;
  definitions: ReadonlyMap<string, Definition>;
  /** Value of `Definition.source` for this file. Schedules with another source are not changed. */
  source: string;
  /** State of the schedules, if the file contains it. A schedule that is as far or further here is not moved. */
  positions?: ReadonlyMap<string, SchedulePosition>;
  /** Options for the first occurrences of the schedules that do not exist yet. */
  firsts?: ReadonlyMap<string, FirstOccurrenceOptions>;
  /** Deletes the schedules that belong to this source but are no longer in the file. */
  prunes: boolean;
  /** What to do if an id belongs to another source, for the message. Default: options of the command line. */
  remedy?: string;
}

/**
 * Builds a mutation that makes schedules match a file. It does nothing where they match already. A pause set by an
 * operator stays unless the file has its own.
 * @throws UsageError, CronError, ConfigError for a name or a definition; ConfigError if an id belongs to another source
 */
export function buildImportMutation({
  target,
  definitions,
  positions,
  firsts,
  source,
  prunes,
  remedy = "Give the schedules of this file other names with --prefix-id, or name their source with --source",
}: ScheduleImport): ScheduleMutation {
  for (const [id, definition] of definitions) {
    validateName("schedule", id);
    checkDefinition(definition);
  }
  const isOwn = (seen: StoredSchedule) => seen.definition?.source === source;
  return {
    target,
    ids: "all",
    decide: (stored, now) => {
      checkOwners(stored, definitions.keys(), isOwn, remedy);
      const wanted = [...definitions].flatMap(([id, definition]) =>
        buildImportChanges(stored, id, definition, {
          now,
          position: positions?.get(id),
          first: firsts?.get(id),
        }),
      );
      const extra = [...stored.schedules.values()].filter((seen) => !definitions.has(seen.id) && isOwn(seen));
      return prunes
        ? [...wanted, ...extra.map((before): PlannedChange => ({ before, isDeleted: true }))]
        : wanted;
    },
    formatOutcome: formatImportCounts,
  };
}

/** Formats the counts, for example `2 added, 1 changed`. */
export function formatImportCounts(changes: readonly PlannedChange[]): string {
  const deleted = changes.filter(({ isDeleted }) => isDeleted).length;
  const added = changes.filter(({ before }) => before.definitionMod === 0n).length;
  const counts = [
    [added, "added"],
    [changes.length - added - deleted, "changed"],
    [deleted, "deleted"],
  ] as const;
  const told = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  return told.join(", ") || "nothing changed";
}

function buildImportChanges(
  stored: ScheduleReadResult,
  id: string,
  definition: Definition,
  {
    now,
    position,
    first,
  }: { now: number; position: SchedulePosition | undefined; first: FirstOccurrenceOptions | undefined },
): PlannedChange[] {
  const before = stored.schedules.get(id);
  if (before === undefined) {
    return [
      {
        before: createMissingSchedule(id),
        definition,
        due:
          position === undefined
            ? computeFirstDue(id, definition, now, first, stored.calendars)
            : { ...position, open: [] },
      },
    ];
  }
  const pause = definition.pause ?? before.definition?.pause;
  const changes = buildDefinitionChange(
    before,
    { ...definition, ...(pause !== undefined && { pause }) },
    now,
    {},
    stored.calendars,
  );
  if (position === undefined || !isBehind(before, position)) return changes;
  return [{ before, ...changes[0], due: { open: [], ...before.due, ...position } }];
}

/**
 * Returns whether the schedule advanced at the source since the last import; runs made there are not repeated. A
 * schedule that has ended here, or is further here, is not moved.
 */
function isBehind({ due }: StoredSchedule, { next }: SchedulePosition): boolean {
  return due === undefined || (due.next !== undefined && due.next < next);
}

function checkOwners(
  stored: ScheduleReadResult,
  ids: Iterable<string>,
  isOwn: (seen: StoredSchedule) => boolean,
  remedy: string,
): void {
  for (const id of ids) {
    const seen = stored.schedules.get(id);
    if (seen === undefined || isOwn(seen)) continue;
    const whose = seen.definition?.source;
    throw new ConfigError(
      `schedule ${quoteText(id)} exists already, ${whose === undefined ? "and was not imported" : `imported from ${quoteText(whose)}`}` +
        `; nothing was done. ${remedy}`,
    );
  }
}
