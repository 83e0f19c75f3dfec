import { validateName } from "../../core/protocol/names.ts";
import { checkDefinition, type Definition } from "../../schedule/definition.ts";
import type { ScheduleMutation } from "./schedule-mutation.ts";
import { mapSchedules } from "./schedule-mutations.ts";
import { type FirstRuns, planSite } from "./site.ts";
import { countSchedules, type PlannedChange } from "./stored-schedules.ts";

export interface ScheduleImport extends FirstRuns {
  /** Target in the audit record. */
  target: string;
  definitions: ReadonlyMap<string, Definition>;
  /** Value of `Definition.source` for this file. Schedules with another source are not changed. */
  source: string;
  /** Deletes the schedules that belong to this source but are no longer in the file. */
  prunes: boolean;
  /** What to do if an id belongs to another source, for the message. Default: options of the command line. */
  remedy?: string;
}

/**
 * Builds a mutation that makes schedules match a file, see `planSite`.
 * @throws UsageError, CronError, ConfigError for names or definitions, all of which it names; ConfigError if an id belongs to another
 *   source
 */
export function buildImportMutation({
  target,
  definitions,
  source,
  prunes,
  remedy = "Give the schedules of this file other names with --prefix-id, or name their source with --source",
  ...firstRuns
}: ScheduleImport): ScheduleMutation {
  mapSchedules(definitions, (definition, id) => {
    validateName("schedule", id);
    checkDefinition(definition);
  });
  return {
    target,
    ids: "all",
    decide: (stored, now) => {
      const site = { ...stored, groups: new Map(), resources: new Map() };
      return planSite(site, { schedules: definitions }, { owner: source, prunes, remedy, ...firstRuns }, now)
        .schedules;
    },
    formatOutcome: formatImportCounts,
  };
}

/** Builds a mutation that makes schedules match several files, see `buildImportMutation`. */
export function buildImportsMutation(imports: readonly ScheduleImport[]): ScheduleMutation {
  const mutations = imports.map(buildImportMutation);
  return {
    target: mutations.map(({ target }) => target).join(", "),
    ids: "all",
    decide: (stored, now) => mutations.flatMap((one) => one.decide(stored, now)),
    formatOutcome: formatImportCounts,
  };
}

/** Formats the counts, for example `2 added, 1 changed`. */
export function formatImportCounts(changes: readonly PlannedChange[]): string {
  const counts = Object.entries(countSchedules(changes));
  const told = counts.filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`);
  return told.join(", ") || "nothing changed";
}
