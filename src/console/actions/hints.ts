import type { Hint } from "../parts/overlay.ts";
import type { ConsoleData } from "../parts/parts.ts";

/** Actions that always have a hint: first those that lead to all others, then the rest. */
const FIRST = ["help", "palette"] as const;
const ALSO = ["filter", "quit"] as const;
/** Number of context actions before the other hints. Small screens have little more room. */
const MOST = 2;
const SHORT: Readonly<Record<string, string>> = {
  ...{ palette: "palette", filter: "filter", help: "help", quit: "quit", open: "open", back: "back" },
  ...{ drain: "drain", undrain: "undrain", reset: "reset", release: "release", edit: "edit", create: "new" },
  ...{ "schedule pause": "pause", "schedule resume": "resume", "schedule trigger": "run now" },
  ...{ nextPane: "pane", mark: "mark", why: "why" },
};

/** Lists the keys that are useful in the present context, the most important first. */
export function buildHints(app: ConsoleData): Hint[] {
  const here = listContextActions(app);
  return [...FIRST, ...here.slice(0, MOST), ...ALSO, ...here.slice(MOST)].flatMap((id): Hint[] => {
    const [key] = app.keymap.getKeyLabels(id);
    return key === undefined ? [] : [[key, SHORT[id] ?? id]];
  });
}

function listContextActions(app: ConsoleData): string[] {
  const { state, isReadOnly } = app;
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
