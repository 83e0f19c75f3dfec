import type { Picture } from "../../model/picture.ts";
import type { TreeNode } from "./node.ts";

/** Resources, those of one host together: `web1  cpu ▇▇▇▁ 3/4`. */
export function resourceNodes(
  picture: Picture,
  _open: ReadonlySet<string>,
  _signs: { isAscii: boolean },
): TreeNode[] {
  const names = new Set([
    ...picture.resources.keys(),
    ...[...picture.queues.values()].flatMap(({ kind, name }) => (kind === "resource" ? [name] : [])),
  ]);
  return [...names].sort().map((name) => ({
    ...{ id: `resources/${name}`, depth: 1, label: name, note: "", tone: "plain" as const },
    ...{ tab: "resources" as const, key: `resource/${name}` },
  }));
}
