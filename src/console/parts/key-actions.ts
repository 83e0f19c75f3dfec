import type { RowCommandId } from "../../commands/registry/registry.ts";
import { type Command, isRowCommand } from "../../commands/spec.ts";
import type { Subject } from "../../state/subject.ts";

/** An action that can be bound to keys. */
export interface KeyAction {
  id: string;
  brief: string;
  /** Its default keys, as chords. */
  keys: readonly string[];
  /** `list` actions also need a list under the cursor. A key can be bound in one of the contexts only. */
  context: "global" | "list";
  /**
   * It changes something in etcd. It cannot be bound to a key with Ctrl, because those are easily pressed by mistake.
   */
  isChange?: true;
  /** The kinds of rows that it applies to. The menu of such a row lists it. */
  rows?: readonly Subject["kind"][] | "any";
}

const CONFIGURED = ["group", "resource", "schedule"] as const;

const WATCHED = ["lock", "resource", "host", "group", "schedule", "run", "drain"] as const;

/** The console's own actions, in the order of the help. */
const OWN = [
  { id: "palette", brief: "find a command, a lock, a host…", keys: [":", "f1", "ctrl+p"], context: "global" },
  { id: "filter", brief: "show only rows with some words", keys: ["/"], context: "global" },
  { id: "help", brief: "all keys", keys: ["?"], context: "global" },
  { id: "nextTab", brief: "next tab", keys: ["]"], context: "global" },
  { id: "previousTab", brief: "previous tab", keys: ["["], context: "global" },
  { id: "nextPane", brief: "next pane", keys: ["tab"], context: "global" },
  { id: "previousPane", brief: "previous pane", keys: ["shift+tab"], context: "global" },
  { id: "pane1", brief: "explorer", keys: ["1"], context: "global" },
  { id: "pane2", brief: "table", keys: ["2"], context: "global" },
  { id: "pane3", brief: "detail", keys: ["3"], context: "global" },
  { id: "pane4", brief: "panel", keys: ["4"], context: "global" },
  { id: "pane5", brief: "jobs", keys: ["5"], context: "global" },
  { id: "explorer", brief: "show or hide the explorer", keys: ["b"], context: "global" },
  { id: "panel", brief: "show or hide the panel", keys: ["J"], context: "global" },
  { id: "zoom", brief: "give the pane the whole screen, and back", keys: ["z"], context: "global" },
  { id: "larger", brief: "make the pane larger", keys: ["="], context: "global" },
  { id: "smaller", brief: "make the pane smaller", keys: ["-"], context: "global" },
  { id: "resetSizes", brief: "return all panes to their usual sizes", keys: [], context: "global" },
  { id: "reread", brief: "read everything again", keys: ["R"], context: "global" },
  { id: "theme", brief: "next theme", keys: ["T"], context: "global" },
  { id: "travel", brief: "show a past time; in the past: return to live", keys: ["a"], context: "global" },
  { id: "olderChange", brief: "in the past: before the last change", keys: ["{"], context: "global" },
  { id: "newerChange", brief: "in the past: after the next change", keys: ["}"], context: "global" },
  { id: "redraw", brief: "repaint the screen", keys: ["ctrl+l"], context: "global" },
  { id: "suspend", brief: "suspend; fg in the shell returns", keys: ["ctrl+z"], context: "global" },
  {
    id: "collisions",
    brief: "schedules that compete, and other minutes",
    keys: [],
    context: "global",
    rows: ["schedule"],
  },
  { id: "back", brief: "back: out of a pane, a range, marks, a filter", keys: ["escape"], context: "global" },
  {
    id: "placeBack",
    brief: "back to the place before the last jump",
    keys: ["<", "alt+left"],
    context: "global",
  },
  { id: "placeForward", brief: "forward again", keys: [">", "alt+right"], context: "global" },
  { id: "quit", brief: "quit", keys: ["q"], context: "global" },
  { id: "up", brief: "up", keys: ["up", "k"], context: "list" },
  { id: "down", brief: "down", keys: ["down", "j"], context: "list" },
  { id: "top", brief: "first row", keys: ["g", "home"], context: "list" },
  { id: "bottom", brief: "last row", keys: ["G", "end"], context: "list" },
  { id: "pageUp", brief: "a page up", keys: ["pageup", "ctrl+b"], context: "list" },
  { id: "pageDown", brief: "a page down", keys: ["pagedown", "ctrl+f"], context: "list" },
  { id: "left", brief: "fold, or the pane to the left", keys: ["left", "h"], context: "list" },
  { id: "right", brief: "unfold, or the pane to the right", keys: ["right"], context: "list" },
  { id: "open", brief: "open", keys: ["enter"], context: "list", rows: "any" },
  { id: "menu", brief: "menu of the row: all that applies to it", keys: ["."], context: "list" },
  { id: "mark", brief: "mark the row, to act on several", keys: ["space"], context: "list", rows: "any" },
  { id: "range", brief: "begin a range of marks; again: end it", keys: ["v"], context: "list" },
  { id: "unmark", brief: "clear all marks", keys: ["u"], context: "list" },
  { id: "sort", brief: "sort by the next column", keys: ["s"], context: "list" },
  { id: "reverse", brief: "reverse the sort order", keys: ["S"], context: "list" },
  { id: "columns", brief: "choose the columns of the table, and their order", keys: ["o"], context: "list" },
  { id: "views", brief: "saved views: open one, or save what is shown", keys: ["F"], context: "list" },
  { id: "export", brief: "write what is shown into a file", keys: ["O"], context: "list" },
  { id: "copy", brief: "copy the name", keys: ["y"], context: "list", rows: "any" },
  { id: "copyJson", brief: "copy the row as JSON", keys: ["Y"], context: "list", rows: "any" },
  {
    id: "copyCommand",
    brief: "copy the command line for this view",
    keys: ["c"],
    context: "list",
    rows: "any",
  },
  {
    id: "copyRun",
    brief: "copy the command line that runs the lock's job again",
    keys: ["r"],
    context: "list",
    rows: ["lock"],
  },
  { id: "pager", brief: "show this in the pager", keys: ["p"], context: "list", rows: "any" },
  { id: "editor", brief: "open this in the editor", keys: ["E"], context: "list", rows: "any" },
  {
    id: "raw",
    brief: "the keys in etcd, and their earlier values",
    keys: ["V"],
    context: "list",
    rows: "any",
  },
  {
    id: "why",
    brief: "why does the run wait?",
    keys: ["w"],
    context: "list",
    rows: ["lock", "resource", "run", "schedule"],
  },
  {
    id: "whyDidItNotRun",
    brief: "why a schedule or lock did not run at a time",
    keys: [],
    context: "list",
    rows: ["lock", "schedule"],
  },
  {
    id: "timeline",
    brief: "who held it when, who waited, when it was drained",
    keys: ["t"],
    context: "list",
    rows: ["lock", "resource", "host", "schedule"],
  },
  {
    id: "whatIf",
    brief: "what a drain, a reset or a new total would do",
    keys: ["i"],
    context: "list",
    rows: ["lock", "resource", "host", "group"],
  },
  {
    id: "notifyMe",
    brief: "tell me when the row changes; again: no longer",
    keys: ["A"],
    context: "list",
    rows: WATCHED,
  },
  {
    id: "output",
    brief: "what the run writes, live",
    keys: ["l"],
    context: "list",
    rows: ["lock", "schedule", "run"],
  },
  {
    id: "edit",
    brief: "edit the group, resource or schedule",
    keys: ["e"],
    context: "list",
    isChange: true,
    rows: CONFIGURED,
  },
  {
    id: "create",
    brief: "create a group, resource, drain or schedule",
    keys: ["n"],
    context: "list",
    isChange: true,
  },
  {
    id: "delete",
    brief: "delete the group, resource or schedule",
    keys: ["delete"],
    context: "list",
    isChange: true,
    rows: CONFIGURED,
  },
] as const satisfies readonly KeyAction[];

/** The id of an action: each has a handler. */
export type KeyActionId = (typeof OWN)[number]["id"] | RowCommandId;

/** Lists all actions that can be bound to keys: the console's own, and the commands that declare a key. */
export function listKeyActions(commands: readonly Command[]): KeyAction[] {
  const own = commands.filter(isRowCommand).map(
    ({ id, brief, rows: { key, kinds } }): KeyAction => ({
      id,
      brief,
      keys: [key],
      rows: kinds,
      context: "list",
      isChange: true,
    }),
  );
  return [...OWN, ...own];
}
