import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import type { Command } from "../../commands/spec.ts";
import { type ConsoleJob, describeJobState } from "../data/jobs.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import { createSameRowCheck } from "../parts/navigation.ts";
import { BLANK_ROW, type Hint } from "../parts/overlay.ts";
import { findPastObstacle, getCommandById } from "../parts/row-actions.ts";
import { createRow, type RowModel } from "../theme/cells.ts";
import { openText, type TextOverlay } from "./text-overlay.ts";

/** Shows why the selected run waits, or why nobody gets the selected lock or resource. */
export function openWhy(app: ConsoleParts): void {
  const [subject] = getChosenSubjects(app);
  const about = subject?.kind === "record" ? subject.about : subject;
  const obstacle = findPastObstacle(app.liveView);
  if (obstacle !== undefined) return app.showToast(obstacle, "problem");
  if (about === undefined || (about.kind !== "run" && about.kind !== "lock" && about.kind !== "resource"))
    return app.showToast(
      "why: select a lock, a resource or a waiting run",
      "problem",
      createSameRowCheck(app),
    );
  openOutput(app, getCommandById("why"), [about.name], `why ${about.name}`);
}

/** Runs a read-only command and shows its output. */
export function openOutput(
  app: ConsoleParts,
  command: Command,
  words: readonly string[],
  title: string,
): void {
  const lines: string[] = [];
  const stop = new AbortController();
  let code: number | undefined;
  openText(app, {
    title,
    buildRows: (width) => {
      const rows = wrapProseLines(lines, app.theme.createLook(width)).map((line) => createRow(line));
      if (code === undefined) return [...rows, createRow(app.theme.signs.ellipsis, "quiet")];
      return rows.length > 0 ? rows : [createRow("(no output)")];
    },
    keys: { y: () => app.copy(lines.join("\n"), "the text") },
    canExport: true,
    hints: [["y", "copy"]],
    onClose: () => stop.abort(),
  });
  const writeLine = (text: string) => {
    lines.push(clean(text));
    app.notifyChange();
  };
  void app.jobs.perform(command, words, { writeLine, signal: stop.signal }).then(({ exitCode }) => {
    code = exitCode;
    app.notifyChange();
  });
}

/** Whether a job was refused because its target had changed. Nothing was done. */
function isRefused(job: ConsoleJob | undefined): boolean {
  return job?.code === EXIT.changed && job.reopen !== undefined;
}

/** Shows the output of a job. */
export function openJob(app: ConsoleParts, id: number): void {
  const findJob = () => app.jobs.list.find((job) => job.id === id);
  const overlay: TextOverlay = openText(app, {
    title: findJob()?.title ?? "",
    buildRows: (width) => {
      const job = findJob();
      if (job === undefined) return [];
      const { text, role } = describeJobState(job);
      const wrap = (texts: readonly string[]) =>
        wrapProseLines(texts, app.theme.createLook(width)).map((line) => createRow(line));
      return [
        createRow(text.trim(), role),
        BLANK_ROW,
        ...wrap(job.lines),
        BLANK_ROW,
        createRow("as a command in a shell:", "quiet"),
        ...wrap([job.line]),
      ];
    },
    canExport: true,
    keys: {
      enter: () => {
        const job = findJob();
        app.overlays.close(overlay);
        if (isRefused(job)) job?.reopen?.();
      },
      c: () => app.copy(findJob()?.line ?? "", "the command line"),
      x: () => app.jobs.interrupt(id),
    },
    get hints(): readonly Hint[] {
      const again: Hint = ["Enter", "open the dialog again"];
      return [
        ...(isRefused(findJob()) ? [again] : []),
        ["c", "copy the command"],
        ...(findJob()?.code === undefined ? ([["x", "stop waiting"]] as const) : []),
      ];
    },
  });
}

/** Lines to ask for at first, and to keep. */
const FIRST_LINES = 200;
const MOST_LINES = 2_000;

/** Shows what the selected run, or the run of the selected lock or schedule, has written, and what it writes. */
export function openLiveOutput(app: ConsoleParts): void {
  const obstacle = findPastObstacle(app.liveView);
  if (obstacle !== undefined) return app.showToast(obstacle, "problem");
  const [subject] = getChosenSubjects(app);
  const about = subject?.kind === "record" ? subject.about : subject;
  if (about?.kind !== "run" && about?.kind !== "lock" && about?.kind !== "schedule")
    return app.showToast("output: select a lock, a schedule or a run", "problem", createSameRowCheck(app));
  const lines = new KeptLines();
  const stop = new AbortController();
  let code: number | undefined;
  openText(app, {
    title: `output of ${about.name}`,
    followsEnd: true,
    buildRows: (width) => [
      ...lines.buildRows((texts) => wrapProseLines(texts, app.theme.createLook(width)), width),
      createRow(describeEnd(code, lines.isEmpty) ?? app.theme.signs.ellipsis, "quiet"),
    ],
    keys: { y: () => app.copy(lines.join(), "the output") },
    canExport: true,
    hints: [["y", "copy"]],
    onClose: () => stop.abort(),
  });
  const writeLine = (text: string) => {
    lines.add(clean(text));
    app.notifyChange();
  };
  const words = ["--follow", "--tail", String(FIRST_LINES), about.name];
  const capture = { writeLine, signal: stop.signal };
  void app.jobs.perform(getCommandById("logs"), words, capture).then(({ exitCode }) => {
    code = exitCode;
    app.notifyChange();
  });
}

/** @returns undefined while the output is followed */
function describeEnd(code: number | undefined, isEmpty: boolean): string | undefined {
  if (code === undefined) return undefined;
  if (code !== EXIT.ok) return "no more is shown";
  return isEmpty ? "it has written nothing" : "end of the output";
}

/** The last lines of the output. Wraps each line once, because a fast command makes many frames. */
class KeptLines {
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

  join(): string {
    return this.#lines.join("\n");
  }

  buildRows(wrap: (lines: readonly string[]) => readonly string[], width: number): readonly RowModel[] {
    if (width !== this.#width) this.#wrapped = 0;
    if (this.#wrapped === 0) this.#rows = [];
    this.#rows.push(...wrap(this.#lines.slice(this.#wrapped)).map((line) => createRow(line)));
    this.#wrapped = this.#lines.length;
    this.#width = width;
    return this.#rows;
  }
}
