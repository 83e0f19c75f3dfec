import { formatInstant } from "../../core/base/clock.ts";
import { computeLockStatistics, type LockStatistics } from "../../site/state/statistics.ts";
import { createDurationColumn, createNumberColumn, createTextColumn } from "./columns.ts";
import {
  describeCount,
  describeInstant,
  describeInteger,
  describeNumber,
  describeObject,
  describePart,
  describeText,
} from "./json.ts";
import type { SnapshotView } from "./view.ts";

const DURATIONS_JSON = describeObject<NonNullable<LockStatistics["held"]>>(
  "durations",
  "Durations that half and 95 % of the runs did not exceed, ms.",
  { p50: describeNumber("median", "p50"), p95: describeNumber("95th percentile", "p95") },
);

export const statisticsView: SnapshotView<LockStatistics> = {
  of: "snapshot",
  id: "statistics",
  brief: "statistics: how busy locks are, and how long runs hold them and wait for them",
  collections: ["histories"],
  columns: [
    createTextColumn("lock", 1, ({ lock }) => lock),
    createNumberColumn("runs", 3, ({ runs }) => runs),
    createNumberColumn("failures", 2, ({ failures }) => failures, {
      title: "FAILED",
      tones: ["plain", "problem"],
    }),
    createNumberColumn("busy", 1, ({ busy }) => busy, {
      formatCell: ({ busy }) => (busy === undefined ? "" : `${(busy * 100).toFixed(busy < 0.1 ? 1 : 0)}%`),
    }),
    createDurationColumn("held", 2, ({ held }) => held?.p50, { title: "HELD P50" }),
    createDurationColumn("heldMost", 3, ({ held }) => held?.p95, { title: "HELD P95" }),
    createDurationColumn("waited", 2, ({ waited }) => waited?.p50, { title: "WAITED P50" }),
    createDurationColumn("waitedMost", 3, ({ waited }) => waited?.p95, { title: "WAITED P95" }),
    createTextColumn("last", 3, ({ last }) => (last === undefined ? "" : formatInstant(last.endedAt))),
    createNumberColumn("exit", 3, ({ last }) => last?.exit, { tones: ["plain", "problem"] }),
  ],
  sort: "lock",
  getKey: ({ lock }) => lock,
  getFacets: ({ failures }) => ({ states: [failures > 0 ? "failed" : "ok"], hosts: [], holders: [] }),
  getSubject: ({ lock }) => ({ kind: "lock", name: lock }),
  json: describeObject("lockStatistics", "The last 20 runs of a lock in numbers.", {
    lock: describeText("name of the lock", "lock"),
    runs: describeCount("number of recorded runs", "runs"),
    failures: describeCount("number of runs with an exit code other than 0", "failures"),
    "busy?": describeNumber(
      "share of the time since the first run that the lock was held, from 0 to 1",
      "busy",
    ),
    "held?": describePart(DURATIONS_JSON, ({ held }) => held),
    "waited?": describePart(DURATIONS_JSON, ({ waited }) => waited),
    "endedAt?": describeInstant("end of the last run", ({ last }) => last?.endedAt),
    "exit?": describeInteger("exit code of the last run", ({ last }) => last?.exit),
  }),
  buildRows: ({ histories }, { wall }) =>
    [...histories].map(([lock, runs]) => computeLockStatistics(lock, runs, wall)),
  empty: "No runs yet. A run appears when it has ended: signalbox run --lock demo -- true",
};
