import type { Drain } from "../../protocol/drain.ts";
import type { QueueKind } from "../../protocol/keys.ts";
import { type Occupant, occupant } from "../queue-row.ts";
import {
  ago,
  briefWho,
  commandText,
  drainJson,
  drainNote,
  lasting,
  occupantJson,
  stateTone,
} from "./cells.ts";
import { drainsOn } from "./stopped.ts";
import { type QueueView, SCENE_ROOMS } from "./view.ts";

/** One ticket that waits. */
interface Waiter extends Occupant {
  kind: QueueKind;
  name: string;
  /** From 1, counted over all tickets of the queue. */
  position: number;
  /** What stops it here: drains of this lock or resource, of its host, of everything. */
  drains: readonly Drain[];
}

/** Everybody who waits, one row a ticket, the longest first. */
export const queues: QueueView<Waiter> = {
  ...{ of: "queue", hasEmpty: false, id: "queues", brief: "everybody who waits, the longest first" },
  rooms: [...SCENE_ROOMS, "locks", "resources"],
  columns: [
    { id: "kind", title: "KIND", priority: 4, text: ({ kind }) => kind },
    { id: "name", title: "NAME", priority: 1, text: ({ name }) => name },
    {
      ...{ id: "position", title: "POS", priority: 3, align: "right" },
      text: ({ position }) => String(position),
      order: ({ position }) => position,
    },
    { id: "who", title: "WHO", priority: 1, text: ({ who }) => who, brief: ({ who }) => briefWho(who) },
    {
      ...{
        id: "state",
        title: "STATE",
        isMarked: true,
        priority: 2,
        text: ({ ticket }) => ticket?.state ?? "malformed",
      },
      tone: ({ ticket }) => stateTone(ticket?.state ?? "malformed"),
    },
    {
      ...{ id: "waits", title: "WAITS", priority: 2, align: "right" },
      isTimed: true,
      text: ({ ticket }, wall) => ago(ticket?.enqueuedAt, wall),
      order: ({ ticket }) => lasting(ticket?.enqueuedAt),
      tone: () => "waiting",
    },
    {
      ...{ id: "units", title: "UNITS", priority: 4, align: "right" },
      text: ({ kind, ticket }) => (kind === "lock" ? "" : String(ticket?.count ?? "?")),
      order: ({ ticket }) => ticket?.count ?? 0,
    },
    {
      ...{ id: "note", title: "NOTE", priority: 3, tone: () => "problem" },
      text: ({ kind, drains }) => drainNote(drains, kind),
    },
    { id: "command", title: "COMMAND", priority: 5, text: ({ ticket }) => commandText(ticket) },
    { id: "run", title: "RUN", isRandom: true, priority: 3, text: ({ run }) => run },
    { id: "label", title: "LABEL", priority: 6, text: ({ ticket }) => ticket?.label ?? "" },
    { id: "user", title: "USER", priority: 9, text: ({ ticket }) => ticket?.user ?? "" },
  ],
  sort: "-waits",
  key: ({ kind, name, run }) => `${kind}/${name}/${run}`,
  facets: ({ ticket, who, drains }) => ({
    states: [ticket?.state ?? "malformed", ...(drains.length > 0 ? ["drained"] : [])],
    hosts: ticket === undefined ? [] : [ticket.host],
    holders: [who],
  }),
  subject: ({ kind, name, run }) => ({ kind: "run", name: run, queue: { kind, name } }),
  json: ({ kind, name, position, drains, ...waiter }) => ({
    ...{ kind, name, position, ...occupantJson(waiter), drains: drains.map(drainJson) },
  }),
  rows: ({ kind, name, places }, scene) =>
    places.flatMap((place, index) => {
      const { state } = place.ticket ?? {};
      if (state === "held" || state === "grace") return [];
      const drains = drainsOn({ host: place.ticket?.host, queues: [{ kind, name }] }, scene);
      return [{ ...occupant(place), kind, name, position: index + 1, drains }];
    }),
  empty: "Nobody waits. Who holds what: signalbox ls",
};
