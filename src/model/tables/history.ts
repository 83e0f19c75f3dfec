import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { SnapshotView, Tone } from "../views/view.ts";
import { createNumberColumn, createOwnerColumn, createStateColumn } from "./columns.ts";

/** A finished run, and the lock whose history contains it. */
interface PastRunRow {
  lock: string;
  past: PastRun;
}

/** The result of a past run. `ended`: signalbox ended its command; `killed`: a signal from another process did. */
type PastRunState = "ok" | "failed" | "killed" | "ended";

export const historyView: SnapshotView<PastRunRow> = {
  of: "picture",
  id: "history",
  brief: "history: the last runs of every lock, how they ended",
  collections: ["histories"],
  columns: [
    {
      id: "ended",
      title: "ENDED",
      priority: 1,
      formatCell: ({ past }) => formatInstant(past.endedAt),
      getSortValue: ({ past }) => past.endedAt,
    },
    { id: "lock", title: "LOCK", priority: 1, formatCell: ({ lock }) => lock },
    createOwnerColumn("who", "WHO", 2, formatRunOwner),
    createStateColumn(2, getPastStateTone, ({ past }) => getPastState(past)),
    createNumberColumn("exit", "EXIT", 1, ({ past }) => past.exit, { zero: "plain", other: "problem" }),
    {
      id: "waited",
      title: "WAITED",
      priority: 3,
      align: "right",
      formatCell: ({ past }) => formatBriefDuration(past.waited),
      getSortValue: ({ past }) => past.waited,
      unit: "duration",
      getMeasure: ({ past }) => past.waited,
    },
    {
      id: "held",
      title: "HELD",
      priority: 2,
      align: "right",
      formatCell: ({ past }) => formatBriefDuration(past.held),
      getSortValue: ({ past }) => past.held,
      unit: "duration",
      getMeasure: ({ past }) => past.held,
    },
    { id: "reason", title: "REASON", priority: 3, formatCell: ({ past }) => past.reason ?? "" },
    { id: "command", title: "COMMAND", priority: 4, formatCell: ({ past }) => past.command },
    { id: "label", title: "LABEL", priority: 6, formatCell: ({ past }) => past.label ?? "" },
    { id: "run", title: "RUN", isRandom: true, priority: 9, formatCell: ({ past }) => past.run },
    { id: "token", title: "TOKEN", priority: 9, align: "right", formatCell: ({ past }) => past.token },
  ],
  sort: "-ended",
  getKey: ({ lock, past }) => `${lock}/${past.run}`,
  getFacets: (row) => ({
    states: listPastStates(row.past),
    hosts: [row.past.host],
    holders: [formatRunOwner(row)],
  }),
  getSubject: ({ lock, past }) => ({
    kind: "record",
    name: past.run,
    isEndedRun: true,
    about: { kind: "lock", name: lock },
  }),
  getInstant: ({ past }) => past.endedAt,
  toJson: toPastRunJson,
  buildRows: buildPastRows,
  empty: "No runs yet. A run appears when it has ended: signalbox run --lock demo -- true",
};

/** Rows of unchanged histories: there may be 20 for each of 10,000 locks. */
const cachedRows = new WeakMap<readonly PastRun[], readonly PastRunRow[]>();

function buildPastRows({ histories }: Snapshot): PastRunRow[] {
  const rows: PastRunRow[] = [];
  for (const [lock, runs] of histories) {
    const known = cachedRows.get(runs) ?? runs.map((past) => ({ lock, past }));
    cachedRows.set(runs, known);
    for (const row of known) rows.push(row);
  }
  return rows;
}

/** Exit codes above this are 128 plus a signal number, as in a shell. */
const BY_SIGNAL = 128;

function getPastState({ exit, reason }: PastRun): PastRunState {
  if (reason !== undefined) return "ended";
  if (exit === 0) return "ok";
  return exit > BY_SIGNAL ? "killed" : "failed";
}

function getPastStateTone(state: PastRunState): Tone {
  return state === "ok" ? "quiet" : "problem";
}

/** Lists the states for filters: every run with an exit code other than 0 is also `failed`. */
function listPastStates(past: PastRun): string[] {
  const state = getPastState(past);
  return past.exit === 0 || state === "failed" ? [state] : [state, "failed"];
}

function formatRunOwner({ past: { host, pid } }: PastRunRow): string {
  return `${host}:${pid}`;
}

/** Returns a past run for JSON output. Wall clocks in ms since the epoch, durations in ms. */
function toPastRunJson({ lock, past }: PastRunRow): object {
  const { run, host, pid, command, label, token, enqueuedAt, grantedAt, endedAt } = past;
  const { waited, held, exit, reason } = past;
  return {
    lock,
    run,
    state: getPastState(past),
    host,
    pid,
    command,
    label,
    token,
    enqueuedAt,
    grantedAt,
    endedAt,
    waited,
    held,
    exit,
    reason,
  };
}
