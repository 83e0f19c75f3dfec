/** Sample events of a worker. */
import type { Log, LogFields } from "../../src/core/base/log.ts";
import type { Definition } from "../../src/schedule/definition.ts";
import type { OccurrenceOutcome } from "../../src/schedule/state/outcome.ts";
import type { WorkerEvent } from "../../src/worker/events.ts";

export const NOON = Date.UTC(2026, 0, 5, 12);

type Of<K extends WorkerEvent["kind"]> = Extract<WorkerEvent, { kind: K }>;

const buildDefinition = (more: Partial<Definition>): Definition => ({
  cron: "* * * * *",
  timezone: "UTC",
  ...more,
});

export function buildStarted(
  more: Partial<Of<"started">> = {},
  definition: Partial<Definition> = {},
): Of<"started"> {
  return {
    kind: "started",
    id: "mail.daily",
    type: "mail",
    definition: buildDefinition(definition),
    scheduled: NOON,
    late: 20,
    run: "r1",
    attempt: 1,
    ...more,
  };
}

export function buildOverrun(bound: number): Of<"overrun"> {
  const { late: _, ...started } = buildStarted();
  return { ...started, kind: "overrun", startedAt: NOON, bound };
}

export function buildEnded(
  outcome: Partial<OccurrenceOutcome> = {},
  more: Partial<Of<"ended">> = {},
  definition: Partial<Definition> = {},
): Of<"ended"> {
  const whole: OccurrenceOutcome = {
    scheduled: NOON,
    result: "ok",
    startedAt: NOON + 20,
    endedAt: NOON + 2_020,
    run: "r1",
    attempt: 1,
    late: 20,
    worker: "w1",
    host: "web1.example.com",
    token: "7",
    ...outcome,
  };
  return {
    kind: "ended",
    id: "mail.daily",
    type: "mail",
    definition: buildDefinition(definition),
    outcome: whole,
    isDead: false,
    wasFailing: false,
    ...more,
  };
}

export function buildSkipped(count: number, definition: Partial<Definition> = {}): Of<"skipped"> {
  const outcome: OccurrenceOutcome = {
    scheduled: NOON,
    result: "skipped",
    endedAt: NOON,
    count,
    until: NOON + 60_000,
  };
  return {
    kind: "skipped",
    id: "mail.daily",
    type: "mail",
    definition: buildDefinition(definition),
    outcome,
  };
}

/** A log that keeps its warnings. */
export class Warnings implements Log {
  readonly list: (LogFields & { message: string })[] = [];
  debug(): void {}
  info(): void {}
  warn(message: string, fields: LogFields = {}): void {
    this.list.push({ message, ...fields });
  }
  error(message: string, fields: LogFields = {}): void {
    this.warn(message, fields);
  }
}
