import type { Hint } from "../parts/overlay.ts";
import type { DataAccess, KeymapAccess, SettingsAccess, StateAccess, SubjectAccess } from "../parts/parts.ts";

type HintsParts = DataAccess & KeymapAccess & SettingsAccess & StateAccess & SubjectAccess;

/** Actions that always have a hint: first those that lead to all others, then the rest. */
const FIRST = ["help", "palette"] as const;
const ALSO = ["filter", "quit"] as const;
/** Number of context actions before the other hints. Small screens have little more room. */
const MOST = 2;
const SHORT: Readonly<Record<string, string>> = {
  palette: "palette",
  filter: "filter",
  help: "help",
  quit: "quit",
  open: "open",
  back: "back",
  drain: "drain",
  undrain: "undrain",
  reset: "reset",
  release: "release",
  edit: "edit",
  create: "new",
  "schedule pause": "pause",
  "schedule resume": "resume",
  "schedule trigger": "run now",
  travel: "return to live",
  olderChange: "change before",
  newerChange: "next change",
  nextPane: "pane",
  mark: "mark",
  why: "why",
};

/** Lists the keys that are useful in the present context, the most important first. */
export function buildHints(app: HintsParts): Hint[] {
  const here = listContextActions(app);
  const first = app.liveView.past === undefined ? FIRST : ["travel", ...FIRST];
  return [...first, ...here.slice(0, MOST), ...ALSO, ...here.slice(MOST)].flatMap((id): Hint[] => {
    const [key] = app.keymap.getKeyLabels(id);
    return key === undefined ? [] : [[key, SHORT[id] ?? id]];
  });
}

function listContextActions(app: HintsParts): string[] {
  const { state, isReadOnly, liveView } = app;
  if (liveView.past !== undefined) return ["olderChange", "newerChange", "nextPane"];
  if (state.focus !== "table") return ["open", "nextPane"];
  if (isReadOnly) return ["nextPane"];
  const kind = app.getSubject()?.kind;
  switch (kind) {
    case "lock":
    case "resource":
      return ["drain", "reset", ...(kind === "resource" ? ["edit"] : []), "mark"];
    case "run":
      return ["release", "why", "mark"];
    case "host":
      return ["drain", "undrain", "mark"];
    case "group":
      return ["drain", "edit", "create"];
    case "schedule":
      return ["schedule trigger", "schedule pause", "schedule resume", "edit", "mark"];
    case "drain":
      return ["undrain"];
    default:
      return ["nextPane"];
  }
}
