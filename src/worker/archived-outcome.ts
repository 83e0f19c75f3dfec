import type { ArchiveRecord } from "../output/archive.ts";
import type { OccurrenceOutcome } from "../schedule/state/outcome.ts";
import type { WorkerEvent } from "./events.ts";

/** Builds the record of an outcome that etcd's history of the schedule has too; undefined for other events. */
export function buildOutcomeRecord(event: WorkerEvent): ArchiveRecord | undefined {
  if (event.kind !== "skipped" && (event.kind !== "ended" || event.isLost)) return undefined;
  const { id: schedule, type, outcome } = event;
  return { id: buildOutcomeId(schedule, outcome), schedule, type, ...outcome };
}

/** Builds what distinguishes an outcome from others. Occurrences that were never started have no run. */
function buildOutcomeId(id: string, { run, host = "", scheduled, endedAt }: OccurrenceOutcome): string {
  return run ?? [id, host, scheduled, endedAt].join("@");
}
