import type { ListedContext } from "./context-list.ts";
import type { TreeNode } from "./tree-node.ts";

/** Id of the node that has the contexts. */
export const CLUSTERS = "clusters";

/** Builds the nodes of the contexts: none without contexts. @param open  ids of the unfolded nodes */
export function buildContextNodes(contexts: readonly ListedContext[], open: ReadonlySet<string>): TreeNode[] {
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
