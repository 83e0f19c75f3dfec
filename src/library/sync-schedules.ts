import * as v from "valibot";
import { isJsonObject } from "../base/parse-json.ts";
import { quoteText } from "../base/text.ts";
import { buildImportMutation } from "../work/schedules/import-schedules.ts";
import type { PlannedChange } from "../work/schedules/planned-change.ts";
import type { ScheduleMutation } from "../work/schedules/schedule-mutation.ts";
import { ConfigError } from "./errors.ts";
import { FLAG, parseOptions, quoteOption, TEXT } from "./options-schema.ts";
import { buildSourceDefinition } from "./schedule-definition.ts";
import type { ScheduleFields, SyncOptions, SyncResult } from "./schedule-types.ts";

const SYNC_OPTIONS = {
  source: v.pipe(TEXT, v.minLength(1, quoteOption("is empty; name the program that declares the schedules"))),
  prune: v.optional(FLAG, true),
} satisfies Record<keyof SyncOptions, v.GenericSchema>;

/** Builds the mutation of `Schedules.sync`. @throws ConfigError, CronError, NotSupportedError, UsageError */
export function buildSyncMutation(
  declared: Readonly<Record<string, ScheduleFields>>,
  options: SyncOptions,
): ScheduleMutation {
  const { source, prune } = parseOptions("sync", options, SYNC_OPTIONS);
  if (!isJsonObject(declared))
    throw new ConfigError("sync: the schedules must be an object with the fields of each schedule by its id");
  const definitions = Object.entries(declared).map(
    ([id, fields]) => [id, buildSourceDefinition(id, fields, source)] as const,
  );
  return buildImportMutation({
    ...{ target: `schedules of ${quoteText(source)}`, source, prunes: prune },
    definitions: new Map(definitions),
    remedy: "Use another id, or the source that it belongs to",
  });
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
