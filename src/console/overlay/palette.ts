import { COMMANDS } from "../../commands/registry.ts";
import { deedOf } from "../act/deed.ts";
import type { App } from "../app/app.ts";
import { goTo } from "../app/focus.ts";
import { chosen } from "../app/marks.ts";
import { tabLabel } from "../explorer/tree.ts";
import { edit } from "../field/edit.ts";
import { type Field, fieldOf } from "../field/field.ts";
import type { InputEvent } from "../input/event.ts";
import { actionsOf } from "../keys/actions.ts";
import { entriesOf } from "../palette/entries.ts";
import type { Choice, Entry } from "../palette/entry.ts";
import { matchLines } from "../palette/lines.ts";
import { obstacleOf } from "../palette/obstacle.ts";
import { used } from "../palette/rank.ts";
import { type Found, Searchable } from "../palette/search.ts";
import { isLive } from "../sight/standing.ts";
import { TABS } from "../state/state.ts";
import { openCommand, openDeed } from "./deeds.ts";
import { fieldLine } from "./field-line.ts";
import type { Overlay, OverlayPicture } from "./overlay.ts";

/** Matches that are looked at; of more, only how many they are. */
const MOST = 200;

/** Everything that can be done or gone to, by a few letters. */
export function openPalette(app: App): void {
  app.overlays.open(new PaletteOverlay(app));
}

class PaletteOverlay implements Overlay {
  readonly #app: App;
  readonly #searchable: Searchable;
  #field: Field = fieldOf();
  #found: Found;
  #at = 0;
  #height = 1;

  constructor(app: App) {
    this.#app = app;
    this.#searchable = new Searchable(entriesFor(app));
    this.#found = this.#searchable.search("", MOST, app.state.recent);
  }

  onInput(event: InputEvent): void {
    if (event.kind === "key" && this.#command(event.chord)) return this.#app.changed();
    if (event.kind === "mouse")
      return this.#move(event.action === "wheel-down" ? 1 : event.action === "wheel-up" ? -1 : 0);
    const next = edit(this.#field, event);
    if (next === undefined) return;
    this.#field = next;
    this.#at = 0;
    this.#found = this.#searchable.search(next.text, MOST, this.#app.state.recent);
    this.#app.changed();
  }

  paint(room: { width: number; height: number }): OverlayPicture {
    const { theme } = this.#app;
    const width = Math.min(90, room.width);
    this.#height = Math.max(1, Math.min(18, room.height - 3));
    const top = Math.max(0, this.#at - this.#height + 1);
    const { matches, total } = this.#found;
    const shown = matches.slice(top, top + this.#height);
    const lines = matchLines(theme, shown, this.#at - top, width);
    const more = total > matches.length || matches.length > shown.length ? `${total} found` : "";
    return {
      title: "palette",
      lines: [
        fieldLine(theme, this.#field, width),
        ...(shown.length === 0 ? [theme.style("quiet", "nothing is called so")] : lines),
        ...(more === "" ? [] : [theme.style("quiet", more)]),
      ],
      hints: [
        [">", "commands"],
        ["@", "names"],
        ["Enter", "choose"],
        ["Esc", "close"],
      ],
      ...{ width, at: "top" },
    };
  }

  #command(chord: string): boolean {
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
    this.#app.changed();
  }

  #choose(entry: Entry | undefined): void {
    if (entry === undefined) return;
    if (entry.disabled !== undefined) return this.#app.toast(`${entry.label}: ${entry.disabled}`, "problem");
    this.#app.overlays.close(this);
    this.#app.update((state) => ({ ...state, recent: used(state.recent, entry.id) }));
    carryOn(this.#app, entry.choice);
  }
}

function entriesFor(app: App): Entry[] {
  const standing = {
    isReadOnly: app.isReadOnly,
    isAway: !isLive(app.sight.standing),
    hasSelection: app.subject() !== undefined,
  };
  const known = { commands: COMMANDS, actions: actionsOf(COMMANDS) };
  return entriesOf({
    ...known,
    views: TABS.map((tab) => ({ tab, label: tabLabel(tab) })),
    picture: app.sight.picture,
    keysOf: (id) => app.keymap.keysOf(id),
    obstacleOf: (choice) => obstacleOf(choice, known, standing),
  });
}

/** Does what was chosen. A command that acts on rows is done to the selected ones where it can be. */
function carryOn(app: App, choice: Choice): void {
  if (choice.kind === "go") return goTo(app, choice.tab, choice.key);
  if (choice.kind === "action") return app.act(choice.id);
  const [first] = chosen(app);
  const isPossible = first !== undefined && "command" in deedOf(choice.id, first, app.sight.picture);
  if (isPossible) openDeed(app, choice.id);
  else openCommand(app, choice.id);
}
