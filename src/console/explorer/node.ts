import type { Tone } from "../../model/tables/view.ts";
import type { TabId } from "../state/state.ts";

/** A line of the explorer. */
export interface TreeNode {
  id: string;
  depth: number;
  label: string;
  /** Shown at the right edge. */
  note: string;
  tone: Tone;
  /** Whether what is below it is shown; undefined where there is nothing. */
  isOpen?: boolean;
  /** Where it leads: a tab, and a row in it. */
  tab: TabId;
  key?: string;
}
