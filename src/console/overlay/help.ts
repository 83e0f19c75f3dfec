import { COMMANDS } from "../../commands/registry.ts";
import type { App } from "../app/app.ts";
import { type Action, actionsOf } from "../keys/actions.ts";
import { padTo } from "../theme/theme.ts";
import { TextOverlay } from "./text.ts";

/** All keys, made from the same declarations that say what they do. */
export function openHelp(app: App): void {
  const overlay: TextOverlay = new TextOverlay({
    title: "keys",
    lines: (width) => helpLines(app, width),
    close: () => app.overlays.close(overlay),
    onChange: () => app.changed(),
  });
  app.overlays.open(overlay);
}

const SIGNS_HELP = ["held", "free", "waiting", "problem"] as const;

/** Columns from which on there is room for the names by which keys are bound. */
const WIDE = 96;
const COLUMN = { key: 20, brief: 56 };

function helpLines({ theme, keymap }: App, width: number): string[] {
  const actions = actionsOf(COMMANDS);
  const line = ({ id, brief }: Action) => {
    const key = theme.style("key", padTo(keymap.keysOf(id).join(" "), COLUMN.key));
    const what = width < WIDE ? brief : `${padTo(brief, COLUMN.brief)} ${theme.style("quiet", id)}`;
    return `  ${key} ${what}`;
  };
  const rows = (context: Action["context"]) =>
    actions.filter((action) => action.context === context && keymap.keysOf(action.id).length > 0).map(line);
  const signs = SIGNS_HELP.map((tone) => theme.style(tone, `${theme.signs.marks[tone]}${tone}`));
  return [
    theme.style("heading", "Anywhere"),
    ...rows("global"),
    "",
    theme.style("heading", "In lists"),
    ...rows("list"),
    "",
    theme.style("heading", "Filters"),
    "  words that a row must have; host:web1 state:waiting holder:db1 narrow where they are looked for",
    "",
    `${theme.style("heading", "Signs")}   ${signs.join("   ")}`,
    "",
    theme.style(
      "quiet",
      'Keys can be rebound: "keyBindings" in the configuration file, see docs/console.md.',
    ),
  ];
}
