import { cleanToWidth } from "../../base/display-width.ts";
import { clean } from "../../base/text.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import { formatOperator } from "../../operate/ports.ts";
import { buildClaims, findResetTargets } from "../../state/claims.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { Subject } from "../../state/subject.ts";
import {
  formatWhatIf,
  predictDrain,
  predictReset,
  predictTotal,
  type WhatIfReport,
} from "../../state/what-if.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import { BLANK_ROW, type Hint, type Overlay, type OverlayModel } from "../parts/overlay.ts";
import {
  buildEditAction,
  buildRowAction,
  findChangeObstacle,
  type RowActionResult,
} from "../parts/row-actions.ts";
import { scrollBy } from "../state/cursor.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow, type RowCell, type RowModel } from "../theme/cells.ts";
import { openDialog } from "./dialog-openers.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";

/** Shows what a drain, a reset or a new total would do now, without doing it. */
class WhatIfOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #subject: WhatIfSubject;
  readonly #changes: readonly WhatIfChange[];
  #change: WhatIfChange = "drain";
  #total: TextField;
  #top = 0;
  #length = 0;
  #height = 1;
  /** The last prediction: it is made again when something has changed, or a second later. */
  #last: { of: Snapshot; key: string; lines: readonly string[]; isKnown: boolean } | undefined;

  constructor(app: ConsoleParts, subject: WhatIfSubject) {
    this.#app = app;
    this.#subject = subject;
    this.#changes = listWhatIfChanges(subject);
    const { value } = app.liveView.snapshot.resources.get(subject.name) ?? {};
    this.#total = createField(subject.kind === "resource" ? (value?.total ?? "") : "");
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") return this.#scroll(event.action);
    if (event.kind === "key" && this.#handleKey(event.chord)) return;
    const next = this.#change === "total" ? editField(this.#total, event) : undefined;
    if (next === undefined) return;
    this.#total = next;
    this.#app.notifyChange();
  }

  /** @returns whether the key was not text */
  #handleKey(chord: string): boolean {
    switch (chord) {
      case "escape":
        this.#app.overlays.close(this);
        return true;
      case "enter":
        this.#openChange();
        return true;
      case "tab":
      case "shift+tab":
        this.#selectChange(chord === "tab" ? 1 : -1);
        return true;
      case "up":
      case "down":
      case "pageup":
      case "pagedown":
        this.#scroll(chord);
        return true;
      default:
        return false;
    }
  }

  #selectChange(by: 1 | -1): void {
    const { length } = this.#changes;
    const at = (this.#changes.indexOf(this.#change) + by + length) % length;
    this.#change = this.#changes[at] ?? "drain";
    this.#top = 0;
    this.#app.notifyChange();
  }

  #scroll(by: string): void {
    this.#top = scrollBy(by, this.#top, this.#length, this.#height);
    this.#app.notifyChange();
  }

  /** Opens the dialog of the change, in which it is previewed and confirmed. */
  #openChange(): void {
    const app = this.#app;
    if (this.#last?.isKnown !== true) return;
    const { snapshot } = app.liveView;
    const action = buildChangeAction(snapshot, this.#subject, this.#change, this.#total.text);
    if (findChangeObstacle(app) === undefined && "command" in action) app.overlays.close(this);
    openDialog(app, [action]);
  }

  #predictLines(): { lines: readonly string[]; isKnown: boolean } {
    const { liveView, context } = this.#app;
    const wall = this.#app.getShownTime();
    const { snapshot } = liveView;
    const key = JSON.stringify([this.#change, this.#total.text, Math.floor(wall / 1000)]);
    if (this.#last?.of === snapshot && this.#last.key === key) return this.#last;
    const by = formatOperator(context.operator);
    const wanted = { change: this.#change, total: this.#total.text, by, wall };
    const report = predictChange(snapshot, this.#subject, wanted);
    const lines = typeof report === "string" ? [report] : formatWhatIf(report, wall);
    this.#last = {
      of: snapshot,
      key,
      lines: lines.map((line) => clean(line)),
      isKnown: typeof report !== "string",
    };
    return this.#last;
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(110, available.width);
    const { lines, isKnown } = this.#predictLines();
    const wrapped = wrapProseLines(lines, this.#app.theme.createLook(width)).map((line) => createRow(line));
    const note = createRow(cleanToWidth(NOTE, width), "quiet");
    this.#height = Math.max(1, Math.min(wrapped.length, available.height - 4));
    this.#length = wrapped.length;
    this.#top = Math.max(0, Math.min(this.#top, this.#length - this.#height));
    const shown = wrapped.slice(this.#top, this.#top + this.#height);
    const { kind, name } = this.#subject;
    return {
      title: cleanToWidth(`what if: ${this.#change} ${kind} ${name}`, width - 4),
      content: { kind: "text", rows: [this.#buildChoiceRow(), BLANK_ROW, ...shown, BLANK_ROW, note] },
      hints: this.#listHints(isKnown),
      width,
      at: "middle",
    };
  }

  #listHints(isKnown: boolean): Hint[] {
    return [
      ...(this.#changes.length > 1 ? ([["Tab", "other change"]] as const) : []),
      ...(this.#length > this.#height ? ([["↑↓", "scroll"]] as const) : []),
      ...(isKnown ? ([["Enter", "open its dialog"]] as const) : []),
      ["Esc", "close"],
    ];
  }

  #buildChoiceRow(): RowModel {
    const cells = this.#changes.flatMap((change): RowCell[] => {
      const isChosen = change === this.#change;
      const text = isChosen ? `[${change}]` : ` ${change} `;
      return [{ text, role: isChosen ? "key" : "quiet" }, { text: " " }];
    });
    const field = this.#change === "total" ? buildFieldCells(this.#total, 16) : [];
    return { cells: [...cells, { text: " " }, ...field] };
  }
}

const NOTE = "if no other run joins or leaves; nothing is changed here";

/** Opens what-if for the selected lock, resource, host or group. */
export function openWhatIf(app: ConsoleParts): void {
  const [chosen] = getChosenSubjects(app);
  const subject = findWhatIfSubject(chosen);
  if (subject !== undefined) return app.overlays.open(new WhatIfOverlay(app, subject));
  app.showToast("what if: select a lock, a resource, a host or a group", "problem", createSameRowCheck(app));
}

/** What a change can be about. */
interface WhatIfSubject {
  kind: "lock" | "resource" | "host" | "group";
  name: string;
}

/** A change that can be tried out. */
type WhatIfChange = "drain" | "reset" | "total";

/** Returns the subject of the changes of a row; undefined without changes. */
function findWhatIfSubject(subject: Subject | undefined): WhatIfSubject | undefined {
  switch (subject?.kind) {
    case "lock":
    case "resource":
    case "host":
    case "group":
      return { kind: subject.kind, name: subject.name };
    case "run":
      return subject.queue;
    case "record":
      return findWhatIfSubject(subject.about);
    default:
      return undefined;
  }
}

/** Lists the changes that are possible for a subject. */
function listWhatIfChanges({ kind }: WhatIfSubject): readonly WhatIfChange[] {
  if (kind === "resource") return ["drain", "reset", "total"];
  return kind === "lock" ? ["drain", "reset"] : ["drain"];
}

/**
 * Predicts the effect of a change.
 * @param total  as typed
 * @returns a text if the change is not complete or not possible
 */
function predictChange(
  snapshot: Snapshot,
  { kind, name }: WhatIfSubject,
  { change, total, by, wall }: { change: WhatIfChange; total: string; by: string; wall: number },
): WhatIfReport | string {
  if (change === "drain") return predictDrain(snapshot, { scope: kind, name }, { by, wall });
  if (change === "total")
    return /^[1-9]\d{0,14}$/.test(total)
      ? predictTotal(snapshot, { resource: name, total: Number(total) }, wall)
      : "type the new total, a whole number of 1 or more";
  if (kind !== "lock" && kind !== "resource") return "only locks and resources can be reset";
  const claims = buildClaims(snapshot);
  const runs = new Set(findResetTargets(snapshot, kind, name).map(({ run }) => run));
  if (runs.size === 0) return `nobody holds ${kind} ${name}`;
  return predictReset(
    snapshot,
    [...runs].flatMap((run) => claims.get(run) ?? []),
    wall,
  );
}

/** Builds the action whose dialog makes the change, with the values that were tried out. */
function buildChangeAction(
  snapshot: Snapshot,
  subject: WhatIfSubject,
  change: WhatIfChange,
  total: string,
): RowActionResult {
  if (change !== "total") return buildRowAction(change, subject, snapshot);
  const action = buildEditAction(subject, snapshot);
  return "reason" in action ? action : { ...action, args: [subject.name, total] };
}
