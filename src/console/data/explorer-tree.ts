import type { RowList } from "../state/cursor.ts";
import { buildTree, type TreeInputs } from "./build-tree.ts";
import type { ListedContext } from "./context-list.ts";
import { buildContextNodes } from "./context-nodes.ts";
import type { TreeSigns } from "./resource-nodes.ts";
import type { TreeNode } from "./tree-node.ts";

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
