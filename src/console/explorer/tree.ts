import { type NamedQueue, type Picture, queueId } from "../../model/picture.ts";
import { queueRow } from "../../model/queue-row.ts";
import { scheduleRows } from "../../model/schedule-row.ts";
import { stateTone } from "../../model/tables/cells.ts";
import { sceneOf } from "../../model/tables/scene.ts";
import { scheduleTone } from "../../model/tables/schedules.ts";
import type { Scene } from "../../model/tables/view.ts";
import type { TabId } from "../state/state.ts";
import type { TreeNode } from "./node.ts";
import { resourceNodes, type TreeSigns } from "./resource-nodes.ts";

/** How many rows the tabs have that are counted cheaply. */
export type Counts = Partial<Record<TabId, number>>;

/** Roots that have their things below them. */
const BRANCHES = ["locks", "resources", "hosts", "groups", "drains", "schedules"] as const;
const LEAVES = ["queues", "history", "audit", "problems"] as const;
const LABELS: Record<TabId, string> = {
  ...{ locks: "Locks", resources: "Resources", queues: "Queues", hosts: "Hosts", groups: "Groups" },
  ...{ drains: "Drains", schedules: "Schedules", history: "History", audit: "Audit", problems: "Problems" },
};

export function tabLabel(tab: TabId): string {
  return LABELS[tab];
}

/** The explorer's lines, from the top. @param open  ids of what is unfolded @param wall  ms since the epoch */
export function treeOf(
  picture: Picture,
  counts: Counts,
  open: ReadonlySet<string>,
  wall: number,
  signs: TreeSigns,
): TreeNode[] {
  const scene = sceneOf(picture, wall);
  const branches = BRANCHES.flatMap((tab) => {
    const isOpen = open.has(tab);
    const root = { ...rootOf(tab, counts), isOpen };
    return isOpen ? [root, ...childrenOf(tab, picture, scene, open, signs)] : [root];
  });
  return [...branches, ...LEAVES.map((tab) => rootOf(tab, counts))];
}

function rootOf(tab: TabId, counts: Counts): TreeNode {
  const count = counts[tab];
  const tone = tab === "problems" && (count ?? 0) > 0 ? "problem" : "plain";
  return { id: tab, depth: 0, label: LABELS[tab], note: count === undefined ? "" : String(count), tone, tab };
}

function childrenOf(
  tab: (typeof BRANCHES)[number],
  picture: Picture,
  scene: Scene,
  open: ReadonlySet<string>,
  signs: TreeSigns,
): TreeNode[] {
  switch (tab) {
    case "locks":
      return lockNodes(picture, scene);
    case "resources":
      return resourceNodes(picture, open, signs);
    case "hosts":
      return named("hosts", [...picture.hosts.keys()]);
    case "groups":
      return named("groups", [...picture.groups.keys()]);
    case "schedules":
      return scheduleNodes(picture, scene);
    case "drains":
      return scene.drains.map(({ key, scope, name }) => ({
        ...{ id: `drains/${key}`, depth: 1, label: scope === "all" ? "everything" : name },
        ...{ note: scope, tone: "problem" as const, tab, key },
      }));
  }
}

/** More locks than this are not unfolded by themselves: nobody reads them there. */
const MANY = 200;

const [FEW, ALL]: [ReadonlySet<string>, ReadonlySet<string>] = [
  new Set(["resources"]),
  new Set(["locks", "resources"]),
];

/** What is unfolded where the user has not said. */
export function unfoldedFor({ locks = 0 }: Counts): ReadonlySet<string> {
  return locks > MANY ? FEW : ALL;
}

function lockNodes(picture: Picture, scene: Scene): TreeNode[] {
  const queues = [...picture.queues.values()].filter(({ kind }) => kind === "lock");
  return queues.map((queue) => lockNode(queue, scene)).sort((a, b) => (a.label < b.label ? -1 : 1));
}

function lockNode(queue: NamedQueue, scene: Scene): TreeNode {
  const { kind, name } = queue;
  const { state, waiters } = queueRow(queue, scene);
  const note = waiters.length > 0 ? `+${waiters.length}` : "";
  const key = queueId(kind, name);
  return { id: `locks/${name}`, depth: 1, label: name, note, tone: stateTone(state), tab: "locks", key };
}

/** Of very many only those that are not just waiting, and no more than anybody reads here. */
function scheduleNodes(picture: Picture, scene: Scene): TreeNode[] {
  const all = scheduleRows(picture, scene);
  const shown = all.length > MANY ? all.filter(({ state }) => state !== "waiting") : all;
  const nodes = shown.slice(0, MANY).map(({ id, state }): TreeNode => {
    const note = state === "waiting" ? "" : state;
    return {
      ...{ id: `schedules/${id}`, depth: 1, label: id, note, tone: scheduleTone(state) },
      ...{ tab: "schedules", key: id },
    };
  });
  return nodes.sort((a, b) => (a.label < b.label ? -1 : 1));
}

function named(tab: "hosts" | "groups", names: string[]): TreeNode[] {
  return names.sort().map((name) => ({
    id: `${tab}/${name}`,
    depth: 1,
    label: name,
    note: "",
    tone: "plain",
    tab,
    key: name,
  }));
}
