import { computeHostActivity, judgeHostState, NO_ACTIVITY } from "../../cli/views/hosts.ts";
import {
  buildEmptyQueueRow,
  buildQueueRow,
  createTallyFinder,
  resourcesView,
} from "../../cli/views/queues.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { memoizeWeakly } from "../../core/base/memoize.ts";
import { collectTexts, pluralize } from "../../core/base/text.ts";
import { listGroupHosts } from "../../core/fleet/groups.ts";
import { findNamedQueue, type Snapshot } from "../../site/state/snapshot.ts";
import { buildViewContext } from "../../site/state/view-context.ts";

/** The kinds of objects that have names. */
export type ObjectKind = "lock" | "resource" | "host" | "group" | "schedule";

/** Columns of locks and resources that say the most. */
const QUEUE_COLUMNS = ["state", "units", "holder", "waiting"].flatMap(
  (id) => resourcesView.columns.find((column) => column.id === id) ?? [],
);

const getActivities = memoizeWeakly(computeHostActivity);

/** Creates a function that says in a few words in what state an object is. It computes only what is asked for. */
export function createStateFormatter(
  snapshot: Snapshot,
  wall: WallTime,
): (kind: ObjectKind, name: string) => string {
  const viewContext = buildViewContext(snapshot, wall);
  const formatQueue = (kind: "lock" | "resource", name: string) => {
    const queue = findNamedQueue(snapshot, kind, name);
    const row =
      queue === undefined
        ? buildEmptyQueueRow(kind, name, viewContext, createTallyFinder(snapshot))
        : buildQueueRow(queue, viewContext);
    const texts = QUEUE_COLUMNS.map(({ id, formatBriefCell, formatCell }) => {
      const text = (formatBriefCell ?? formatCell)(row, wall);
      return id !== "waiting" ? text : text === "0" ? "" : `+${text}`;
    });
    return collectTexts(texts).join("  ");
  };
  const formatHost = (name: string) => {
    const activity = getActivities(snapshot).get(name) ?? NO_ACTIVITY;
    const { held, waiting } = activity;
    const state = judgeHostState({ ...activity, record: snapshot.hosts.get(name) }, wall);
    return collectTexts([state, held > 0 && `${held} hold`, waiting > 0 && `${waiting} wait`]).join("  ");
  };
  return (kind, name) => {
    if (kind === "host") return formatHost(name);
    if (kind === "group") return pluralize(listGroupHosts(viewContext.groups, name).length, "host");
    if (kind === "schedule") return [snapshot.schedules.get(name)?.value?.cron ?? ""].flat().join("; ");
    return formatQueue(kind, name);
  };
}
