import type { Drain } from "../../protocol/drain.ts";
import { typeOf } from "../../schedule/definition.ts";
import { type Claim, claimsOf, isHolder, whoIs } from "../claims.ts";
import { drainLine } from "../foresight-text.ts";
import type { Execution, Picture } from "../picture.ts";
import { ago, briefWho, commandText, drainJson, lasting, stateTone } from "./cells.ts";
import { whoRuns } from "./schedules.ts";
import { drainsOn } from "./stopped.ts";
import { type PictureView, SCENE_ROOMS, type Scene } from "./view.ts";

/** A run's tickets, or the occurrence of a schedule that a worker runs, or both: a task that holds leases. */
interface RunRow {
  run: string;
  claim: Claim | undefined;
  task: Execution | undefined;
  /** `held`, or the state of the ticket that keeps it waiting. */
  state: string;
  command: string;
  /** What stops it, where it waits. */
  drains: readonly Drain[];
}

/** Everybody who holds or waits, one row a run; what workers run of schedules are runs too. */
export const runs: PictureView<RunRow> = {
  ...{ of: "picture", id: "runs", brief: "runs: everything that each of them holds or waits for" },
  rooms: [...SCENE_ROOMS, "locks", "resources", "schedules", "runnings"],
  columns: [
    { id: "run", title: "RUN", isRandom: true, priority: 3, text: ({ run }) => run },
    { id: "who", title: "WHO", priority: 1, text: (row) => whoOf(row), brief: (row) => briefWho(whoOf(row)) },
    {
      ...{ id: "state", title: "STATE", isMarked: true, priority: 1, text: ({ state }) => state },
      tone: ({ state }) => stateTone(state),
    },
    { id: "lock", title: "LOCK", priority: 2, text: ({ claim }) => (claim && lockOf(claim)) ?? "" },
    { id: "schedule", title: "SCHEDULE", priority: 2, text: ({ task }) => task?.id ?? "" },
    { id: "leases", title: "LEASES", priority: 2, text: ({ claim }) => (claim ? leasesText(claim) : "") },
    {
      ...{ id: "since", title: "SINCE", priority: 2, align: "right" },
      isTimed: true,
      text: (row, wall) => ago(sinceOf(row), wall),
      order: (row) => lasting(sinceOf(row)),
    },
    {
      ...{ id: "note", title: "NOTE", priority: 4, tone: () => "problem" },
      text: ({ drains }) => drains.map(drainLine).join("; "),
    },
    { id: "command", title: "COMMAND", priority: 4, text: (row) => row.command },
    { id: "label", title: "LABEL", priority: 5, text: (row) => ticketOf(row)?.label ?? "" },
    { id: "user", title: "USER", priority: 6, text: (row) => ticketOf(row)?.user ?? "" },
    {
      ...{
        id: "token",
        title: "TOKEN",
        priority: 7,
        align: "right",
        text: (row) => String(fencingOf(row)),
      },
      order: fencingOf,
    },
  ],
  sort: "token",
  key: ({ run }) => run,
  facets: (row) => ({
    states: [row.state, ...(row.drains.length > 0 ? ["drained"] : [])],
    hosts: [ticketOf(row)?.host ?? row.task?.value?.host ?? ""],
    holders: row.claim === undefined || isHolder(row.claim) ? [whoOf(row)] : [],
  }),
  subject: ({ run, claim, task }) =>
    claim === undefined && task !== undefined
      ? { kind: "schedule", name: task.id }
      : { kind: "run", name: run },
  json: rowJson,
  rows: runRows,
  empty: "Nothing runs and nothing waits. Try: signalbox run --lock demo -- sleep 60",
};

function runRows(picture: Picture, scene: Scene): RunRow[] {
  const tasks = new Map(
    [...picture.executions.values()].flat().map((task) => [task.value?.run ?? task.key, task]),
  );
  const rows = [...claimsOf(picture).values()].map((claim): RunRow => {
    const host = ticketOf({ claim })?.host;
    const drains = isHolder(claim)
      ? []
      : drainsOn({ host, queues: claim.stands.map(({ queue }) => queue) }, scene);
    const task = tasks.get(claim.run);
    tasks.delete(claim.run);
    const command = commandText(ticketOf({ claim }));
    return { run: claim.run, claim, task, command, state: claimState(claim), drains };
  });
  return [...rows, ...[...tasks].map(([run, task]) => taskRow(picture, run, task))];
}

function taskRow({ schedules }: Picture, run: string, task: Execution): RunRow {
  const definition = schedules.get(task.id)?.value;
  const words = definition?.command?.join(" ") ?? typeOf(task.id, definition ?? {});
  const state = task.fault === undefined ? "held" : "malformed";
  return { run, claim: undefined, task, command: words, state, drains: [] };
}

/** How a whole claim stands: as its ticket that is furthest from being held. */
export function claimState(claim: Claim): string {
  const states = claim.stands.map(({ place }) => place.ticket?.state ?? "malformed");
  const order = ["malformed", "waiting", "admitted", "held", "grace"];
  return order.find((state) => states.some((one) => one === state)) ?? "held";
}

function rowJson({ run, claim, task, state, drains }: RunRow): object {
  const value = task?.value;
  const own = {
    ...{ run, state, host: value?.host, pid: value?.pid, grantedAt: value?.since },
    ...{ token: task?.token, tickets: [] },
  };
  return {
    ...(claim === undefined ? own : runJson(claim, state)),
    ...{ schedule: task?.id, scheduled: value?.scheduled, drains: drains.map(drainJson) },
  };
}

/** A run for programs. Tokens and revisions as text, wall clocks in ms since the epoch. */
export function runJson(claim: Claim, state: string): object {
  const ticket = claim.stands.find(({ place }) => place.ticket !== undefined)?.place.ticket;
  const { host, pid, user, command, args, label, enqueuedAt, grantedAt, reset } = ticket ?? {};
  return {
    ...{ run: claim.run, state, host, pid, user, command, args, label, enqueuedAt, grantedAt, reset },
    token: tokenOf(claim),
    tickets: claim.stands.map(({ queue: { kind, name }, place }) => ({
      ...{ kind, name, state: place.ticket?.state ?? "malformed", count: place.ticket?.count },
    })),
  };
}

/** The fencing token: of the lock's ticket, else of the resources'. */
export function tokenOf({ stands }: Claim): bigint {
  const stand = stands.find(({ queue }) => queue.kind === "lock") ?? stands[0];
  return stand?.place.createRevision ?? 0n;
}

function lockOf({ stands }: Claim): string | undefined {
  return stands.find(({ queue }) => queue.kind === "lock")?.queue.name;
}

function leasesText({ stands }: Claim): string {
  const leases = stands.filter(({ queue }) => queue.kind === "resource");
  return leases.map(({ queue, place }) => `${queue.name}=${place.ticket?.count ?? "?"}`).join(" ");
}

function fencingOf({ claim, task }: RunRow): bigint {
  return claim === undefined ? (task?.token ?? 0n) : tokenOf(claim);
}

function ticketOf({ claim }: Pick<RunRow, "claim">) {
  return claim?.stands.find(({ place }) => place.ticket !== undefined)?.place.ticket;
}

function whoOf({ claim, task }: RunRow): string {
  const [first] = claim?.stands ?? [];
  return first === undefined ? (task === undefined ? "" : whoRuns(task)) : whoIs(first.place);
}

function sinceOf(row: RunRow): number | undefined {
  const ticket = ticketOf(row);
  return ticket?.grantedAt ?? ticket?.enqueuedAt ?? row.task?.value?.since;
}
