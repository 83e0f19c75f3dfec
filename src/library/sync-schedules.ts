import * as v from "valibot";
import { isJsonObject } from "../base/parse-json.ts";
import { quoteText } from "../base/text.ts";
import { checkFires } from "../work/schedules/check-fires.ts";
import { buildImportMutation } from "../work/schedules/import-schedules.ts";
import type { PlannedChange } from "../work/schedules/planned-change.ts";
import type { ScheduleMutation } from "../work/schedules/schedule-mutation.ts";
import { ConfigError } from "./errors.ts";
import { FLAG, parseOptions, quoteOption, TEXT } from "./options-schema.ts";
import { buildDefinition } from "./schedule-definition.ts";
import type { NewSchedule, SyncOptions, SyncResult } from "./schedule-types.ts";

const SYNC_OPTIONS = {
  source: v.pipe(TEXT, v.minLength(1, quoteOption("is empty; name the program that declares the schedules"))),
  prune: v.optional(FLAG, true),
} satisfies Record<keyof SyncOptions, v.GenericSchema>;

/** Builds the mutation of `Schedules.sync`. @throws ConfigError, CronError, NotSupportedError, UsageError */
export function buildSyncMutation(
  declared: Readonly<Record<string, NewSchedule>>,
  options: SyncOptions,
): ScheduleMutation {
  const { source, prune } = parseOptions("sync", options, SYNC_OPTIONS);
  if (!isJsonObject(declared))
    throw new ConfigError("sync: the schedules must be an object with the fields of each schedule by its id");
  const built = Object.entries(declared).map(([id, schedule]) => {
    const { definition, first } = buildDefinition(`schedule ${quoteText(id)}`, schedule);
    return { id, definition: { ...definition, source }, first };
  });
  const mutation = buildImportMutation({
    target: `schedules of ${quoteText(source)}`,
    source,
    prunes: prune,
    definitions: new Map(built.map(({ id, definition }) => [id, definition])),
    firsts: new Map(built.map(({ id, first }) => [id, first])),
    remedy: "Use another id, or the source that it belongs to",
  });
  return {
    ...mutation,
    decide: (stored, now) => mutation.decide(stored, now).filter((change) => isWanted(change, now)),
  };
}

/**
 * Whether a change is to be applied. A schedule that removes itself, and whose last time has passed, has run and is gone.
 * @throws UsageError if a schedule would never fire
 */
function isWanted({ before, definition, due }: PlannedChange, now: number): boolean {
  if (definition === undefined || due === undefined || before.definition?.cron === definition.cron)
    return true;
  if (before.definitionMod === 0n && definition.removeAfter !== undefined && due.next === undefined)
    return false;
  checkFires(before.id, definition, due, now);
  return true;
}

/** Converts the changes that were applied. */
export function toSyncResult(changes: readonly PlannedChange[]): SyncResult {
  const listIds = (isWanted: (change: PlannedChange) => boolean) =>
    changes
      .filter(isWanted)
      .map(({ before }) => before.id)
      .sort();
  const isAdded = ({ before, isDeleted }: PlannedChange) => before.definitionMod === 0n && !isDeleted;
  return {
    added: listIds(isAdded),
    changed: listIds((change) => !isAdded(change) && !change.isDeleted),
    deleted: listIds(({ isDeleted }) => isDeleted === true),
  };
}
