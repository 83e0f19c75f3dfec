import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import type { Command } from "../../commands/spec.ts";
import { getCommandById } from "../actions/commands/row-action.ts";
import { describeJobState } from "../jobs/job-state.ts";
import type { ConsoleJob } from "../jobs/jobs.ts";
import { createSameRowCheck } from "../navigation/focus.ts";
import { getChosenSubjects } from "../navigation/marks.ts";
import type { Hint } from "../parts/overlay.ts";
import type { ConsoleControls } from "../parts/parts.ts";
import { BLANK_ROW, createRow } from "../theme/cells.ts";
import { buildProseRows, openText } from "./text-overlay.ts";

/** Shows why the selected run waits, or why nobody gets the selected lock or resource. */
export function openWhy(app: ConsoleControls): void {
  const [subject] = getChosenSubjects(app);
  const about = subject?.kind === "record" ? subject.about : subject;
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
  app: ConsoleControls,
  command: Command,
  words: readonly string[],
  title: string,
): void {
  const lines: string[] = [];
  const stop = new AbortController();
  let code: number | undefined;
  openText(app, {
    title: clean(title, 60),
    buildRows: (width) => {
      const rows = buildProseRows(app, lines, width);
      if (code === undefined) return [...rows, createRow(app.theme.signs.ellipsis, "quiet")];
      return rows.length > 0 ? rows : [createRow("(no output)")];
    },
    keys: { y: () => app.copy(lines.join("\n"), "the text") },
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
export function openJob(app: ConsoleControls, id: number): void {
  const findJob = () => app.jobs.list.find((job) => job.id === id);
  openText(app, {
    title: clean(findJob()?.title ?? "", 60),
    buildRows: (width) => {
      const job = findJob();
      if (job === undefined) return [];
      const { text, role } = describeJobState(job);
      return [
        createRow(text.trim(), role),
        BLANK_ROW,
        ...buildProseRows(app, job.lines, width),
        BLANK_ROW,
        createRow("as a command in a shell:", "quiet"),
        ...buildProseRows(app, [job.line], width),
      ];
    },
    keys: {
      enter: (close) => {
        const job = findJob();
        close();
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
