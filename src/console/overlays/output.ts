import { cleanToWidth } from "../../base/display-width.ts";
import { EXIT } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import type { Command } from "../../commands/spec.ts";
import { describeJobState } from "../data/job-state.ts";
import type { ConsoleJob } from "../data/jobs.ts";
import { findPastObstacle } from "../parts/change-obstacle.ts";
import { createSameRowCheck } from "../parts/focus.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type { Hint } from "../parts/overlay.ts";
import type {
  ChangeNotifier,
  ClipboardAccess,
  JobAccess,
  OverlayAccess,
  SelectionAccess,
  ThemeAccess,
  ToastAccess,
} from "../parts/parts.ts";
import { getCommandById } from "../parts/row-action.ts";
import { createRow } from "../theme/cells.ts";
import { BLANK_ROW } from "./content-rows.ts";
import { type ExportParts, openExportOverlay } from "./export-overlay.ts";
import { TextOverlay } from "./text-overlay.ts";

/** What shows the output of a command. */
type OutputParts = ExportParts & ChangeNotifier & ClipboardAccess & JobAccess & OverlayAccess & ThemeAccess;

/** Shows why the selected run waits, or why nobody gets the selected lock or resource. */
export function openWhy(app: OutputParts & SelectionAccess & ToastAccess): void {
  const [subject] = getChosenSubjects(app);
  const about = subject?.kind === "record" ? subject.about : subject;
  const obstacle = findPastObstacle(app);
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
  app: OutputParts,
  command: Command,
  words: readonly string[],
  title: string,
): void {
  const lines: string[] = [];
  const stop = new AbortController();
  let code: number | undefined;
  const overlay: TextOverlay = new TextOverlay({
    title: cleanToWidth(title, 60),
    buildRows: (width) => {
      const rows = wrapProseLines(lines, app.theme.createLook(width)).map((line) => createRow(line));
      if (code === undefined) return [...rows, createRow(app.theme.signs.ellipsis, "quiet")];
      return rows.length > 0 ? rows : [createRow("(no output)")];
    },
    close: () => app.overlays.close(overlay),
    onChange: () => app.notifyChange(),
    keys: { y: () => app.copy(lines.join("\n"), "the text") },
    onExport: (texts) => openExportOverlay(app, { kind: "text", name: title, title, lines: texts }),
    hints: [["y", "copy"]],
    onClose: () => stop.abort(),
  });
  app.overlays.open(overlay);
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
export function openJob(app: OutputParts, id: number): void {
  const findJob = () => app.jobs.list.find((job) => job.id === id);
  const overlay: TextOverlay = new TextOverlay({
    title: cleanToWidth(findJob()?.title ?? "", 60),
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
    close: () => app.overlays.close(overlay),
    onChange: () => app.notifyChange(),
    onExport: (lines) => {
      const title = findJob()?.title ?? "job";
      openExportOverlay(app, { kind: "text", name: title, title, lines });
    },
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
  app.overlays.open(overlay);
}
