import { type Picture, queueId } from "../../model/picture.ts";
import { briefWho } from "../../model/tables/cells.ts";
import { type Share, shareBar, sharesOf, shareTone } from "../../model/tables/shares.ts";
import type { TreeNode } from "./node.ts";

/** Signs of a bar: a full cell and an empty one. */
export interface TreeSigns {
  bar: readonly [string, string];
}

/** Resources: those that belong to no host, then host by host those that do. @param open  ids of what is unfolded */
export function resourceNodes(picture: Picture, open: ReadonlySet<string>, signs: TreeSigns): TreeNode[] {
  const { hosts, others } = sharesOf(picture);
  const byHost = hosts.flatMap(({ host, parts }): TreeNode[] => {
    const id = `resources@${host}`;
    const isOpen = open.has(id);
    const note = isOpen ? "" : parts.map(({ short }) => short).join(" ");
    const node: TreeNode = {
      id,
      depth: 1,
      label: briefWho(host),
      note,
      tone: "plain",
      isOpen,
      tab: "resources",
    };
    return isOpen ? [node, ...parts.map((share) => shareNode(share, 2, signs))] : [node];
  });
  return [...others.map((share) => shareNode(share, 1, signs)), ...byHost];
}

function shareNode(share: Share, depth: number, { bar }: TreeSigns): TreeNode {
  const { name, short, used, total } = share;
  const tone = shareTone(share);
  const note = `${shareBar(share, bar)} ${`${used}/${total ?? "?"}`.padStart(5)}`;
  const key = queueId("resource", name);
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
