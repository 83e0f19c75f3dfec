import { cleanToWidth } from "../../base/display-width.ts";
import { clean } from "../../base/text.ts";
import { parsePastTime } from "../../commands/command-line/instant.ts";
import { toSingleKeyRange } from "../../commands/read-snapshot.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import { findNamedQueue } from "../../state/snapshot.ts";
import type { Subject } from "../../state/subject.ts";
import {
  explainLockAt,
  explainScheduleAt,
  findLastExpected,
  findMainReason,
  type PastReason,
} from "../../state/why-then.ts";
import { OutcomeReader } from "../data/outcome-reader.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import { BLANK_ROW, type Overlay, type OverlayModel } from "../parts/overlay.ts";
import { scrollBy } from "../state/cursor.ts";
import type { InputEvent } from "../terminal/input-event.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import { buildFieldCells, createField, editField, type TextField } from "./field.ts";
import { openWhy } from "./output.ts";

/** What can be asked about. */
interface WhyThenSubject {
  kind: "lock" | "schedule";
  name: string;
}

/** Asks for a time, and tells why a schedule or a lock did not run then: one sentence, and its evidence. */
class WhyThenOverlay implements Overlay {
  readonly #app: ConsoleParts;
  readonly #subject: WhyThenSubject;
  readonly #reader: OutcomeReader | undefined;
  #time: TextField;
  #top = 0;
  #length = 0;
  #height = 1;

  constructor(app: ConsoleParts, subject: WhyThenSubject, reader: OutcomeReader | undefined) {
    this.#app = app;
    this.#subject = subject;
    this.#reader = reader;
    this.#time = createField(this.#findDefaultTime());
  }

  /** The last expected occurrence of a schedule; an hour ago for a lock, which has no plan. */
  #findDefaultTime(): string {
    const { snapshot } = this.#app.liveView;
    const { kind, name } = this.#subject;
    const definition = kind === "schedule" ? snapshot.schedules.get(name)?.value : undefined;
    if (definition === undefined) return "1h";
    const { calendars } = snapshot;
    const at = findLastExpected({ id: name, definition, calendars }, this.#app.getWallTime());
    return at === undefined || at < 0 ? "1h" : new Date(at).toISOString().replace(/(:00)?\.000Z$/, "Z");
  }

  onInput(event: InputEvent): void {
    if (event.kind === "mouse") return this.#scroll(event.action);
    if (event.kind === "key") {
      if (event.chord === "escape" || event.chord === "enter") return this.#app.overlays.close(this);
      if (SCROLLS.has(event.chord)) return this.#scroll(event.chord);
    }
    const next = editField(this.#time, event);
    if (next === undefined) return;
    this.#time = next;
    this.#top = 0;
    this.#app.notifyChange();
  }

  #scroll(by: string): void {
    this.#top = scrollBy(by, this.#top, this.#length, this.#height);
    this.#app.notifyChange();
  }

  /** @returns a text if the time cannot be read */
  #parseTime(): number | string {
    try {
      return parsePastTime("the time", this.#time.text.trim(), this.#app.getWallTime());
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  #explain(at: number): PastReason[] {
    const { snapshot } = this.#app.liveView;
    const { kind, name } = this.#subject;
    if (kind === "lock") return explainLockAt(name, at, snapshot);
    const definition = snapshot.schedules.get(name)?.value;
    if (definition === undefined) return [];
    const due = snapshot.dues.get(name)?.value;
    const runs = this.#reader?.outcomes.get(name)?.runs ?? [];
    return explainScheduleAt(
      { id: name, definition, due, runs, calendars: snapshot.calendars },
      at,
      snapshot,
    );
  }

  #buildAnswer(width: number): RowModel[] {
    const { snapshot } = this.#app.liveView;
    this.#reader?.refresh(snapshot.dues.get(this.#subject.name), snapshot);
    const at = this.#parseTime();
    const wrap = (text: string, role: "plain" | "quiet" | "problem" | "heading") =>
      wrapProseLines([clean(text)], this.#app.theme.createLook(width)).map((line) => createRow(line, role));
    if (typeof at === "string") return wrap(at, "problem");
    const obstacle = this.#reader?.obstacle;
    if (obstacle !== undefined) return wrap(obstacle, "quiet");
    const reasons = this.#explain(at);
    const main = findMainReason(reasons);
    if (main === undefined) return wrap(`${this.#subject.kind} ${this.#subject.name} is gone`, "problem");
    const others = reasons.filter((one) => one !== main);
    return [
      ...wrap(main.text, "heading"),
      ...(others.length === 0 ? [] : [BLANK_ROW]),
      ...others.flatMap(({ text }) => wrap(text, "plain")),
      ...(this.#reader?.isBehind === true ? wrap("a run has just ended: reading its outcome", "quiet") : []),
    ];
  }

  buildModel(available: { width: number; height: number }): OverlayModel {
    const width = Math.min(100, available.width);
    const rows = this.#buildAnswer(width);
    this.#length = rows.length;
    this.#height = Math.max(1, Math.min(rows.length, available.height - 3));
    this.#top = Math.max(0, Math.min(this.#top, this.#length - this.#height));
    const field: RowModel = {
      cells: [{ text: "at ", role: "title" }, ...buildFieldCells(this.#time, Math.min(30, width - 34))],
    };
    const help = cleanToWidth("UTC: 03:00, yesterday 02:00, 2h ago as 2h", width);
    const { kind, name } = this.#subject;
    return {
      title: cleanToWidth(`why did ${kind} ${name} not run?`, width - 4),
      content: {
        kind: "text",
        rows: [
          field,
          createRow(help, "quiet"),
          BLANK_ROW,
          ...rows.slice(this.#top, this.#top + this.#height),
        ],
      },
      hints: [...(this.#length > this.#height ? ([["↑↓", "scroll"]] as const) : []), ["Esc", "close"]],
      width,
      at: "middle",
    };
  }

  onClose(): void {
    this.#reader?.end();
  }
}

const SCROLLS: ReadonlySet<string> = new Set(["up", "down", "pageup", "pagedown"]);

/** Asks why the selected schedule or lock did not run at a time. */
export function openWhyThen(app: ConsoleParts): void {
  const subject = findWhyThenSubject(getChosenSubjects(app)[0]);
  if (subject !== undefined) return openSubject(app, subject);
  app.showToast("why did it not run: select a schedule or a lock", "problem", createSameRowCheck(app));
}

/** Tells why a run waits; of a schedule, or a lock that nobody holds or waits for, why it did not run. */
export function openWhyNowOrThen(app: ConsoleParts): void {
  const subject = findWhyThenSubject(getChosenSubjects(app)[0]);
  const isPast =
    subject?.kind === "schedule" ||
    (subject?.kind === "lock" && findNamedQueue(app.liveView.snapshot, "lock", subject.name) === undefined);
  if (subject !== undefined && isPast) openSubject(app, subject);
  else openWhy(app);
}

function openSubject(app: ConsoleParts, subject: WhyThenSubject): void {
  const { context } = app;
  const reader =
    subject.kind === "schedule"
      ? new OutcomeReader(context, toSingleKeyRange(context.keys.outcomes(subject.name)), () =>
          app.notifyChange(),
        )
      : undefined;
  app.overlays.open(new WhyThenOverlay(app, subject, reader));
}

function findWhyThenSubject(subject: Subject | undefined): WhyThenSubject | undefined {
  if (subject?.kind === "record") return findWhyThenSubject(subject.about);
  if (subject?.kind === "lock" || subject?.kind === "schedule")
    return { kind: subject.kind, name: subject.name };
  return undefined;
}
