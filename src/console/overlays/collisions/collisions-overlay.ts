import { formatDuration } from "../../../base/duration.ts";
import { findAllCollisions } from "../../../model/insight/all-collisions.ts";
import { selectCollisions } from "../../../model/insight/collisions.ts";
import type { SpreadSuggestion } from "../../../model/insight/spread.ts";
import { findChangeObstacle } from "../../actions/commands/change-obstacle.ts";
import { buildEditAction } from "../../actions/commands/configuration-actions.ts";
import { OutcomeReader } from "../../data/outcome-reader.ts";
import { getChosenSubjects } from "../../navigation/marks.ts";
import type { Overlay, OverlayModel } from "../../parts/overlay.ts";
import type { ClockAccess, DialogPorts, SelectionAccess } from "../../parts/parts.ts";
import type { InputEvent } from "../../terminal/input/event.ts";
import { createRow } from "../../theme/cells.ts";
import { openDialog } from "../dialog/open-dialog.ts";
import { buildCollisionRows, describeCollisions, describeSuggestion } from "./collision-rows.ts";

type CollisionsParts = ClockAccess & DialogPorts;
type Found = ReturnType<typeof findAllCollisions>;

const DAY = 86_400_000;
/** How often the collisions are computed again as time passes, ms. */
const STEP = 60_000;
/** Most schedules that are compared: with more, a frame would take too long. */
const MOST_SCHEDULES = 2_000;

/** Shows which schedules compete in the next 24 hours, and suggests other minutes. */
class CollisionsOverlay implements Overlay {
  readonly #app: CollisionsParts;
  readonly #reader: OutcomeReader;
  /** Their collisions come first. */
  readonly #ids: ReadonlySet<string>;
  #cursor = 0;
  #last: { key: readonly unknown[]; found: Found } | undefined;

  constructor(app: CollisionsParts, ids: ReadonlySet<string>) {
    this.#app = app;
    this.#ids = ids;
    const range = app.context.keys.getOutcomesRange();
    this.#reader = new OutcomeReader(app.context, range, () => app.notifyChange());
  }

  onInput(event: InputEvent): void {
    const chord = event.kind === "mouse" ? event.action : event.kind === "key" ? event.chord : "";
    if (chord === "escape" || chord === "q") return this.#app.overlays.close(this);
    if (chord === "enter") return this.#openSuggestion();
    const by = MOVES[chord];
    if (by === undefined) return;
    this.#cursor = Math.max(0, Math.min(this.#countSuggestions() - 1, this.#cursor + by));
    this.#app.notifyChange();
  }

  #countSuggestions(): number {
    return this.#last?.found.suggestions.length ?? 0;
  }

  /** Opens the form of the schedule with the suggested value. Nothing changes until it is confirmed there. */
  #openSuggestion(): void {
    const app = this.#app;
    const suggestion = this.#last?.found.suggestions[this.#cursor];
    if (suggestion === undefined) return;
    const edit = buildEditAction({ kind: "schedule", name: suggestion.id }, app.liveView.snapshot);
    const isPossible = findChangeObstacle(app) === undefined && "command" in edit;
    if (isPossible) app.overlays.close(this);
    openDialog(app, [
      "reason" in edit ? edit : { ...edit, flags: { ...edit.flags, ...toFlags(suggestion) } },
    ]);
  }

  #find(): Found {
    const { snapshot } = this.#app.liveView;
    const from = Math.floor(this.#app.getWallTime() / STEP) * STEP;
    const { outcomes } = this.#reader;
    const key = [snapshot.schedules, snapshot.dues, snapshot.resources, snapshot.calendars, outcomes, from];
    const last = this.#last;
    if (last !== undefined && key.every((part, at) => part === last.key[at])) return last.found;
    const { suggestions, ...found } = findAllCollisions(snapshot, outcomes, { from, until: from + DAY });
    const [own, others] = [true, false].map((isOwn) =>
      suggestions.filter(({ id }) => this.#ids.has(id) === isOwn),
    );
    this.#last = { key, found: { ...found, suggestions: [...(own ?? []), ...(others ?? [])] } };
    return this.#last.found;
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(110, available.width);
    const rows = this.#buildRows({ width, height: available.height });
    return {
      title: "collisions in the next 24 hours",
      content: { kind: "text", rows },
      width,
      at: "middle",
      hints: [
        ...(this.#countSuggestions() > 0
          ? ([
              ["↑↓", "suggestion"],
              ["Enter", "edit the schedule"],
            ] as const)
          : []),
        ["Esc", "close"],
      ],
    };
  }

  #buildRows(size: { width: number; height: number }) {
    const { snapshot } = this.#app.liveView;
    if (snapshot.schedules.size > MOST_SCHEDULES)
      return [
        createRow(`there are more than ${MOST_SCHEDULES} schedules:`),
        createRow("run signalbox collisions in a shell"),
      ];
    this.#reader.refresh(snapshot.dues, snapshot);
    const { obstacle } = this.#reader;
    if (obstacle !== undefined) return [createRow(obstacle, "quiet")];
    const { report, suggestions } = this.#find();
    this.#cursor = Math.max(0, Math.min(this.#cursor, suggestions.length - 1));
    const lines = [true, false].flatMap((isOwn) =>
      describeCollisions(selectCollisions(report, this.#ids, isOwn)),
    );
    if (lines.length === 0) return [createRow("no schedules compete")];
    const texts = suggestions.map((one) =>
      describeSuggestion(one, snapshot.schedules.get(one.id)?.value?.cron),
    );
    return buildCollisionRows(lines, texts, this.#cursor, size);
  }

  onClose(): void {
    this.#reader.end();
  }
}

const MOVES: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  "wheel-up": -1,
  pageup: -10,
  down: 1,
  j: 1,
  "wheel-down": 1,
  pagedown: 10,
};

function toFlags({ flag, value, cron }: SpreadSuggestion): Record<string, string> {
  return cron === undefined ? { [flag]: formatDuration(value) } : { cron };
}

/** Opens the collisions of all schedules. Those of the chosen schedules come first. */
export function openCollisions(app: CollisionsParts & SelectionAccess): void {
  const chosen = getChosenSubjects(app).filter(({ kind }) => kind === "schedule");
  app.overlays.open(new CollisionsOverlay(app, new Set(chosen.map(({ name }) => name))));
}
