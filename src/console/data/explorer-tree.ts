import { getStateTone, shortenOwner, shortenResourceName } from "../../cli/views/columns.ts";
import { shortenAlarm } from "../../cli/views/etcd-members.ts";
import { listKnownHosts } from "../../cli/views/hosts.ts";
import { selectFirst } from "../../cli/views/overview.ts";
import { formatQueueName } from "../../cli/views/problems.ts";
import { buildQueueRow } from "../../cli/views/queues.ts";
import { buildScheduleRows, getScheduleTone } from "../../cli/views/schedules.ts";
import type { WallTime } from "../../core/base/clock.ts";
import { computeDisplayWidth } from "../../core/base/display-width.ts";
import { collectTexts } from "../../core/base/text.ts";
import type { Drain } from "../../core/protocol/drain.ts";
import { buildProblemId, type Problem } from "../../site/state/problem.ts";
import {
  computeQueueTally,
  computeShares,
  findFullestShare,
  getShareTone,
  type ResourceShare,
  type ResourceShares,
  renderShareBar,
} from "../../site/state/shares.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../../site/state/snapshot.ts";
import type { Tone } from "../../site/state/subject.ts";
import { buildViewContext, type ViewContext } from "../../site/state/view-context.ts";
import type { TabId } from "../state/console-state.ts";
import type { RowList } from "../state/cursor.ts";
import type { ClusterCounts, ListedContext } from "./context-list.ts";
import type { TabCounts } from "./tab-counter.ts";

/** A line of the explorer. */
export interface TreeNode {
  id: string;
  depth: number;
  label: string;
  /** Displayed at the right edge. */
  note: string;
  tone: Tone;
  /** Whether its children are shown; undefined for a node without children. */
  isOpen?: boolean;
  /** The tab that it leads to, and the row in it. */
  tab: TabId;
  key?: string;
  /** The context that it leads to instead. `name` is undefined for settings that belong to no context. */
  context?: { name: string | undefined };
}

/** Characters of a bar: full and empty. */
interface TreeSigns {
  bar: readonly [string, string];
  marks: Readonly<Record<Tone, string>>;
}

/** The current lines of the explorer, built again only when their inputs change. */
export class ExplorerTree implements RowList {
  nodes: readonly TreeNode[] = [];
  /** Width at which none of the first lines is cut. It only grows, so that the panes do not move. */
  wantedWidth = 0;
  #known: readonly unknown[] = [];

  update(
    { contexts = [], health, ...inputs }: TreeInputs & OutsideInputs,
    wall: WallTime,
    signs: TreeSigns,
  ): void {
    const etcd = buildEtcdNode(health);
    const now = [inputs.snapshot, inputs.counts, inputs.problems, inputs.open, contexts, etcd.note];
    if (now.every((one, at) => one === this.#known[at])) return;
    this.#known = now;
    this.nodes = [...buildTree(inputs, wall, signs), ...buildContextNodes(contexts, inputs, signs), etcd];
    for (const node of this.nodes.slice(0, MAX_MEASURED_LINES))
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
const MAX_MEASURED_LINES = 500;

/** Returns the width of a line, with its indent, its sign, and a blank before the note and at the end. */
function computeNodeWidth({ depth, label, note }: TreeNode): number {
  return depth + computeDisplayWidth(label) + computeDisplayWidth(note) + 5;
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

/** Roots with child nodes. */
const BRANCHES = ["locks", "resources", "hosts", "groups", "drains", "schedules"] as const;
const LEAVES = ["queues", "history", "audit", "problems"] as const;

/** Builds the explorer's lines, from the top: what needs attention, then everything by kind. */
export function buildTree(inputs: TreeInputs, wall: WallTime, signs: TreeSigns): TreeNode[] {
  const { snapshot, counts, open } = inputs;
  const viewContext = buildViewContext(snapshot, wall);
  const shares = computeShares(snapshot);
  const branches = BRANCHES.flatMap((tab) => {
    const isOpen = open.has(tab);
    const root = { ...buildRootNode(tab, counts), isOpen };
    if (!isOpen || snapshot.revision === 0n) return [root];
    if (tab === "resources") return [root, ...buildResourceNodes(shares, open, signs)];
    return [root, ...buildChildNodes(tab, snapshot, viewContext)];
  });
  const leaves = LEAVES.map((tab) => buildRootNode(tab, counts));
  return [...buildAttention(inputs, viewContext, shares), ...branches, ...leaves];
}

/** Builds the node of the cluster. Its note says what is wrong, or how many members answer. */
function buildEtcdNode(health: OutsideInputs["health"]): TreeNode {
  const { up = 0, total = 0, faults: [fault] = [] } = health ?? {};
  const members = health === undefined ? "" : `${up}/${total}`;
  const note = fault === undefined ? members : shortenAlarm(fault);
  const tone = up < total || fault !== undefined ? "problem" : "plain";
  return { id: "etcd", depth: 0, label: "etcd", note, tone, tab: "members" };
}

function buildRootNode(tab: TabId, counts: TabCounts): TreeNode {
  const count = counts[tab];
  const tone = tab === "problems" && (count ?? 0) > 0 ? "problem" : "plain";
  return { id: tab, depth: 0, label: getTabLabel(tab), note: String(count ?? ""), tone, tab };
}

/** Returns the name of a tab: `Locks`. */
export function getTabLabel(tab: TabId): string {
  return tab.charAt(0).toUpperCase() + tab.slice(1);
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

/**
 * Builds the nodes of resources: first those without a host, then the others by host.
 * @param open  ids of the unfolded nodes
 */
function buildResourceNodes(
  { hosts, others }: ResourceShares,
  open: ReadonlySet<string>,
  signs: TreeSigns,
): TreeNode[] {
  const byHost = hosts.flatMap(({ host, parts }): TreeNode[] => {
    const id = `resources@${host}`;
    const isOpen = open.has(id);
    const fullest = findFullestShare(parts);
    const node: TreeNode = {
      id,
      depth: 1,
      label: shortenOwner(host),
      note: isOpen || fullest === undefined ? "" : `${fullest.short} ${renderShareBar(fullest, signs.bar)}`,
      tone: isOpen || fullest === undefined ? "plain" : toNodeTone(fullest),
      isOpen,
      tab: "resources",
    };
    return isOpen ? [node, ...parts.map((share) => buildShareNode(share, 2, signs))] : [node];
  });
  return [...others.map((share) => buildShareNode(share, 1, signs)), ...byHost];
}

/** Returns the tone of a resource in the tree: none for normal use. */
function toNodeTone(share: ResourceShare): Tone {
  const tone = getShareTone(share);
  return tone === "waiting" || tone === "problem" ? tone : "plain";
}

function buildShareNode(share: ResourceShare, depth: number, { bar }: TreeSigns): TreeNode {
  const { name, short, used, total } = share;
  const note = `${renderShareBar(share, bar)} ${`${used}/${total ?? "?"}`.padStart(5)}`;
  const key = buildQueueId("resource", name);
  return {
    id: `resources/${name}`,
    depth,
    label: short,
    note,
    tone: toNodeTone(share),
    tab: "resources",
    key,
  };
}

/** The id of the root of the nodes that need attention. */
export const ATTENTION = "attention";

/** Maximum number of nodes of each sort. The others are counted. */
const MOST_URGENT = 5;

/** The inputs of the nodes that need attention. */
export interface AttentionInputs {
  snapshot: Pick<Snapshot, "queues">;
  /** Failures first. */
  problems: readonly Problem[];
  drains: readonly (Drain & { key: string })[];
  /** Shares of resources. The names of a host's resources begin with the host. */
  shares: readonly ResourceShare[];
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

/**
 * Builds the explorer's first part, most urgent first: problems, drains, full resources with a queue, and then what is
 * waited for, the longest wait first. An object has one node: that of its most urgent reason.
 */
export function buildAttentionNodes(inputs: AttentionInputs, isOpen: boolean): TreeNode[] {
  const seen = new Set<string>();
  const sorts = [
    inputs.problems.map(toProblemNode),
    inputs.drains.map(toDrainNode),
    inputs.shares
      .filter(({ used, total = Number.POSITIVE_INFINITY, waiting }) => used >= total && waiting > 0)
      .map(toFullNode),
  ].map((sort) => keepNew(sort, seen));
  const waits = listWaits(inputs.snapshot, seen);
  const longest = selectFirst(
    waits,
    (queue) => computeQueueTally(queue).since ?? Number.POSITIVE_INFINITY,
    MOST_URGENT,
  );
  const count = sorts.reduce((sum, { length }) => sum + length, waits.length);
  const root =
    count === 0 ? buildAttentionRoot("none", undefined) : buildAttentionRoot(String(count), isOpen);
  if (!isOpen) return [root];
  const nodes = sorts.flatMap((sort) => limitNodes(sort, sort.length));
  return [root, ...nodes, ...limitNodes(longest.map(toWaitNode), waits.length)];
}

/** Returns the nodes about objects that have no node yet. */
function keepNew(nodes: readonly AttentionNode[], seen: Set<string>): AttentionNode[] {
  return nodes.filter(({ about }) => {
    const isNew = !seen.has(about);
    seen.add(about);
    return isNew;
  });
}

/** Builds the root of these nodes. It exists before anything is known, so that the cursor starts on it. */
function buildAttentionRoot(note: string, isOpen: boolean | undefined): TreeNode {
  return {
    id: ATTENTION,
    depth: 0,
    label: "Attention",
    note,
    tone: "plain",
    tab: "problems",
    ...(isOpen !== undefined && { isOpen }),
  };
}

/** A node, and the object that it is about: `lock invoices`. */
interface AttentionNode {
  about: string;
  node: TreeNode;
}

/** @param count  of all nodes of the sort */
function limitNodes(nodes: readonly AttentionNode[], count: number): TreeNode[] {
  const shown = nodes.slice(0, MOST_URGENT).map(({ node }) => node);
  const last = shown.at(-1);
  if (last === undefined || count <= shown.length) return shown;
  const label = `${count - shown.length} more`;
  return [...shown, { id: `${last.id}/more`, depth: 1, label, note: "", tone: "quiet", tab: last.tab }];
}

function toProblemNode(problem: Problem): AttentionNode {
  const key = buildProblemId(problem);
  const { subject, kind, level } = problem;
  return createAttentionNode(subject, `problem/${key}`, {
    label: subject.replace(/^\S+ /, ""),
    note: kind,
    tone: level === "failure" ? "problem" : "waiting",
    tab: "problems",
    key,
  });
}

function createAttentionNode(about: string, id: string, node: Omit<TreeNode, "id" | "depth">): AttentionNode {
  return { about, node: { id: `${ATTENTION}/${id}`, depth: 1, ...node } };
}

function toDrainNode({ key, scope, name }: Drain & { key: string }): AttentionNode {
  const label = scope === "all" ? "everything" : scope === "host" ? shortenOwner(name) : name;
  const node = { label, note: "drained", tone: "problem", tab: "drains", key } as const;
  return createAttentionNode(`${scope} ${name}`, `drain/${key}`, node);
}

function toFullNode({ name, used, total, waiting }: ResourceShare): AttentionNode {
  return createAttentionNode(`resource ${name}`, `full/${name}`, {
    label: shortenResourceName(name),
    note: `${used}/${total} +${waiting}`,
    tone: "problem",
    tab: "resources",
    key: buildQueueId("resource", name),
  });
}

/** Lists the queues with waiters that have no node yet. */
function listWaits({ queues }: Pick<Snapshot, "queues">, seen: ReadonlySet<string>): NamedQueue[] {
  return [...queues.values()].filter(
    (queue) => computeQueueTally(queue).waiting > 0 && !seen.has(formatQueueName(queue)),
  );
}

function toWaitNode(queue: NamedQueue): AttentionNode {
  const { kind, name } = queue;
  return createAttentionNode(formatQueueName(queue), `waiting/${kind}/${name}`, {
    label: shortenResourceName(name),
    note: `+${computeQueueTally(queue).waiting}`,
    tone: "waiting",
    tab: `${kind}s`,
    key: buildQueueId(kind, name),
  });
}

/** With more locks than this, the locks are folded by default: the ones that need attention have their own nodes. */
const MAX_OPEN_LOCKS = 30;

/** The maximum number of schedule nodes. */
const MAX_SCHEDULE_NODES = 200;

const [FEW, ALL] = [
  new Set([ATTENTION, "resources", "clusters"]),
  new Set([ATTENTION, "locks", "resources", "clusters"]),
];

/** Returns the nodes that are unfolded until the user changes them. */
export function getDefaultUnfolded({ locks = 0 }: TabCounts): ReadonlySet<string> {
  return locks > MAX_OPEN_LOCKS ? FEW : ALL;
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
 * Builds the nodes of schedules. With more than `MAX_SCHEDULE_NODES` schedules, includes only those that are not waiting, `MAX_SCHEDULE_NODES` at
 * most.
 */
function buildScheduleNodes(snapshot: Snapshot, viewContext: ViewContext): TreeNode[] {
  const all = buildScheduleRows(snapshot, viewContext);
  const shown = all.length > MAX_SCHEDULE_NODES ? all.filter(({ state }) => state !== "waiting") : all;
  const nodes = shown.slice(0, MAX_SCHEDULE_NODES).map(({ id, state }) => {
    const note = state === "waiting" ? "" : state;
    return createChildNode("schedules", id, { note, tone: getScheduleTone(state) });
  });
  return nodes.sort((a, b) => (a.label < b.label ? -1 : 1));
}

/** Id of the root of the contexts. */
export const CLUSTERS = "clusters";

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
