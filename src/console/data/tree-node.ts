import type { Tone } from "../../model/views/view.ts";
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
  /** The context that it leads to instead; `name` is undefined for the settings of no context. */
  context?: { name: string | undefined };
}
