import { ABOUT, COLUMNS, type Line, lineOf } from "./queue-columns.ts";
import { wideDrains } from "./remarks.ts";
import { type QueueView, SCENE_ROOMS } from "./view.ts";

const { kind, name, state, holder, since, units, waiting, longest, command, label, user, run, token, note } =
  COLUMNS;
const { order, about, last } = COLUMNS;
const detail = [label, user, run, token];

/** What is held or waited for: locks and resources together. */
export const overview: QueueView<Line> = {
  ...{
    of: "queue",
    hasEmpty: true,
    id: "overview",
    brief: "locks and resources that somebody holds or waits for",
  },
  rooms: [...SCENE_ROOMS, "locks", "resources"],
  columns: [kind, name, state, holder, since, units, waiting, longest, command, note, ...detail],
  sort: "kind",
  ...ABOUT,
  rows: (queue, scene) => [lineOf(queue, scene)],
  empty:
    "Nothing is held or waited for. Try: signalbox run --lock demo -- sleep 60 (--all also lists what is free)",
  remarks: wideDrains,
};

export const locks: QueueView<Line> = {
  ...{ of: "queue", hasEmpty: true, id: "locks", brief: "locks: who holds them, how many wait" },
  rooms: [...SCENE_ROOMS, "locks"],
  columns: [name, state, holder, since, waiting, longest, command, last, note, ...detail],
  sort: "name",
  ...ABOUT,
  rows: (queue, scene) => (queue.kind === "lock" ? [lineOf(queue, scene)] : []),
  empty:
    "No lock is held or waited for. Try: signalbox run --lock demo -- sleep 60 (--all also lists free ones)",
  remarks: wideDrains,
};

export const resources: QueueView<Line> = {
  ...{
    of: "queue",
    hasEmpty: true,
    id: "resources",
    brief: "resources: units held and free, who waits for some",
  },
  rooms: [...SCENE_ROOMS, "resources"],
  columns: [name, state, units, holder, since, waiting, longest, command, note, about, ...detail, order],
  sort: "order",
  ...ABOUT,
  rows: (queue, scene) => (queue.kind === "resource" ? [lineOf(queue, scene)] : []),
  empty:
    "No units are held or waited for. Try: signalbox run --lease db=2:10 -- sleep 60 (--all also lists what is configured)",
  remarks: wideDrains,
};
