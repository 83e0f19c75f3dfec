import type { Picture } from "../../model/picture.ts";
import type { Rows } from "../state/cursor.ts";
import type { TreeNode } from "./node.ts";
import type { TreeSigns } from "./resource-nodes.ts";
import { type Counts, treeOf } from "./tree.ts";

/** The explorer's lines as they are now, made anew only when something in them has changed. */
export class Tree implements Rows {
  nodes: readonly TreeNode[] = [];
  #known: readonly unknown[] = [];

  update(picture: Picture, counts: Counts, open: ReadonlySet<string>, wall: number, signs: TreeSigns): void {
    const now = [picture, counts, open];
    if (now.every((one, at) => one === this.#known[at])) return;
    this.#known = now;
    this.nodes = treeOf(picture, counts, open, wall, signs);
  }

  get length(): number {
    return this.nodes.length;
  }

  keyAt(index: number): string | undefined {
    return this.nodes[index]?.id;
  }

  indexOf(key: string, near: number): number {
    if (this.nodes[near]?.id === key) return near;
    return this.nodes.findIndex(({ id }) => id === key);
  }
}
