import {
  computeShares,
  getShareTone,
  type ResourceShare,
  renderShareBar,
} from "../../../model/rows/shares.ts";
import { buildQueueId, type Snapshot } from "../../../model/snapshot/snapshot.ts";
import { shortenOwner } from "../../../model/tables/cells.ts";
import type { TreeNode } from "./tree-node.ts";

/** Characters of a bar: full and empty. */
export interface TreeSigns {
  bar: readonly [string, string];
}

/**
 * Builds the nodes of resources: first those without a host, then the others by host. @param open  ids of the
 * unfolded nodes
 */
export function buildResourceNodes(
  snapshot: Snapshot,
  open: ReadonlySet<string>,
  signs: TreeSigns,
): TreeNode[] {
  const { hosts, others } = computeShares(snapshot);
  const byHost = hosts.flatMap(({ host, parts }): TreeNode[] => {
    const id = `resources@${host}`;
    const isOpen = open.has(id);
    const note = isOpen ? "" : parts.map(({ short }) => short).join(" ");
    const node: TreeNode = {
      id,
      depth: 1,
      label: shortenOwner(host),
      note,
      tone: "plain",
      isOpen,
      tab: "resources",
    };
    return isOpen ? [node, ...parts.map((share) => buildShareNode(share, 2, signs))] : [node];
  });
  return [...others.map((share) => buildShareNode(share, 1, signs)), ...byHost];
}

function buildShareNode(share: ResourceShare, depth: number, { bar }: TreeSigns): TreeNode {
  const { name, short, used, total } = share;
  const tone = getShareTone(share);
  const note = `${renderShareBar(share, bar)} ${`${used}/${total ?? "?"}`.padStart(5)}`;
  const key = buildQueueId("resource", name);
  return {
    id: `resources/${name}`,
    depth,
    label: short,
    note,
    tone: tone === "free" ? "plain" : tone,
    tab: "resources",
    key,
  };
}
