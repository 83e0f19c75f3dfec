import {
  getShareTone,
  type ResourceShare,
  type ResourceShares,
  renderShareBar,
} from "../../model/rows/shares.ts";
import { buildQueueId } from "../../model/snapshot/snapshot.ts";
import { shortenOwner } from "../../model/tables/cells.ts";
import type { Tone } from "../../model/views/view.ts";
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
  { hosts, others }: ResourceShares,
  open: ReadonlySet<string>,
  signs: TreeSigns,
): TreeNode[] {
  const byHost = hosts.flatMap(({ host, parts }): TreeNode[] => {
    const id = `resources@${host}`;
    const isOpen = open.has(id);
    const fullest = findFullest(parts);
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

/** Returns the resource of a host with the largest part in use, which stands for all of them. */
function findFullest(parts: readonly ResourceShare[]): ResourceShare | undefined {
  const computePart = ({ used, total }: ResourceShare) =>
    total === undefined ? 0 : used / Math.max(1, total);
  return parts.reduce<ResourceShare | undefined>(
    (most, part) => (most === undefined || computePart(part) > computePart(most) ? part : most),
    undefined,
  );
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
