import type { Drain } from "../../protocol/drain.ts";
import { buildProblemId, formatQueueName, type Problem } from "../../state/problem.ts";
import {
  computeQueueTally,
  findFullestShare,
  getShareTone,
  type ResourceShare,
  type ResourceShares,
  renderShareBar,
} from "../../state/shares.ts";
import { buildQueueId, type NamedQueue, type Snapshot } from "../../state/snapshot.ts";
import type { Tone } from "../../state/subject.ts";
import { shortenOwner, shortenResourceName } from "../../views/columns.ts";
import { selectFirst } from "../../views/overview.ts";
import type { TabId } from "../state/console-state.ts";

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
export interface TreeSigns {
  bar: readonly [string, string];
  marks: Readonly<Record<Tone, string>>;
}

/**
 * Builds the nodes of resources: first those without a host, then the others by host.
 * @param open  ids of the unfolded nodes
 */
export function buildResourceNodes(
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
export function buildAttentionRoot(note: string, isOpen: boolean | undefined): TreeNode {
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
