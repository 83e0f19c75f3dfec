import type { OccurrenceOutcome } from "../schedule/state/outcome.ts";
import { type ArchiveOptions, type ArchivePorts, ArchiveWriter } from "../site/output/archive.ts";
import type { WorkerEvent } from "./events.ts";

/** Archives the outcomes that etcd's histories of schedules have too. Never throws. */
export class OutcomeArchive {
  readonly #writer: ArchiveWriter;

  constructor(ports: ArchivePorts, options: ArchiveOptions) {
    this.#writer = new ArchiveWriter(ports, options);
  }

  handleEvent(event: WorkerEvent): void {
    if (event.kind !== "skipped" && (event.kind !== "ended" || event.isLost)) return;
    const { id: schedule, type, outcome } = event;
    this.#writer.append({ id: buildOutcomeId(schedule, outcome), schedule, type, ...outcome });
  }

  /** Waits until everything is written, but not for a full disk. */
  async close(): Promise<void> {
    await this.#writer.close();
  }
}

/** Builds what distinguishes an outcome from others. Occurrences that were never started have no run. */
function buildOutcomeId(id: string, { run, host = "", scheduled, endedAt }: OccurrenceOutcome): string {
  return run ?? [id, host, scheduled, endedAt].join("@");
}
