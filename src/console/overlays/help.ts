import { COMMANDS } from "../../commands/registry/registry.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { type KeyAction, listKeyActions } from "../parts/key-actions.ts";
import { BLANK_ROW } from "../parts/overlay.ts";
import { createRow, padText, type RowCell, type RowModel } from "../theme/cells.ts";
import { openText } from "./text-overlay.ts";

/** Opens a list of all keys, built from the declarations of the key actions. */
export function openHelp(app: ConsoleParts): void {
  openText(app, {
    title: "keys",
    buildRows: (width) => buildHelpRows(app, width),
  });
}

const SIGNS_HELP = ["held", "free", "waiting", "problem"] as const;

/** Minimum number of columns for also showing the action ids used in key bindings. */
const WIDE = 96;
const COLUMN = { key: 20, brief: 56 };

function buildHelpRows({ theme, keymap }: ConsoleParts, width: number): RowModel[] {
  const actions = listKeyActions(COMMANDS);
  const buildActionRow = ({ id, brief }: KeyAction): RowModel => {
    const key = padText(keymap.getKeyLabels(id).join(" "), COLUMN.key);
    const what: RowCell[] =
      width < WIDE
        ? [{ text: brief }]
        : [{ text: `${padText(brief, COLUMN.brief)} ` }, { text: id, role: "quiet" }];
    return { cells: [{ text: "  " }, { text: key, role: "key" }, { text: " " }, ...what] };
  };
  const buildActionRows = (context: KeyAction["context"]) =>
    actions
      .filter((action) => action.context === context && keymap.getKeyLabels(action.id).length > 0)
      .map(buildActionRow);
  const signs = SIGNS_HELP.flatMap((tone): RowCell[] => [
    { text: "   " },
    { text: `${theme.signs.marks[tone]}${tone}`, role: tone },
  ]);
  return [
    createRow("Anywhere", "heading"),
    ...buildActionRows("global"),
    BLANK_ROW,
    createRow("In lists", "heading"),
    ...buildActionRows("list"),
    BLANK_ROW,
    createRow("Filters", "heading"),
    createRow(
      "  words that a row must have; host:web1 state:waiting holder:db1 tag:x search only this field",
    ),
    createRow('  !word excludes; /re/ is a pattern; "two words"; since:>1h waiting:>3 compare a column'),
    BLANK_ROW,
    { cells: [{ text: "Signs", role: "heading" }, ...signs] },
    BLANK_ROW,
    createRow('Keys can be rebound: "keyBindings" in the configuration file, see docs/console.md.', "quiet"),
  ];
}
