import type { TabId } from "../state/console-state.ts";

/** The kinds of palette entries. */
export const ENTRY_KINDS = [
  "command",
  "action",
  "view",
  "context",
  "lock",
  "resource",
  "host",
  "group",
  "schedule",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** What choosing an entry does. */
export type PaletteChoice =
  /** Runs a command of the registry, by its id. With arguments, it does not apply to the selected rows. */
  | { kind: "command"; id: string; args?: readonly string[] }
  /** Runs an action of the console, by the id that keys are bound to. */
  | { kind: "action"; id: string }
  /** Shows the console as it was at a time, as typed. */
  | { kind: "travel"; time: string }
  /** Shows the cluster of another context. */
  | { kind: "context"; name: string | undefined }
  /** Goes to a tab, and optionally to a row in it. */
  | { kind: "go"; tab: TabId; key?: string };

/** An entry of the palette. Its texts are clean. */
export interface PaletteEntry {
  /** Stays the same each time the palette opens: recent entries are stored by id. */
  readonly id: string;
  readonly kind: EntryKind;
  readonly label: string;
  /** What it does; for a name, its kind. */
  readonly detail: string;
  /** As displayed: `Ctrl+P`. */
  readonly keys: readonly string[];
  /** Why it cannot be chosen now; undefined if it can. */
  readonly disabled?: string;
  readonly choice: PaletteChoice;
}

/** Whether an entry runs something, rather than going somewhere. */
export function isExecutable({ kind }: PaletteEntry): boolean {
  return kind === "command" || kind === "action";
}
