import { cleanToWidth } from "../../base/display-width.ts";
import { formatBriefDuration, formatDuration, formatInstant } from "../../base/duration.ts";
import { formatShortList } from "../../base/text.ts";
import type { SpreadSuggestion } from "../../state/collisions.ts";
import { type CollisionReport, findAllCollisions, selectCollisions } from "../../state/collisions.ts";
import { OutcomeReader } from "../data/outcome-reader.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type { Overlay, OverlayModel } from "../parts/overlay.ts";
import { buildEditAction, findChangeObstacle } from "../parts/row-actions.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import { openDialog } from "./dialog-openers.ts";

type Found = ReturnType<typeof findAllCollisions>;

const DAY = 86_400_000;
/** How often the collisions are computed again as time passes, ms. */
const STEP = 60_000;
/** Most schedules that are compared: with more, a frame would take too long. */
const MOST_SCHEDULES = 2_000;

/** Shows which schedules compete in the next 24 hours, and suggests other minutes. */
class CollisionsOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #reader: OutcomeReader;
  /** Their collisions come first. */
  readonly #ids: ReadonlySet<string>;
  #cursor = 0;
  #last: { key: readonly unknown[]; found: Found } | undefined;

  constructor(app: ConsoleParts, ids: ReadonlySet<string>) {
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
export function openCollisions(app: ConsoleParts): void {
  const chosen = getChosenSubjects(app).filter(({ kind }) => kind === "schedule");
  app.overlays.open(new CollisionsOverlay(app, new Set(chosen.map(({ name }) => name))));
}

/** Number of names in a line. */
const SHORT = 4;

/** Describes what competes, a line each. Not cleaned. */
function describeCollisions({ starts, leases, overlaps }: CollisionReport): string[] {
  return [
    ...starts.map(
      ({ ids, minutes, first }) =>
        `same minute: ${formatShortList(ids, SHORT)} (${minutes}x, first ${formatInstant(first)})`,
    ),
    ...leases.map(
      ({ resource, peak, total, times, first, ids }) =>
        `resource ${resource}: ${peak} of ${total} units (${times}x, first ${formatInstant(first)}): ${formatShortList(ids, SHORT)}`,
    ),
    ...overlaps.map(({ earlier, later, lock, times, first, longest }) => {
      const by = lock === undefined ? "its own overlap rule" : `lock ${lock}`;
      return `${earlier} has not ended when ${later} starts, up to ${formatBriefDuration(longest)} (${times}x, first ${formatInstant(first)}; excluded by ${by})`;
    }),
  ];
}

/** Says what a suggestion would change. Not cleaned. */
function describeSuggestion(
  { id, flag, value, cron }: SpreadSuggestion,
  present: string | undefined,
): string {
  return cron === undefined
    ? `${id}: ${flag} ${formatBriefDuration(value)}`
    : `${id}: cron ${present ?? ""} becomes ${cron}`;
}

/** Builds the rows: what competes, then the suggestions with the cursor on one. */
function buildCollisionRows(
  lines: readonly string[],
  suggestions: readonly string[],
  cursor: number,
  { width, height }: { width: number; height: number },
): RowModel[] {
  const list = Math.max(1, Math.min(suggestions.length, Math.ceil((height - 3) / 2)));
  const room = Math.max(1, height - list - 3);
  const top = Math.max(0, Math.min(cursor - Math.floor(list / 2), suggestions.length - list));
  const left = lines.length - room;
  const shown =
    left > 0 ? [...lines.slice(0, room - 1), `and ${left + 1} more: see signalbox collisions`] : lines;
  return [
    ...shown.map((line) => createRow(cleanToWidth(line, width))),
    createRow(""),
    createRow(suggestions.length === 0 ? "no other minute helps" : "to spread them", "heading"),
    ...suggestions.slice(top, top + list).map((text, at): RowModel => {
      const isHere = top + at === cursor;
      return createRow(cleanToWidth(`${isHere ? ">" : " "} ${text}`, width), isHere ? "key" : "plain");
    }),
  ];
}
