/** Generates docs/console-keys.md from the declarations of the console's actions. */

import type { Command } from "../../src/cli/frame/command.ts";
import { type KeyAction, listKeyActions } from "../../src/console/parts/keymap.ts";
import { formatChord } from "../../src/core/base/chord.ts";
import { renderMarkdownTable } from "./markdown.ts";

/** @param commands  those that declare a key act on rows */
export function renderKeysPage(commands: readonly Command[]): string {
  const actions = listKeyActions(commands);
  const renderActions = (context: KeyAction["context"]) =>
    renderMarkdownTable(
      ["keys", "what", "action"],
      actions
        .filter((action) => action.context === context)
        .map(({ id, brief, keys, isChange }) => [
          keys.map((key) => `\`${formatChord(key)}\``).join(" "),
          isChange ? `${brief} (changes etcd, after a preview)` : brief,
          `\`${id}\``,
        ]),
    );
  return [
    "# Keys of the console",
    "",
    "Made from the program by `npm run docs`; changes go into `src/console/parts/keymap.ts` and the declarations of commands.",
    "These are the default keys. The last column has the name for `keyBindings` in the configuration file",
    "([console.md](console.md#bind-other-keys)).",
    "",
    "## Anywhere",
    "",
    ...renderActions("global"),
    "## In lists",
    "",
    ...renderActions("list"),
  ]
    .join("\n")
    .replace(/\n+$/, "\n");
}
