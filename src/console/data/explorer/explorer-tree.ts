import type { Snapshot } from "../../../model/snapshot/snapshot.ts";
import type { RowList } from "../../state/cursor.ts";
import { buildTree, type TabCounts } from "./build-tree.ts";
import { buildFavouriteNodes } from "./favourites.ts";
import type { TreeSigns } from "./resource-nodes.ts";
import type { TreeNode } from "./tree-node.ts";

const NO_FAVOURITES: ReadonlySet<string> = new Set();

/** The current lines of the explorer, built again only when their inputs change. */
export class ExplorerTree implements RowList {
  nodes: readonly TreeNode[] = [];
  #known: readonly unknown[] = [];

  update(
    snapshot: Snapshot,
    counts: TabCounts,
    open: ReadonlySet<string>,
    wall: number,
    signs: TreeSigns,
    favourites: ReadonlySet<string> = NO_FAVOURITES,
  ): void {
    const now = [snapshot, counts, open, favourites];
    if (now.every((one, at) => one === this.#known[at])) return;
    this.#known = now;
    this.nodes = [
      ...buildFavouriteNodes(favourites, snapshot, open, wall),
      ...buildTree(snapshot, counts, open, wall, signs),
    ];
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
