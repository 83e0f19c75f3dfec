import { briefDuration } from "../../base/duration.ts";
import { emptyRow, type QueueRow, queueRow } from "../queue-row.ts";
import {
  ago,
  andMore,
  briefWho,
  commandText,
  drainJson,
  drainNote,
  heldSince,
  lasting,
  occupantJson,
  stateTone,
} from "./cells.ts";
import type { Column, Facets, Scene, Subject } from "./view.ts";

/** A lock or resource as the tables show it. */
export type Line = QueueRow;

/** Columns that the tables of locks, of resources and of both have in common. */
export const COLUMNS = {
  kind: { id: "kind", title: "KIND", priority: 3, text: ({ kind }) => kind },
  name: { id: "name", title: "NAME", priority: 1, text: ({ name }) => name },
  state: {
    ...{
      id: "state",
      title: "STATE",
      isMarked: true,
      priority: 1,
      text: (line) => statesOf(line).join(", "),
    },
    tone: ({ state }) => stateTone(state),
  },
  holder: {
    ...{ id: "holder", title: "HOLDER", priority: 2 },
    text: ({ holders }) => andMore(holders.map(({ who }) => who)),
    brief: ({ holders }) => andMore(holders.map(({ who }) => briefWho(who))),
  },
  since: {
    ...{ id: "since", title: "SINCE", priority: 2, align: "right" },
    isTimed: true,
    text: ({ holders: [first] }, wall) => (first === undefined ? "" : ago(heldSince(first), wall)),
    order: ({ holders: [first] }) => lasting(first && heldSince(first)),
  },
  units: {
    ...{ id: "units", title: "UNITS", priority: 2, align: "right" },
    text: ({ kind, used, total }) => (kind === "lock" ? "" : `${used}/${total ?? "?"}`),
    order: ({ used, total = used }) => used / Math.max(1, total),
  },
  waiting: {
    ...{ id: "waiting", title: "WAITING", priority: 2, align: "right" },
    text: ({ waiters }) => String(waiters.length),
    order: ({ waiters }) => waiters.length,
    tone: ({ waiters }) => (waiters.length > 0 ? "waiting" : "quiet"),
  },
  longest: {
    ...{ id: "longest", title: "LONGEST", priority: 5, align: "right" },
    isTimed: true,
    text: (line, wall) => (line.waiters.length === 0 ? "" : ago(longestSince(line), wall)),
    order: (line) => lasting(longestSince(line)),
  },
  command: {
    ...{ id: "command", title: "COMMAND", priority: 4 },
    text: ({ holders: [first] }) => commandText(first?.ticket),
  },
  label: {
    ...{ id: "label", title: "LABEL", priority: 6 },
    text: ({ holders: [first] }) => first?.ticket?.label ?? "",
  },
  user: { id: "user", title: "USER", priority: 9, text: ({ holders: [first] }) => first?.ticket?.user ?? "" },
  run: {
    id: "run",
    title: "RUN",
    isRandom: true,
    priority: 9,
    text: ({ holders: [first] }) => first?.run ?? "",
  },
  token: {
    ...{ id: "token", title: "TOKEN", priority: 9, align: "right" },
    text: ({ holders: [first] }) => (first === undefined ? "" : String(first.token)),
    order: ({ holders: [first] }) => first?.token ?? 0n,
  },
  order: {
    ...{ id: "order", title: "ORDER", priority: 9, align: "right" },
    text: ({ configured }) => String(configured?.order ?? ""),
    order: ({ configured }) => configured?.order ?? Number.POSITIVE_INFINITY,
  },
  about: { id: "about", title: "ABOUT", priority: 6, text: ({ configured }) => configured?.note ?? "" },
  last: {
    ...{ id: "last", title: "LAST", priority: 5 },
    isTimed: true,
    text: ({ last }, wall) =>
      last === undefined
        ? ""
        : `${last.exit === 0 ? "ok" : `exit ${last.exit}`} ${briefDuration(wall - last.endedAt)} ago`,
    order: ({ last }) => -(last?.endedAt ?? Number.NEGATIVE_INFINITY),
    tone: ({ last }) => (last === undefined || last.exit === 0 ? "quiet" : "problem"),
  },
  note: { id: "note", title: "NOTE", priority: 3, text: noteOf, tone: () => "problem" },
} as const satisfies Record<string, Column<Line>>;

/** The earliest enqueued of the waiters. */
function longestSince({ waiters }: Line): number | undefined {
  return waiters.reduce<number | undefined>((least, { ticket }) => {
    const at = ticket?.enqueuedAt;
    return at === undefined || (least !== undefined && least <= at) ? least : at;
  }, undefined);
}

/** The state, and that it is drained too: those that hold it go on, and nobody comes after them. */
function statesOf({ state, drains }: Line): string[] {
  return drains.length === 0 || state === "drained" ? [state] : [state, "drained"];
}

function noteOf({ kind, holders, waiters, drains }: Line): string {
  const asked = [...holders, ...waiters].find(({ ticket }) => ticket?.reset !== undefined)?.ticket?.reset;
  const malformed = [...holders, ...waiters].filter(({ ticket }) => ticket === undefined).length;
  return [
    ...(drains.length > 0 ? [drainNote(drains, kind)] : []),
    ...(asked === undefined
      ? []
      : [`reset by ${asked.by}${asked.why === undefined ? "" : `: ${asked.why}`}`]),
    ...(malformed > 0 ? [`${malformed} malformed`] : []),
  ].join("; ");
}

export function lineOf(...[queue, scene]: [Parameters<typeof queueRow>[0], Scene]): Line {
  return queueRow(queue, scene);
}

export function emptyLine(kind: Line["kind"], name: string, scene: Scene): Line {
  return emptyRow(kind, name, scene);
}

/** What every table of queues says of a row beside its columns. */
export const ABOUT = {
  key: ({ kind, name }: Line): string => `${kind}/${name}`,
  facets: (line: Line): Facets => ({
    states: statesOf(line),
    hosts: [...line.holders, ...line.waiters].flatMap(({ ticket }) => ticket?.host ?? []),
    holders: line.holders.map(({ who }) => who),
  }),
  subject: ({ kind, name }: Line): Subject => ({ kind, name }),
  json: ({ kind, name, state, used, total, configured, holders, waiters, drains }: Line): object => ({
    ...{ kind, name, state, used, total, configured },
    holders: holders.map(occupantJson),
    waiters: waiters.map(occupantJson),
    drains: drains.map(drainJson),
  }),
};
