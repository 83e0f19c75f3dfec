import { COMMANDS, isRowCommandId } from "../../commands/registry/registry.ts";
import { getTabLabel } from "../data/explorer-tree.ts";
import { isLive } from "../data/live-view.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { listKeyActions } from "../parts/key-actions.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { chooseListedContext, goTo } from "../parts/navigation.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import { buildRowAction } from "../parts/row-actions.ts";
import { TABS } from "../state/console-state.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow } from "../theme/cells.ts";
import { openCommand, openFixedCommand, openRowAction } from "./dialog-openers.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";
import {
  buildPaletteEntries,
  findChoiceObstacle,
  type PaletteChoice,
  type PaletteEntry,
} from "./palette-entries.ts";
import {
  addRecentEntry,
  addTravelMatch,
  buildMatchRows,
  PaletteIndex,
  type SearchResult,
} from "./palette-search.ts";
import { travelTo } from "./travel.ts";

/** Maximum number of matches shown. Beyond it, only the total is shown. */
const MOST = 200;

/** Opens the palette, which finds commands, actions, views and names by a few letters. */
export function openPalette(app: ConsoleParts): void {
  app.overlays.open(new PaletteOverlay(app));
}

class PaletteOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #searchable: PaletteIndex;
  #field: TextField = createField();
  #found: SearchResult;
  #at = 0;
  #height = 1;

  constructor(app: ConsoleParts) {
    this.#app = app;
    this.#searchable = new PaletteIndex(listEntries(app));
    this.#found = this.#searchable.search("", MOST, app.state.recent);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "key" && this.#handleKey(event.chord)) return this.#app.notifyChange();
    if (event.kind === "mouse" && event.action === "press") return this.#click(event.row - 1);
    if (event.kind === "mouse")
      return this.#move(event.action === "wheel-down" ? 1 : event.action === "wheel-up" ? -1 : 0);
    const next = editField(this.#field, event);
    if (next === undefined) return;
    this.#field = next;
    this.#at = 0;
    this.#found = addTravelMatch(next.text, this.#searchable.search(next.text, MOST, this.#app.state.recent));
    this.#app.notifyChange();
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(90, available.width);
    this.#height = Math.max(1, Math.min(18, available.height - 3));
    const top = Math.max(0, this.#at - this.#height + 1);
    const { matches, total } = this.#found;
    const shown = matches.slice(top, top + this.#height);
    const more = total > matches.length || matches.length > shown.length ? [`${total} found`] : [];
    const notes = [...(shown.length === 0 ? ["nothing has this name"] : []), ...more];
    return {
      title: "palette",
      content: {
        kind: "palette",
        field: { cells: buildFieldCells(this.#field, width) },
        matches: buildMatchRows(shown, this.#at - top, width),
        notes: notes.map((text) => createRow(text, "quiet")),
      },
      hints: [
        [">", "commands"],
        ["@", "names"],
        ["Enter", "choose"],
        ["Esc", "close"],
      ],
      width,
      at: "top",
    };
  }

  #handleKey(chord: string): boolean {
    switch (chord) {
      case "escape":
        this.#app.overlays.close(this);
        return true;
      case "enter":
        this.#choose(this.#found.matches[this.#at]?.entry);
        return true;
      case "down":
      case "ctrl+n":
      case "tab":
        this.#move(1);
        return true;
      case "up":
      case "ctrl+p":
      case "shift+tab":
        this.#move(-1);
        return true;
      case "pagedown":
      case "pageup":
        this.#move(chord === "pagedown" ? this.#height : -this.#height);
        return true;
      default:
        return false;
    }
  }

  #move(by: number): void {
    const last = Math.max(0, this.#found.matches.length - 1);
    this.#at = Math.max(0, Math.min(last, this.#at + by));
    this.#app.notifyChange();
  }

  /** Chooses the match on a line below the field. */
  #click(line: number): void {
    const top = Math.max(0, this.#at - this.#height + 1);
    if (line >= 0 && line < this.#height) this.#choose(this.#found.matches[top + line]?.entry);
  }

  #choose(entry: PaletteEntry | undefined): void {
    if (entry === undefined) return;
    if (entry.disabled !== undefined)
      return this.#app.showToast(`${entry.label}: ${entry.disabled}`, "problem");
    this.#app.overlays.close(this);
    if (entry.choice.kind !== "travel")
      this.#app.update((state) => ({ ...state, recent: addRecentEntry(state.recent, entry.id) }));
    runChoice(this.#app, entry.choice);
  }
}

function listEntries(app: ConsoleParts): PaletteEntry[] {
  const conditions = {
    isReadOnly: app.isReadOnly,
    isAway: !isLive(app.liveView.connection),
    isPast: app.liveView.past !== undefined,
    hasSelection: app.getSubject() !== undefined,
  };
  const known = { commands: COMMANDS, actions: listKeyActions(COMMANDS) };
  return buildPaletteEntries({
    ...known,
    views: TABS.map((tab) => ({ tab, label: getTabLabel(tab) })),
    contexts: app.contexts.all,
    snapshot: app.liveView.snapshot,
    getKeyLabels: (id) => app.keymap.getKeyLabels(id),
    findObstacle: (choice) => findChoiceObstacle(choice, known, conditions),
  });
}

/** Runs a choice. A command that acts on rows is applied to the selected rows where possible. */
function runChoice(app: ConsoleParts, choice: PaletteChoice): void {
  if (choice.kind === "go") return goTo(app, choice.tab, choice.key);
  if (choice.kind === "context") return chooseListedContext(app, choice.name);
  if (choice.kind === "action") return app.act(choice.id);
  if (choice.kind === "travel") return travelTo(app, choice.time);
  const { id, args } = choice;
  if (args !== undefined) return openFixedCommand(app, id, args);
  const [first] = getChosenSubjects(app);
  if (isRowCommandId(id) && "command" in buildRowAction(id, first, app.liveView.snapshot))
    openRowAction(app, id);
  else openCommand(app, id);
}
