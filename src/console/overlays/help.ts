import { COMMANDS } from "../../commands/registry/registry.ts";
import { type KeyAction, listKeyActions } from "../actions/keys/key-actions.ts";
import type { App } from "../app.ts";
import { padToWidth } from "../theme/theme.ts";
import { TextOverlay } from "./text-overlay.ts";

/** Opens a list of all keys, built from the declarations of the key actions. */
export function openHelp(app: App): void {
  const overlay: TextOverlay = new TextOverlay({
    title: "keys",
    renderLines: (width) => renderHelpLines(app, width),
    close: () => app.overlays.close(overlay),
    onChange: () => app.notifyChange(),
  });
  app.overlays.open(overlay);
}

const SIGNS_HELP = ["held", "free", "waiting", "problem"] as const;

/** Minimum number of columns for also showing the action ids used in key bindings. */
const WIDE = 96;
const COLUMN = { key: 20, brief: 56 };

function renderHelpLines({ theme, keymap }: App, width: number): string[] {
  const actions = listKeyActions(COMMANDS);
  const renderAction = ({ id, brief }: KeyAction) => {
    const key = theme.style("key", padToWidth(keymap.getKeyLabels(id).join(" "), COLUMN.key));
    const what = width < WIDE ? brief : `${padToWidth(brief, COLUMN.brief)} ${theme.style("quiet", id)}`;
    return `  ${key} ${what}`;
  };
  const renderActions = (context: KeyAction["context"]) =>
    actions
      .filter((action) => action.context === context && keymap.getKeyLabels(action.id).length > 0)
      .map(renderAction);
  const signs = SIGNS_HELP.map((tone) => theme.style(tone, `${theme.signs.marks[tone]}${tone}`));
  return [
    theme.style("heading", "Anywhere"),
    ...renderActions("global"),
    "",
    theme.style("heading", "In lists"),
    ...renderActions("list"),
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
