import { cleanToWidth } from "../../base/display-width.ts";
import { getErrorMessage } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { parsePastTime } from "../../commands/command-line/instant.ts";
import { findNamedQueue, type Snapshot } from "../../state/snapshot.ts";
import { toActionable } from "../../state/subject.ts";
import {
  explainLockAt,
  explainScheduleAt,
  findLastExpected,
  findMainReason,
  type PastReason,
} from "../../state/why-then.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { OutcomeReader } from "../data/outcome-reader.ts";
import { chooseSubject, getChosenSubjects } from "../parts/marks.ts";
import { BLANK_ROW, createRow, type RowModel, wrapRows } from "../theme/Row.tsx";
import { AnswerFrame, useField, useOutcomes, useOverlay } from "./OverlayFrame.tsx";
import { openWhy } from "./output.tsx";

/** The subject of the question. */
interface WhyThenSubject {
  kind: "lock" | "schedule";
  name: string;
}

/** Asks for a time, and explains why a schedule or a lock did not run then: one sentence, and its evidence. */
function WhyThen({ subject }: { subject: WhyThenSubject }) {
  const { app, width, close } = useOverlay(100);
  const { kind, name } = subject;
  const { keys } = app.context;
  const ranges = kind === "schedule" ? keys.listOutcomeRanges(name) : undefined;
  const reader = useOutcomes(ranges, app.liveView.snapshot.dues.get(name));
  const time = useField(findDefaultTime(app, subject));
  const rows = buildAnswer(app, { subject, time: time.text.trim(), reader }, width);
  const help = cleanToWidth("UTC: 03:00, yesterday 02:00, 2h ago as 2h", width);
  return (
    <AnswerFrame
      title={`why did ${kind} ${name} not run?`}
      head={[
        { cells: [{ text: "at ", role: "title" }, ...time.buildCells(Math.min(30, width - 34))] },
        createRow(help, "quiet"),
        BLANK_ROW,
      ]}
      rows={rows}
      question={time.text}
      keys={{ enter: close }}
      onType={time.edit}
      hints={[]}
      width={width}
    />
  );
}

/** Returns the last expected occurrence of a schedule; for a lock, which has no plan, an hour ago. */
function findDefaultTime(app: ConsoleApp, { kind, name }: WhyThenSubject): string {
  const { schedules, calendars } = app.liveView.snapshot;
  const definition = kind === "schedule" ? schedules.get(name)?.value : undefined;
  if (definition === undefined) return "1h";
  const at = findLastExpected({ id: name, definition, calendars }, app.getWallTime());
  return at === undefined || at < 0 ? "1h" : new Date(at).toISOString().replace(/(:00)?\.000Z$/, "Z");
}

/** @returns a text if the time cannot be read */
function parseTime(app: ConsoleApp, time: string): number | string {
  try {
    return parsePastTime("the time", time, app.getWallTime());
  } catch (error) {
    return getErrorMessage(error);
  }
}

/** The question. */
interface WhyThenQuestion {
  subject: WhyThenSubject;
  time: string;
  reader: OutcomeReader | undefined;
}

function buildAnswer(app: ConsoleApp, { subject, time, reader }: WhyThenQuestion, width: number): RowModel[] {
  const wrap = (text: string, role: "plain" | "quiet" | "problem" | "heading") =>
    wrapRows(app.theme, [clean(text)], width, role);
  const at = parseTime(app, time);
  if (typeof at === "string") return wrap(at, "problem");
  if (reader?.obstacle !== undefined) return wrap(reader.obstacle, "quiet");
  const runs = reader?.outcomes.get(subject.name)?.runs ?? [];
  const reasons = explain(app.liveView.snapshot, subject, { at, runs });
  const main = findMainReason(reasons);
  if (main === undefined) return wrap(`${subject.kind} ${subject.name} is gone`, "problem");
  const others = reasons.filter((one) => one !== main);
  return [
    ...wrap(main.text, "heading"),
    ...(others.length === 0 ? [] : [BLANK_ROW]),
    ...others.flatMap(({ text }) => wrap(text, "plain")),
    ...(reader?.isBehind === true ? wrap("a run has just ended: reading its outcome", "quiet") : []),
  ];
}

function explain(
  snapshot: Snapshot,
  { kind, name }: WhyThenSubject,
  { at, runs }: { at: number; runs: Parameters<typeof explainScheduleAt>[0]["runs"] },
): PastReason[] {
  if (kind === "lock") return explainLockAt(name, at, snapshot);
  const definition = snapshot.schedules.get(name)?.value;
  if (definition === undefined) return [];
  const due = snapshot.dues.get(name)?.value;
  return explainScheduleAt({ id: name, definition, due, runs, calendars: snapshot.calendars }, at, snapshot);
}

/** Opens the question why the selected schedule or lock did not run at a time. */
export function openWhyThen(app: ConsoleApp): void {
  const refusal = "why did it not run: select a schedule or a lock";
  const subject = chooseSubject(app, ["schedule", "lock"], refusal);
  if (subject !== undefined) app.overlays.open(<WhyThen subject={subject} />);
}

/** Explains why a run waits. For a schedule, or a lock without holders and waiters, explains why it did not run. */
export function openWhyNowOrThen(app: ConsoleApp): void {
  const subject = toActionable(getChosenSubjects(app)[0]);
  const isPast =
    subject?.kind === "schedule" ||
    (subject?.kind === "lock" && findNamedQueue(app.liveView.snapshot, "lock", subject.name) === undefined);
  if (isPast) openWhyThen(app);
  else openWhy(app);
}
