import { COMMANDS } from "../../commands/registry.ts";
import type { App } from "../app/app.ts";
import { actionsOf } from "../keys/actions.ts";
import { padTo } from "../theme/theme.ts";
import { TextOverlay } from "./text.ts";

/** All keys, made from the same declarations that say what they do. */
export function openHelp(app: App): void {
  const overlay: TextOverlay = new TextOverlay({
    title: "keys",
    lines: () => helpLines(app),
    close: () => app.overlays.close(overlay),
    onChange: () => app.changed(),
  });
  app.overlays.open(overlay);
}

const SIGNS_HELP = ["held", "free", "waiting", "problem"] as const;

function helpLines({ theme, keymap }: App): string[] {
  const actions = actionsOf(COMMANDS);
  const rows = (context: "global" | "list") =>
    actions
      .filter((action) => action.context === context && keymap.keysOf(action.id).length > 0)
      .map(({ id, brief }) => `  ${theme.style("key", padTo(keymap.keysOf(id).join(" "), 20))} ${brief}`);
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
    theme.style("quiet", 'Keys can be rebound: "keys" in the configuration file, see docs/console.md.'),
  ];
}
