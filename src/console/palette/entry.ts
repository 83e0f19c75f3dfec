import type { TabId } from "../state/state.ts";

/** What there is to choose in the palette. */
export const ENTRY_KINDS = [
  "command",
  "action",
  "view",
  "lock",
  "resource",
  "host",
  "group",
  "schedule",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** What choosing an entry does. */
export type Choice =
  /** A command of the registry, by its id. */
  | { kind: "command"; id: string }
  /** Something the console does, by the id that keys are bound to. */
  | { kind: "action"; id: string }
  /** Goes to a tab, and to a row in it. */
  | { kind: "go"; tab: TabId; key?: string };

/** A line of the palette. Texts are clean. */
export interface Entry {
  /** The same from one palette to the next: what was used lately is remembered by it. */
  readonly id: string;
  readonly kind: EntryKind;
  readonly label: string;
  /** What it does; of a name, what it is. */
  readonly detail: string;
  /** As they are shown: `Ctrl+P`. */
  readonly keys: readonly string[];
  /** Why it cannot be chosen now; undefined where it can. */
  readonly disabled?: string;
  readonly choice: Choice;
}

/** Whether an entry is something to do, not something to go to. */
export function isDoing({ kind }: Entry): boolean {
  return kind === "command" || kind === "action";
}
