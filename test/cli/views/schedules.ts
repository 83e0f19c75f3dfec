/** Sample keys of schedules for tests. */
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";
import { type DueState, formatDue, type LastOccurrence } from "../../../src/schedule/state/due.ts";
import { formatOutcomes, type OutcomeHistory } from "../../../src/schedule/state/outcome.ts";
import {
  formatRunning,
  formatWorker,
  type RunningRecord,
  type WorkerRecord,
} from "../../../src/schedule/state/running-record.ts";
import { keys } from "../../core/protocol/samples.ts";
import { NOW, plain } from "../../site/state/pictures.ts";

/** Every hour; the next one in an hour. */
export const definitionOf = (more: Partial<Definition> = {}): Definition => ({
  cron: "0 * * * *",
  timezone: "UTC",
  type: "mail",
  ...more,
});

export function dueOf({ open = [], ...more }: Partial<DueState> = {}): DueState {
  const runAt = more.runAt ?? NOW + 3_600_000;
  return { next: runAt, ...more, runAt, open };
}

/** The keys of a definition and of where it is. */
export function schedule(
  id: string,
  definition: Partial<Definition> = {},
  due: Partial<DueState> = {},
): [KeyValue, KeyValue] {
  return [
    plain(keys.schedule(id), formatDefinition(definitionOf(definition))),
    plain(keys.due(id), formatDue(dueOf(due))),
  ];
}

/** A run a minute ago, which failed. */
export const lastOf = (more: Partial<LastOccurrence> = {}): LastOccurrence => ({
  scheduled: NOW - 60_000,
  startedAt: NOW - 59_000,
  endedAt: NOW - 50_000,
  late: 250,
  result: "failed",
  run: "r1",
  ...more,
});

export function runningOf(more: Partial<RunningRecord> = {}): RunningRecord {
  return {
    worker: "w1",
    host: "web1.example.com",
    pid: 42,
    run: "r".repeat(16),
    scheduled: NOW - 60_000,
    attempt: 1,
    since: NOW - 59_000,
    late: 1_000,
    ...more,
  };
}

export function running(id: string, more: Partial<RunningRecord> = {}, scheduled?: number): KeyValue {
  return plain(keys.running(id, scheduled), formatRunning(runningOf(more)), 12);
}

/** A worker that has handlers for `mail` and for commands. */
export function worker(id: string, more: Partial<WorkerRecord> = {}): KeyValue {
  const record: WorkerRecord = {
    host: "web1.example.com",
    pid: 42,
    version: "0.1.0",
    since: NOW - 86_400_000,
    wall: NOW,
    beat: 3,
    types: ["mail", "$command"],
    tags: [],
    running: 0,
    concurrency: 4,
    clock: "ok",
    ...more,
  };
  return plain(keys.worker(id), formatWorker(record));
}

export const memory = (id: string, outcomes: Partial<OutcomeHistory>): KeyValue =>
  plain(keys.outcomes(id), formatOutcomes({ runs: [], dead: [], ...outcomes }));
