import { buildQueueRow } from "../../../model/rows/queue-row.ts";
import { buildScheduleRows, type ScheduleState } from "../../../model/rows/schedule-row.ts";
import { buildQueueId, findNamedQueue, type Snapshot } from "../../../model/snapshot/snapshot.ts";
import { getStateTone } from "../../../model/tables/cells.ts";
import { getScheduleTone } from "../../../model/tables/schedules.ts";
import type { FavouriteKind } from "../../../model/views/favourite-id.ts";
import type { Tone, ViewContext } from "../../../model/views/view.ts";
import { buildViewContext } from "../../../model/views/view-context.ts";
import { parseFavouriteId } from "../../state/favourites.ts";
import type { TreeNode } from "./tree-node.ts";

/** Builds the node of favourites with its children; none without favourites. @param wall  ms since the epoch */
export function buildFavouriteNodes(
  favourites: ReadonlySet<string>,
  snapshot: Snapshot,
  open: ReadonlySet<string>,
  wall: number,
): TreeNode[] {
  const parsed = [...favourites].flatMap((id) => parseFavouriteId(id) ?? []);
  const [first] = parsed;
  if (first === undefined) return [];
  const isOpen = open.has("favourites");
  const root: TreeNode = {
    id: "favourites",
    depth: 0,
    label: "Favourites",
    note: String(parsed.length),
    tone: "plain",
    isOpen,
    tab: `${first.kind}s`,
  };
  if (!isOpen) return [root];
  const describe = createStateLookup(snapshot, buildViewContext(snapshot, wall), parsed);
  const children = parsed.map(({ kind, name }): TreeNode => {
    const { note, tone } = describe(kind, name);
    const key = kind === "lock" || kind === "resource" ? buildQueueId(kind, name) : name;
    const id = `favourites/${kind} ${name}`;
    return { id, depth: 1, label: name, note, tone, tab: `${kind}s`, key };
  });
  return [root, ...children.sort((a, b) => (a.label < b.label ? -1 : 1))];
}

type FavouriteState = { note: string; tone: Tone };

const GONE: FavouriteState = { note: "gone", tone: "quiet" };
const PLAIN: FavouriteState = { note: "", tone: "plain" };

/** Creates the function that describes the state of a favourite. Schedules are computed only if there are any. */
function createStateLookup(
  snapshot: Snapshot,
  scene: ViewContext,
  wanted: readonly { kind: FavouriteKind }[],
): (kind: FavouriteKind, name: string) => FavouriteState {
  const schedules = new Map<string, ScheduleState>();
  if (wanted.some(({ kind }) => kind === "schedule"))
    for (const { id, state } of buildScheduleRows(snapshot, scene)) schedules.set(id, state);
  return (kind, name) => {
    switch (kind) {
      case "lock":
      case "resource": {
        const entries = findNamedQueue(snapshot, kind, name)?.entries ?? [];
        const { state, waiters } = buildQueueRow({ kind, name, entries }, scene);
        const note = waiters.length > 0 ? `${state} +${waiters.length}` : state;
        return { note, tone: getStateTone(state) };
      }
      case "schedule": {
        const state = schedules.get(name);
        return state === undefined ? GONE : { note: state, tone: getScheduleTone(state) };
      }
      case "host":
        return snapshot.hosts.has(name) ? PLAIN : GONE;
      case "group":
        return snapshot.groups.has(name) ? PLAIN : GONE;
    }
  };
}
