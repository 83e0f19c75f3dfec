import { computeDisplayWidth } from "../../base/display-width.ts";
import { collectTexts } from "../../base/text.ts";
import type { Problem } from "../../state/problem.ts";
import { computeShares, type ResourceShares } from "../../state/shares.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../../state/snapshot.ts";
import type { ViewContext } from "../../state/view-context.ts";
import { buildViewContext } from "../../state/view-context.ts";
import { getStateTone } from "../../views/columns.ts";
import { shortenAlarm } from "../../views/etcd-members.ts";
import { listKnownHosts } from "../../views/hosts.ts";
import { buildQueueRow } from "../../views/queues.ts";
import { buildScheduleRows, getScheduleTone } from "../../views/schedules.ts";
import type { TabId } from "../state/console-state.ts";
import type { RowList } from "../state/cursor.ts";
import type { ClusterCounts, ListedContext } from "./context-list.ts";
import {
  ATTENTION,
  buildAttentionNodes,
  buildAttentionRoot,
  buildResourceNodes,
  type TreeNode,
  type TreeSigns,
} from "./explorer-nodes.ts";
import type { TabCounts } from "./tab-counter.ts";

/** The current lines of the explorer, built again only when their inputs change. */
export class ExplorerTree implements RowList {
  nodes: readonly TreeNode[] = [];
  /** Width at which none of the first lines is cut. It only grows, so that the panes do not move. */
  wantedWidth = 0;
  #known: readonly unknown[] = [];

  /** @param wall  ms since the epoch */
  update(
    { contexts = [], health, ...inputs }: TreeInputs & OutsideInputs,
    wall: number,
    signs: TreeSigns,
  ): void {
    const etcd = buildEtcdNode(health);
    const now = [inputs.snapshot, inputs.counts, inputs.problems, inputs.open, contexts, etcd.note];
    if (now.every((one, at) => one === this.#known[at])) return;
    this.#known = now;
    this.nodes = [...buildTree(inputs, wall, signs), ...buildContextNodes(contexts, inputs, signs), etcd];
    for (const node of this.nodes.slice(0, MEASURED))
      this.wantedWidth = Math.max(this.wantedWidth, computeNodeWidth(node));
  }

  get length(): number {
    return this.nodes.length;
  }

  getKeyAt(index: number): string | undefined {
    return this.nodes[index]?.id;
  }

  findIndex(key: string, near: number): number {
    if (this.nodes[near]?.id === key) return near;
    return this.nodes.findIndex(({ id }) => id === key);
  }
}

/** Number of lines whose width is measured. */
const MEASURED = 500;

/** Returns the width of a line, with its indent, its sign, and a blank before the note and at the end. */
function computeNodeWidth({ depth, label, note }: TreeNode): number {
  return depth + computeDisplayWidth(label) + computeDisplayWidth(note) + 5;
}

/** Roots with child nodes. */
const BRANCHES = ["locks", "resources", "hosts", "groups", "drains", "schedules"] as const;
const LEAVES = ["queues", "history", "audit", "problems"] as const;

/** Returns the name of a tab: `Locks`. */
export function getTabLabel(tab: TabId): string {
  return tab.charAt(0).toUpperCase() + tab.slice(1);
}

/** The inputs of the explorer. */
interface TreeInputs {
  snapshot: Snapshot;
  counts: TabCounts;
  problems: readonly Problem[];
  /** Ids of the unfolded nodes. */
  open: ReadonlySet<string>;
}

/** Inputs that are not part of the snapshot. */
interface OutsideInputs {
  contexts?: readonly ListedContext[];
  /** Undefined while it is not known. */
  health?: { up: number; total: number; faults: readonly string[] } | undefined;
}

/** Builds the node of the cluster. Its note says what is wrong, or how many members answer. */
function buildEtcdNode(health: OutsideInputs["health"]): TreeNode {
  const { up = 0, total = 0, faults: [fault] = [] } = health ?? {};
  const members = health === undefined ? "" : `${up}/${total}`;
  const note = fault === undefined ? members : shortenAlarm(fault);
  const tone = up < total || fault !== undefined ? "problem" : "plain";
  return { id: "etcd", depth: 0, label: "etcd", note, tone, tab: "members" };
}

/**
 * Builds the explorer's lines, from the top: what needs attention, then everything by kind.
 * @param wall  ms since the epoch
 */
export function buildTree(inputs: TreeInputs, wall: number, signs: TreeSigns): TreeNode[] {
  const { snapshot, counts, open } = inputs;
  const viewContext = buildViewContext(snapshot, wall);
  const shares = computeShares(snapshot);
  const branches = BRANCHES.flatMap((tab) => {
    const isOpen = open.has(tab);
    const root = { ...buildRootNode(tab, counts), isOpen };
    if (!isOpen) return [root];
    if (tab === "resources") return [root, ...buildResourceNodes(shares, open, signs)];
    return [root, ...buildChildNodes(tab, snapshot, viewContext)];
  });
  const leaves = LEAVES.map((tab) => buildRootNode(tab, counts));
  return [...buildAttention(inputs, viewContext, shares), ...branches, ...leaves];
}

function buildAttention(
  { snapshot, problems, open }: TreeInputs,
  { drains }: ViewContext,
  { hosts, others }: ResourceShares,
): TreeNode[] {
  if (snapshot.revision === 0n) return [buildAttentionRoot("", undefined)];
  const shares = [...others, ...hosts.flatMap(({ parts }) => parts)];
  return buildAttentionNodes({ snapshot, problems, drains, shares }, open.has(ATTENTION));
}

function buildRootNode(tab: TabId, counts: TabCounts): TreeNode {
  const count = counts[tab];
  const tone = tab === "problems" && (count ?? 0) > 0 ? "problem" : "plain";
  return { id: tab, depth: 0, label: getTabLabel(tab), note: String(count ?? ""), tone, tab };
}

function buildChildNodes(
  tab: Exclude<(typeof BRANCHES)[number], "resources">,
  snapshot: Snapshot,
  viewContext: ViewContext,
): TreeNode[] {
  switch (tab) {
    case "locks":
      return buildLockNodes(snapshot, viewContext);
    case "hosts":
    case "groups": {
      const names = tab === "hosts" ? listKnownHosts(snapshot) : snapshot.groups.keys();
      return [...names].sort().map((name) => createChildNode(tab, name));
    }
    case "schedules":
      return buildScheduleNodes(snapshot, viewContext);
    case "drains":
      return viewContext.drains.map(({ key, scope, name }) =>
        createChildNode(tab, key, {
          label: scope === "all" ? "everything" : name,
          note: scope,
          tone: "problem",
          key,
        }),
      );
  }
}

/** Creates a node below that of a tab. @param name  the id of its object; by default also its label and key */
function createChildNode(tab: TabId, name: string, more: Partial<TreeNode> = {}): TreeNode {
  return { id: `${tab}/${name}`, depth: 1, label: name, note: "", tone: "plain", tab, key: name, ...more };
}

/** With more locks than this, the locks are folded by default: the ones that need attention have their own nodes. */
const SEVERAL = 30;
/** The maximum number of schedule nodes. */
const MANY = 200;

const [FEW, ALL] = [
  new Set([ATTENTION, "resources", "clusters"]),
  new Set([ATTENTION, "locks", "resources", "clusters"]),
];

/** Returns the nodes that are unfolded until the user changes them. */
export function getDefaultUnfolded({ locks = 0 }: TabCounts): ReadonlySet<string> {
  return locks > SEVERAL ? FEW : ALL;
}

function buildLockNodes(snapshot: Snapshot, viewContext: ViewContext): TreeNode[] {
  return [...snapshot.queues.values()]
    .flatMap((queue) => (queue.kind === "lock" ? buildLockNode(queue, viewContext) : []))
    .sort((a, b) => (a.label < b.label ? -1 : 1));
}

function buildLockNode(queue: NamedQueue, viewContext: ViewContext): TreeNode {
  const { kind, name } = queue;
  const { state, waiters } = buildQueueRow(queue, viewContext);
  const note = waiters.length > 0 ? `+${waiters.length}` : "";
  return createChildNode("locks", name, { note, tone: getStateTone(state), key: buildQueueId(kind, name) });
}

/**
 * Builds the nodes of schedules. With more than `MANY` schedules, includes only those that are not waiting, `MANY` at
 * most.
 */
function buildScheduleNodes(snapshot: Snapshot, viewContext: ViewContext): TreeNode[] {
  const all = buildScheduleRows(snapshot, viewContext);
  const shown = all.length > MANY ? all.filter(({ state }) => state !== "waiting") : all;
  const nodes = shown.slice(0, MANY).map(({ id, state }) => {
    const note = state === "waiting" ? "" : state;
    return createChildNode("schedules", id, { note, tone: getScheduleTone(state) });
  });
  return nodes.sort((a, b) => (a.label < b.label ? -1 : 1));
}

/** Id of the root of the contexts. */
export const CLUSTERS = "clusters";

/** Builds the nodes of the contexts, if there are any. */
function buildContextNodes(
  contexts: readonly ListedContext[],
  { open, counts }: TreeInputs,
  { marks }: TreeSigns,
): TreeNode[] {
  if (contexts.length === 0) return [];
  const isOpen = open.has(CLUSTERS);
  const about = { id: CLUSTERS, label: "Clusters", note: String(contexts.length) };
  const root: TreeNode = { ...about, depth: 0, tone: "plain", isOpen, tab: "problems" };
  const nodes = contexts.map((one) => buildContextNode(one, one.isActive ? counts : one.counts, marks));
  return isOpen ? [root, ...nodes] : [root];
}

function buildContextNode(
  { name, label, isActive, isReadOnly, note, tone }: ListedContext,
  counts: ClusterCounts | undefined,
  marks: TreeSigns["marks"],
): TreeNode {
  const parts = formatCounts(counts, marks);
  const words = collectTexts([isReadOnly && "ro", isActive && "shown", ...parts]);
  return {
    id: `${CLUSTERS}/${name ?? ""}`,
    depth: 1,
    label,
    note: parts.length > 0 || isActive ? words.join(" ") : note,
    tone: isActive ? "held" : (counts?.problems ?? 0) > 0 ? "problem" : tone,
    tab: "problems",
    context: { name },
  };
}

/** Formats the numbers of holders, waiters and problems in a cluster. Leaves out zeros. */
function formatCounts(counts: ClusterCounts = {}, marks: TreeSigns["marks"]): string[] {
  const { held = 0, waiting = 0, problems = 0, keys } = counts;
  const parts = [
    [marks.held, held],
    [marks.waiting, waiting],
    [marks.problem, problems],
  ] as const;
  const shown = parts.flatMap(([mark, count]) => (count > 0 ? [`${mark.trim()}${count}`] : []));
  return keys === undefined ? shown : [`${keys} keys`];
}
