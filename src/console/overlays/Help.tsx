import type { ConsoleApp } from "../console-app.ts";
import { type KeyAction, TAB_KEYS } from "../parts/keymap.ts";
import { BLANK_ROW, createRow, padText, type RowCell, type RowModel, wrapRows } from "../theme/Row.tsx";
import { useOverlay } from "./OverlayFrame.tsx";
import { TextView } from "./output.tsx";

/** All keys, from the declarations of the key actions. */
export function Help() {
  const { app } = useOverlay();
  return <TextView title="keys" buildRows={(width) => buildHelpRows(app, width)} />;
}

const SIGNS_HELP = ["held", "free", "waiting", "problem"] as const;

/** Minimum number of columns for also showing the action ids used in key bindings. */
const MIN_COLUMNS_FOR_IDS = 96;
const COLUMN_WIDTHS = { key: 20, brief: 56 };

function buildHelpRows({ theme, keymap, actions }: ConsoleApp, width: number): RowModel[] {
  const buildActionRow = ({ id, brief }: KeyAction): RowModel => {
    const key = padText(keymap.getKeyLabels(id).join(" "), COLUMN_WIDTHS.key);
    const what: RowCell[] =
      width < MIN_COLUMNS_FOR_IDS
        ? [{ text: brief }]
        : [{ text: `${padText(brief, COLUMN_WIDTHS.brief)} ` }, { text: id, role: "quiet" }];
    return { cells: [{ text: "  " }, { text: key, role: "key" }, { text: " " }, ...what] };
  };
  const isTab = ({ id }: KeyAction) => Object.hasOwn(TAB_KEYS, id);
  const bound = actions.filter(({ id }) => keymap.getKeyLabels(id).length > 0);
  const buildActionRows = (context: KeyAction["context"]) =>
    bound.filter((action) => action.context === context && !isTab(action)).map(buildActionRow);
  const signs = SIGNS_HELP.flatMap((tone): RowCell[] => [
    { text: "   " },
    { text: `${theme.signs.marks[tone]}${tone}`, role: tone },
  ]);
  const wrap = (text: string, role?: "quiet") => wrapRows(theme, [text], width, role);
  return [
    ...wrap("1 to 5 choose a part of the screen, [ and ] a tab; : and a word goes anywhere.", "quiet"),
    BLANK_ROW,
    createRow("Anywhere", "heading"),
    ...buildActionRows("global"),
    BLANK_ROW,
    createRow("In lists", "heading"),
    ...buildActionRows("list"),
    BLANK_ROW,
    createRow("Tabs", "heading"),
    ...bound.filter(isTab).map(buildActionRow),
    BLANK_ROW,
    createRow("Filters", "heading"),
    ...wrap("  words that a row must have; host:web1 state:waiting holder:db1 tag:x search only this field"),
    ...wrap('  !word excludes; /re/ is a pattern; "two words"; since:>1h waiting:>3 compare a column'),
    BLANK_ROW,
    { cells: [{ text: "Signs", role: "heading" }, ...signs] },
    BLANK_ROW,
    ...wrap(
      "Text selection by the mouse: hold Shift (iTerm2: Option, macOS Terminal: Fn); --no-mouse gives it the mouse for good.",
    ),
    ...wrap('Keys can be rebound: "keyBindings" in the configuration file, see docs/console.md.', "quiet"),
  ];
}
