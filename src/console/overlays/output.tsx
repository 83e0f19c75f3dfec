import { useEffect, useState } from "react";
import type { Command } from "../../cli/frame/command.ts";
import { EXIT } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import type { ConsoleApp } from "../console-app.ts";
import { type ConsoleJob, describeJobState } from "../data/jobs.ts";
import { chooseSubject } from "../parts/marks.ts";
import type { Hints } from "../parts/overlays.ts";
import { getCommandById, isRefusedInPast } from "../parts/row-actions.ts";
import { clamp, computeWindowTop } from "../state/cursor.ts";
import {
  BLANK_ROW,
  computeCellsWidth,
  createRow,
  joinCellTexts,
  type RowModel,
  wrapRows,
} from "../theme/Row.tsx";
import { OverlayFrame, useKeys, useListCursor, useOverlay, useScroll } from "./OverlayFrame.tsx";

/**
 * Runs a read-only command and shows its output.
 * @param choose  returns what Enter does on a line, if the line can be chosen
 */
export function openOutput(
  app: ConsoleApp,
  command: Command,
  words: readonly string[],
  title: string,
  choose?: CommandOutputProps["choose"],
): void {
  if (isRefusedInPast(app)) return;
  app.overlays.open(<CommandOutput command={command} words={words} title={title} choose={choose} />);
}

interface CommandOutputProps {
  command: Command;
  words: readonly string[];
  title: string;
  choose?: ((line: string) => (() => void) | undefined) | undefined;
  /** Set for a command that runs on: the end of the output is shown. Describes the end of the command. */
  describeEnd?(code: number, isEmpty: boolean): string;
}

/** Runs a command while the overlay is open, and shows its output. */
function CommandOutput({ command, words, title, choose, describeEnd }: CommandOutputProps) {
  const { app } = useOverlay();
  const [output] = useState(() => new KeptOutput());
  const { code, isEmpty, lines } = output;
  const [at, move, setAt] = useListCursor(lines.length);
  useEffect(() => {
    const stop = new AbortController();
    const writeLine = (text: string) => {
      output.add(clean(text));
      app.notifyChange();
    };
    void app.jobs.perform(command, words, { writeLine, signal: stop.signal }).then(({ exitCode }) => {
      output.code = exitCode;
      setAt(output.lines.findIndex((line) => choose?.(line) !== undefined));
      app.notifyChange();
    });
    return () => stop.abort();
  }, [app, command, words, output, choose, setAt]);
  const chosen = choose?.(lines[at] ?? "");
  const wrap = (texts: readonly string[], width: number) => wrapRows(app.theme, texts, width);
  const end =
    code === undefined
      ? app.theme.signs.ellipsis
      : (describeEnd?.(code, isEmpty) ?? (isEmpty ? "(no output)" : undefined));
  return (
    <TextView
      title={title}
      followsEnd={describeEnd !== undefined}
      buildRows={(width) => [
        ...(choose === undefined
          ? output.buildRows((texts) => wrap(texts, width), width)
          : lines.flatMap((line, index) =>
              wrap([line], width).map((row) => ({ ...row, ...(index === at && SELECTED_LOOK) })),
            )),
        ...(end === undefined ? [] : [createRow(end, "quiet")]),
      ]}
      keys={{
        y: () => app.copy(lines.join("\n"), "the output"),
        ...(chosen !== undefined && { enter: chosen }),
      }}
      onMove={choose === undefined ? undefined : move}
      hints={[chosen !== undefined && ["Enter", "choose"], ["y", "copy"]]}
    />
  );
}

const SELECTED_LOOK = { selection: "focused" } as const;

/** Whether a job was refused because its target had changed. Nothing was done. */
function isRefused(job: ConsoleJob | undefined): boolean {
  return job?.code === EXIT.changed && job.reopen !== undefined;
}

/** Shows the output of a job. */
export function openJob(app: ConsoleApp, id: number): void {
  app.overlays.open(<JobOutput id={id} />);
}

function JobOutput({ id }: { id: number }) {
  const { app, close } = useOverlay();
  const job = app.jobs.list.find((one) => one.id === id);
  const reopen = () => {
    close();
    if (isRefused(job)) job?.reopen?.();
  };
  return (
    <TextView
      title={job?.title ?? ""}
      buildRows={(width) => (job === undefined ? [] : buildJobRows(app, job, width))}
      keys={{
        enter: reopen,
        c: () => app.copy(job?.line ?? "", "the command line"),
        x: () => app.jobs.interrupt(id),
      }}
      hints={[
        isRefused(job) && ["Enter", "open the dialog again"],
        ["c", "copy the command"],
        job?.code === undefined && ["x", "stop waiting"],
      ]}
    />
  );
}

function buildJobRows({ theme }: ConsoleApp, job: ConsoleJob, width: number): RowModel[] {
  const { text, role } = describeJobState(job);
  const wrap = (texts: readonly string[]) => wrapRows(theme, texts, width);
  return [
    createRow(text.trim(), role),
    BLANK_ROW,
    ...wrap(job.lines),
    BLANK_ROW,
    createRow("as a command in a shell:", "quiet"),
    ...wrap([job.line]),
  ];
}

/** Number of lines to request at first, and to keep. */
const FIRST_LINES = 200;
const MOST_LINES = 2_000;

/** Shows the output of the selected run, or of the run of the selected lock or schedule, and follows it. */
export function openLiveOutput(app: ConsoleApp): void {
  if (isRefusedInPast(app)) return;
  const kinds = ["run", "lock", "schedule"] as const;
  const subject = chooseSubject(app, kinds, "output: select a lock, a schedule or a run");
  if (subject === undefined) return;
  app.overlays.open(
    <CommandOutput
      command={getCommandById("logs")}
      words={["--follow", "--tail", String(FIRST_LINES), subject.name]}
      title={`output of ${subject.name}`}
      describeEnd={describeOutputEnd}
    />,
  );
}

function describeOutputEnd(code: number, isEmpty: boolean): string {
  if (code !== EXIT.ok) return "no more is shown";
  return isEmpty ? "it has written nothing" : "end of the output";
}

/** The last lines of a command's output. Wraps each line once, because a fast command makes many frames. */
class KeptOutput {
  /** The command's exit code; undefined while it runs. */
  code: number | undefined;
  #lines: string[] = [];
  #rows: RowModel[] = [];
  /** How many of the lines are among the rows, and for which width. */
  #wrapped = 0;
  #width = 0;

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length <= 2 * MOST_LINES) return;
    this.#lines = this.#lines.slice(-MOST_LINES);
    this.#wrapped = 0;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  buildRows(wrap: (lines: readonly string[]) => readonly RowModel[], width: number): readonly RowModel[] {
    if (width !== this.#width) this.#wrapped = 0;
    if (this.#wrapped === 0) this.#rows = [];
    this.#rows.push(...wrap(this.#lines.slice(this.#wrapped)));
    this.#wrapped = this.#lines.length;
    this.#width = width;
    return this.#rows;
  }
}

interface TextViewProps {
  title: string;
  /** Builds the rows for a width. Called for every frame, so they may change. */
  buildRows(width: number): readonly RowModel[];
  /** Additional keys, by chord. */
  keys?: Readonly<Record<string, () => void>>;
  hints?: Hints;
  /** Moves the selected row, which stays in view, by a key. */
  onMove?: ((chord: string) => void) | undefined;
  /** Shows the end of a text that grows, until the user scrolls up. */
  followsEnd?: boolean;
}

/** A width at which usual lines are not wrapped, columns. */
const UNWRAPPED_COLUMNS = 1_000;

/** A text to read: the help, the reason for a wait, the output of a command. */
export function TextView(props: TextViewProps) {
  const { title, buildRows, keys, hints = [], onMove, followsEnd } = props;
  const { room, close } = useOverlay();
  const widest = Math.min(room.width, 110);
  const rows = buildRows(widest);
  const content = rows.reduce((most, { cells }) => Math.max(most, computeCellsWidth(cells)), 0);
  const height = clamp(rows.length, 1, room.height);
  const [scrolled, scroll] = useScroll(rows.length, height, followsEnd);
  const selected = rows.findIndex(({ selection }) => selection !== undefined);
  const around = computeWindowTop(selected, rows.length, height);
  const top = selected < 0 ? scrolled : around;
  const listLines = (width: number) => buildRows(width).map(({ cells }) => joinCellTexts(cells));
  useKeys(
    {
      q: close,
      enter: close,
      "?": close,
      ...keys,
    },
    onMove ?? scroll,
  );
  return (
    <OverlayFrame
      title={title}
      rows={rows.slice(top, top + height)}
      hints={[rows.length > height && ["↑↓ PgUp PgDn", "scroll"], ...hints]}
      width={clamp(content, 30, widest)}
      listLines={() => listLines(UNWRAPPED_COLUMNS)}
    />
  );
}
