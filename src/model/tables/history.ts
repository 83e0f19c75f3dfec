import { briefDuration, formatInstant } from "../../base/duration.ts";
import type { PastRun } from "../../protocol/history.ts";
import type { Picture } from "../picture.ts";
import { briefWho } from "./cells.ts";
import type { PictureView } from "./view.ts";

/** A finished run, and the lock that remembers it. */
interface PastRow {
  lock: string;
  past: PastRun;
}

/** What became of a past run. `ended`: signalbox ended its command; `killed`: somebody else did, by a signal. */
type PastState = "ok" | "failed" | "killed" | "ended";

export const history: PictureView<PastRow> = {
  ...{ of: "picture", id: "history", brief: "history: the last runs of every lock, how they ended" },
  rooms: ["histories"],
  columns: [
    {
      ...{ id: "ended", title: "ENDED", priority: 1, text: ({ past }) => formatInstant(past.endedAt) },
      order: ({ past }) => past.endedAt,
    },
    { id: "lock", title: "LOCK", priority: 1, text: ({ lock }) => lock },
    { id: "who", title: "WHO", priority: 2, text: whoOf, brief: (row) => briefWho(whoOf(row)) },
    {
      ...{ id: "state", title: "STATE", isMarked: true, priority: 2, text: ({ past }) => stateOf(past) },
      tone: ({ past }) => (stateOf(past) === "ok" ? "quiet" : "problem"),
    },
    {
      ...{ id: "exit", title: "EXIT", priority: 1, align: "right", text: ({ past }) => String(past.exit) },
      order: ({ past }) => past.exit,
      tone: ({ past }) => (past.exit === 0 ? "plain" : "problem"),
    },
    {
      ...{ id: "waited", title: "WAITED", priority: 3, align: "right" },
      text: ({ past }) => briefDuration(past.waited),
      order: ({ past }) => past.waited,
    },
    {
      ...{ id: "held", title: "HELD", priority: 2, align: "right" },
      text: ({ past }) => briefDuration(past.held),
      order: ({ past }) => past.held,
    },
    { id: "reason", title: "REASON", priority: 3, text: ({ past }) => past.reason ?? "" },
    { id: "command", title: "COMMAND", priority: 4, text: ({ past }) => past.command },
    { id: "label", title: "LABEL", priority: 6, text: ({ past }) => past.label ?? "" },
    { id: "run", title: "RUN", isRandom: true, priority: 9, text: ({ past }) => past.run },
    { id: "token", title: "TOKEN", priority: 9, align: "right", text: ({ past }) => past.token },
  ],
  sort: "-ended",
  key: ({ lock, past }) => `${lock}/${past.run}`,
  facets: (row) => ({ states: statesOf(row.past), hosts: [row.past.host], holders: [whoOf(row)] }),
  subject: ({ lock, past }) => ({ kind: "record", name: past.run, about: { kind: "lock", name: lock } }),
  json: pastJson,
  rows: pastRows,
  empty: "No run is remembered. One is as soon as it has ended: signalbox run --lock demo -- true",
};

/** Rows of histories that have not changed: there may be 20 for each of 10,000 locks. */
const made = new WeakMap<readonly PastRun[], readonly PastRow[]>();

function pastRows({ histories }: Picture): PastRow[] {
  const rows: PastRow[] = [];
  for (const [lock, runs] of histories) {
    const known = made.get(runs) ?? runs.map((past) => ({ lock, past }));
    made.set(runs, known);
    for (const row of known) rows.push(row);
  }
  return rows;
}

/** What a signal makes of an exit code, as in a shell. */
const BY_SIGNAL = 128;

function stateOf({ exit, reason }: PastRun): PastState {
  if (reason !== undefined) return "ended";
  if (exit === 0) return "ok";
  return exit > BY_SIGNAL ? "killed" : "failed";
}

/** All that a filter may ask: whatever did not end with 0 has failed too. */
function statesOf(past: PastRun): string[] {
  const state = stateOf(past);
  return past.exit === 0 || state === "failed" ? [state] : [state, "failed"];
}

function whoOf({ past: { host, pid } }: PastRow): string {
  return `${host}:${pid}`;
}

/** A past run for programs. Wall clocks in ms since the epoch, durations in ms. */
function pastJson({ lock, past }: PastRow): object {
  const { run, host, pid, command, label, token, enqueuedAt, grantedAt, endedAt } = past;
  const { waited, held, exit, reason } = past;
  return {
    ...{ lock, run, state: stateOf(past), host, pid, command, label, token },
    ...{ enqueuedAt, grantedAt, endedAt, waited, held, exit, reason },
  };
}
