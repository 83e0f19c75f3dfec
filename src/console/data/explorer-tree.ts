import type { Problem } from "../../state/problem.ts";
import { computeShares, type ResourceShares } from "../../state/shares.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../../state/snapshot.ts";
import type { ViewContext } from "../../state/view-context.ts";
import { buildViewContext } from "../../state/view-context.ts";
import { getStateTone } from "../../views/columns.ts";
import { findProblems } from "../../views/problems.ts";
import { buildQueueRow } from "../../views/queues.ts";
import { buildScheduleRows, getScheduleTone } from "../../views/schedules.ts";
import type { TabId } from "../state/console-state.ts";
import type { RowList } from "../state/cursor.ts";
import type { ListedContext } from "./context-list.ts";
import {
  ATTENTION,
  buildAttentionNodes,
  buildAttentionRoot,
  buildResourceNodes,
  getQueueWaits,
  type TreeNode,
  type TreeSigns,
} from "./explorer-nodes.ts";

/** The current lines of the explorer, built again only when their inputs change. */
export class ExplorerTree implements RowList {
  nodes: readonly TreeNode[] = [];
  #known: readonly unknown[] = [];

  /** @param wall  ms since the epoch */
  update(
    { contexts = [], ...inputs }: TreeInputs & { contexts?: readonly ListedContext[] },
    wall: number,
    signs: TreeSigns,
  ): void {
    const now = [inputs.snapshot, inputs.counts, inputs.problems, inputs.open, contexts];
    if (now.every((one, at) => one === this.#known[at])) return;
    this.#known = now;
    this.nodes = [...buildTree(inputs, wall, signs), ...buildContextNodes(contexts, inputs.open)];
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

/** Number of rows by tab, for the tabs that can be counted cheaply. */
export type TabCounts = Partial<Record<TabId, number>>;

/** Roots with child nodes. */
const BRANCHES = ["locks", "resources", "hosts", "groups", "drains", "schedules"] as const;
const LEAVES = ["queues", "history", "audit", "problems"] as const;
const LABELS: Record<TabId, string> = {
  locks: "Locks",
  resources: "Resources",
  queues: "Queues",
  hosts: "Hosts",
  groups: "Groups",
  drains: "Drains",
  schedules: "Schedules",
  history: "History",
  audit: "Audit",
  problems: "Problems",
};

export function getTabLabel(tab: TabId): string {
  return LABELS[tab];
}

/** What the explorer shows. */
interface TreeInputs {
  snapshot: Snapshot;
  counts: TabCounts;
  problems: readonly Problem[];
  /** Ids of the unfolded nodes. */
  open: ReadonlySet<string>;
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
  return { id: tab, depth: 0, label: LABELS[tab], note: count === undefined ? "" : String(count), tone, tab };
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
      return buildNameNodes("hosts", [...snapshot.hosts.keys()]);
    case "groups":
      return buildNameNodes("groups", [...snapshot.groups.keys()]);
    case "schedules":
      return buildScheduleNodes(snapshot, viewContext);
    case "drains":
      return viewContext.drains.map(({ key, scope, name }) => ({
        id: `drains/${key}`,
        depth: 1,
        label: scope === "all" ? "everything" : name,
        note: scope,
        tone: "problem" as const,
        tab,
        key,
      }));
  }
}

/** With more locks than this, the locks are folded by default: the ones that need attention have their own nodes. */
const SEVERAL = 30;
/** The maximum number of schedule nodes. */
const MANY = 200;

const [FEW, ALL]: [ReadonlySet<string>, ReadonlySet<string>] = [
  new Set([ATTENTION, "resources", "clusters"]),
  new Set([ATTENTION, "locks", "resources", "clusters"]),
];

/** Returns the nodes that are unfolded until the user changes them. */
export function getDefaultUnfolded({ locks = 0 }: TabCounts): ReadonlySet<string> {
  return locks > SEVERAL ? FEW : ALL;
}

function buildLockNodes(snapshot: Snapshot, viewContext: ViewContext): TreeNode[] {
  const queues = [...snapshot.queues.values()].filter(({ kind }) => kind === "lock");
  return queues
    .map((queue) => buildLockNode(queue, viewContext))
    .sort((a, b) => (a.label < b.label ? -1 : 1));
}

function buildLockNode(queue: NamedQueue, viewContext: ViewContext): TreeNode {
  const { kind, name } = queue;
  const { state, waiters } = buildQueueRow(queue, viewContext);
  const note = waiters.length > 0 ? `+${waiters.length}` : "";
  const key = buildQueueId(kind, name);
  return { id: `locks/${name}`, depth: 1, label: name, note, tone: getStateTone(state), tab: "locks", key };
}

/**
 * Builds the nodes of schedules. With more than `MANY` schedules, includes only those that are not waiting, `MANY` at
 * most.
 */
function buildScheduleNodes(snapshot: Snapshot, viewContext: ViewContext): TreeNode[] {
  const all = buildScheduleRows(snapshot, viewContext);
  const shown = all.length > MANY ? all.filter(({ state }) => state !== "waiting") : all;
  const nodes = shown.slice(0, MANY).map(({ id, state }): TreeNode => {
    const note = state === "waiting" ? "" : state;
    return {
      id: `schedules/${id}`,
      depth: 1,
      label: id,
      note,
      tone: getScheduleTone(state),
      tab: "schedules",
      key: id,
    };
  });
  return nodes.sort((a, b) => (a.label < b.label ? -1 : 1));
}

function buildNameNodes(tab: "hosts" | "groups", names: string[]): TreeNode[] {
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

/** Id of the node that has the contexts. */
export const CLUSTERS = "clusters";

/** Builds the nodes of the contexts: none without contexts. @param open  ids of the unfolded nodes */
function buildContextNodes(contexts: readonly ListedContext[], open: ReadonlySet<string>): TreeNode[] {
  if (contexts.length === 0) return [];
  const isOpen = open.has(CLUSTERS);
  const root: TreeNode = {
    id: CLUSTERS,
    depth: 0,
    label: "Clusters",
    note: String(contexts.length),
    tone: "plain",
    isOpen,
    tab: "problems",
  };
  return isOpen ? [root, ...contexts.map(buildContextNode)] : [root];
}

function buildContextNode({ name, label, isActive, note, tone }: ListedContext): TreeNode {
  return {
    id: `${CLUSTERS}/${name ?? ""}`,
    depth: 1,
    label,
    note: isActive ? `${note} shown`.trim() : note,
    tone: isActive ? "held" : tone,
    tab: "problems",
    context: { name },
  };
}

/**
 * Problems also appear as time passes. They are counted at least `EVERY` ms apart, and `RARELY` times as far apart as
 * the count takes, but never more than `SELDOM` ms apart.
 */
const EVERY = 500;
const RARELY = 100;
const SELDOM = 10_000;

/** Counts before the first read: unknown, not zero. */
const UNREAD: TabCounts = {};

/** Counts the rows of the tabs without building them. */
export class TabCounter {
  #known: { snapshot: Snapshot; counts: TabCounts } | undefined;
  #problems: { list: readonly Problem[]; due: number } = { list: [], due: 0 };
  readonly #now: () => number;

  /** @param now  monotonic clock, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The problems counted last. */
  get problems(): readonly Problem[] {
    return this.#problems.list;
  }

  /** @param wall  ms since the epoch @returns the same object as long as no count changes */
  countTabs(snapshot: Snapshot, wall: number): TabCounts {
    if (snapshot.revision === 0n) return UNREAD;
    const problems = this.#countProblems(snapshot, wall);
    const known = this.#known;
    if (known?.snapshot === snapshot && known.counts.problems === problems) return known.counts;
    const rest = known?.snapshot === snapshot ? known.counts : countRows(snapshot);
    const counts = { ...rest, problems };
    this.#known = { snapshot, counts };
    return counts;
  }

  #countProblems(snapshot: Snapshot, wall: number): number {
    const start = this.#now();
    if (start < this.#problems.due) return this.#problems.list.length;
    const list = findProblems(snapshot, wall);
    const end = this.#now();
    this.#problems = { list, due: end + Math.min(SELDOM, Math.max(EVERY, RARELY * (end - start))) };
    return list.length;
  }
}

function countRows(snapshot: Snapshot): TabCounts {
  const locks = new Set(snapshot.histories.keys());
  const resources = new Set(snapshot.resources.keys());
  let [queues, history] = [0, 0];
  for (const queue of snapshot.queues.values()) {
    const { kind, name } = queue;
    if (kind === "lock") locks.add(name);
    else resources.add(name);
    queues += getQueueWaits(queue).count;
  }
  for (const runs of snapshot.histories.values()) history += runs.length;
  return {
    locks: locks.size,
    resources: resources.size,
    queues,
    hosts: snapshot.hosts.size,
    groups: snapshot.groups.size,
    drains: snapshot.drains.size,
    schedules: snapshot.schedules.size,
    history,
    audit: snapshot.audit.size,
  };
}
