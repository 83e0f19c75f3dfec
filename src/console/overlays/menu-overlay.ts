import { cleanToWidth, computeDisplayWidth } from "../../base/display-width.ts";
import { COMMANDS, isRowCommandId } from "../../commands/registry/registry.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { Subject } from "../../state/subject.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { type KeyAction, listKeyActions } from "../parts/key-actions.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import type { Overlay, OverlayModel, OverlayPlace } from "../parts/overlay.ts";
import { computeTitleHeight } from "../parts/pane-lines.ts";
import { buildRowAction, findChangeObstacle, formatSubjectName } from "../parts/row-actions.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { padCells, padText, type RowCell, type RowModel } from "../theme/cells.ts";

/**
 * Opens the menu of the chosen rows: every action that applies to them, with its key.
 * @param at  where the pointer is; without it, the menu opens next to the row
 */
export function openMenu(app: ConsoleParts, at?: OverlayPlace): void {
  const subjects = getChosenSubjects(app);
  const [first] = subjects;
  if (first === undefined) return app.showToast("nothing is selected", "quiet", createSameRowCheck(app));
  const title = subjects.length === 1 ? formatSubjectName(first) : `${subjects.length} rows`;
  app.overlays.open(new MenuOverlay(app, { title, at: at ?? findRowPlace(app) }));
}

/** What a move key does in the menu, by the id of its action. */
const STEPS: Readonly<Record<string, number>> = { up: -1, down: 1, pageUp: -10, pageDown: 10 };

class MenuOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #title: string;
  readonly #at: OverlayPlace;
  /** Id of the entry under the cursor: others may appear while the menu is open. */
  #active: string | undefined;
  #top = 0;

  constructor(app: ConsoleParts, { title, at }: { title: string; at: OverlayPlace }) {
    this.#app = app;
    this.#title = title;
    this.#at = at;
    this.#active = this.#entries.find(({ obstacle }) => obstacle === undefined)?.id;
  }

  /** Listed anew for every frame and key, because what is possible can change at any time. */
  get #entries(): MenuEntry[] {
    return listMenuEntries({
      subjects: getChosenSubjects(this.#app),
      snapshot: this.#app.liveView.snapshot,
      changeObstacle: findChangeObstacle(this.#app),
      getKeyLabels: (id) => this.#app.keymap.getKeyLabels(id),
    });
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") {
      if (event.action === "wheel-down" || event.action === "wheel-up")
        return this.#move(event.action === "wheel-down" ? 1 : -1);
      if (event.action === "press") this.#click(event.row, event.column);
      return;
    }
    if (event.kind === "key") this.#handleKey(event.chord);
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const entries = this.#entries;
    const height = Math.max(1, Math.min(available.height, entries.length));
    const active = this.#findActive(entries);
    this.#top = Math.max(
      active - height + 1,
      Math.min(this.#top, active, Math.max(0, entries.length - height)),
      0,
    );
    const width = Math.min(available.width, Math.max(24, ...entries.map(computeEntryWidth)));
    const rows = entries.slice(this.#top, this.#top + height).map((entry, at): RowModel => {
      const selection = this.#top + at === active ? "focused" : undefined;
      return { cells: buildEntryCells(entry, width), selection };
    });
    return {
      title: cleanToWidth(this.#title, width - 2),
      width,
      at: this.#at,
      content: { kind: "text", rows },
      hints: [
        ["Enter", "do it"],
        ["Esc", "close"],
      ],
    };
  }

  #handleKey(chord: string): void {
    if (chord === "escape") return this.#app.overlays.close(this);
    if (chord === "enter") return this.#choose(this.#entries[this.#findActive(this.#entries)]);
    const id = this.#app.keymap.findAction(chord, "list");
    if (id === undefined) return;
    if (id === "menu") return this.#app.overlays.close(this);
    if (id === "top" || id === "bottom") return this.#move(id === "top" ? -1_000 : 1_000);
    const by = STEPS[id];
    if (by !== undefined) return this.#move(by);
    const entry = this.#entries.find((one) => one.id === id);
    if (entry !== undefined) this.#choose(entry);
  }

  /** Chooses the entry that is clicked. A click beside the menu closes it. */
  #click(row: number, column: number): void {
    const model = this.#app.overlays.shown.at(-1)?.model;
    const isInside = model !== undefined && column >= -2 && column < model.width + 2;
    const count = model?.content.kind === "text" ? model.content.rows.length : 0;
    if (!isInside || row < -1 || row > count) return this.#app.overlays.close(this);
    if (row >= 0 && row < count) this.#choose(this.#entries[this.#top + row]);
  }

  #choose(entry: MenuEntry | undefined): void {
    if (entry === undefined) return;
    this.#active = entry.id;
    if (entry.obstacle !== undefined) return this.#app.showToast(entry.obstacle, "problem");
    this.#app.overlays.close(this);
    this.#app.act(entry.id);
  }

  #move(by: number): void {
    const entries = this.#entries;
    const to = Math.max(0, Math.min(entries.length - 1, this.#findActive(entries) + by));
    this.#active = entries[to]?.id;
    this.#app.notifyChange();
  }

  #findActive(entries: readonly MenuEntry[]): number {
    return Math.max(
      0,
      entries.findIndex(({ id }) => id === this.#active),
    );
  }
}

/** Columns for the key. */
const KEY = 9;

function computeEntryWidth({ brief, obstacle }: MenuEntry): number {
  return KEY + computeDisplayWidth(brief) + (obstacle === undefined ? 0 : computeDisplayWidth(obstacle) + 3);
}

function buildEntryCells({ key = "", brief, obstacle }: MenuEntry, width: number): readonly RowCell[] {
  const start: RowCell = {
    text: padText(cleanToWidth(key, KEY - 1), KEY),
    role: obstacle === undefined ? "key" : "disabled",
  };
  const text = obstacle === undefined ? brief : `${brief} (${obstacle})`;
  const role = obstacle === undefined ? undefined : ("disabled" as const);
  return padCells([start, { text: cleanToWidth(text, width - KEY), role }], width);
}

/** An action that applies to a row. */
interface MenuEntry {
  id: string;
  brief: string;
  /** As displayed; undefined if no key is bound to it. */
  key: string | undefined;
  /** Why it is not possible now; undefined if it is. */
  obstacle: string | undefined;
}

/** What the entries depend on. */
interface MenuInputs {
  /** The chosen rows; an action applies if it applies to one of them. */
  subjects: readonly Subject[];
  snapshot: Snapshot;
  /** Why nothing can be changed now. */
  changeObstacle: string | undefined;
  getKeyLabels(id: string): readonly string[];
}

/** Lists the actions that apply to the chosen rows, in the order of the help. */
export function listMenuEntries(inputs: MenuInputs): MenuEntry[] {
  return listKeyActions(COMMANDS)
    .filter((action) => inputs.subjects.some((subject) => isFor(action, subject)))
    .map((action) => ({
      id: action.id,
      brief: action.brief,
      key: inputs.getKeyLabels(action.id)[0],
      obstacle: findObstacle(action, inputs),
    }));
}

/** Whether an action applies to rows of this kind. A record stands for what it is about. */
function isFor({ rows }: KeyAction, subject: Subject): boolean {
  if (rows === undefined || rows === "any") return rows === "any";
  const about = subject.kind === "record" ? subject.about : subject;
  return about !== undefined && rows.includes(about.kind);
}

function findObstacle(action: KeyAction, inputs: MenuInputs): string | undefined {
  const { id, isChange } = action;
  if (isChange && inputs.changeObstacle !== undefined) return inputs.changeObstacle;
  if (!isRowCommandId(id)) return undefined;
  const results = inputs.subjects
    .filter((subject) => isFor(action, subject))
    .map((subject) => buildRowAction(id, subject, inputs.snapshot));
  const [first] = results;
  if (first === undefined || results.some((result) => "command" in result)) return undefined;
  return "reason" in first ? first.reason : undefined;
}

/** Lines above the table: header and tabs. */
const ABOVE = 2;
/** Columns between the edge of the table and a box next to a row: behind the mark and the beginning of the name. */
const INDENT = 12;

/** Returns where the row under the cursor is on the screen; the middle if it is not on the screen. */
function findRowPlace(app: ConsoleParts): OverlayPlace {
  const layout = app.getLayout();
  const { focus, tabs, tab } = app.state;
  if (layout?.table === undefined || focus !== "table") return "middle";
  const { index, top } = tabs[tab].cursor;
  const left = layout.explorer === undefined ? 0 : layout.explorer.width + 1;
  return { column: left + INDENT, row: ABOVE + computeTitleHeight(app) + index - top };
}
