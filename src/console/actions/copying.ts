import { quoteShellWord } from "../../base/shell.ts";
import { formatJsonDocument } from "../../commands/json-output.ts";
import { buildRerunSection } from "../../model/detail/queue.ts";
import type { Subject } from "../../model/views/view.ts";
import { listContextWords } from "../overlays/dialog-form.ts";
import { getChosenSubjects } from "../parts/marks.ts";
import type { ClipboardAccess, SelectionAccess, SettingsAccess, ToastAccess } from "../parts/parts.ts";
import { formatSubjectName } from "../parts/row-action.ts";

type CopyingParts = ClipboardAccess & SelectionAccess & SettingsAccess & ToastAccess;

/** Copies the names of the chosen rows, one per line. */
export function copyName(app: CopyingParts): void {
  const subjects = getChosenSubjects(app);
  if (subjects.length === 0) return app.showToast("nothing is selected");
  app.copy(
    subjects.map(({ name }) => name).join("\n"),
    subjects.length === 1 ? formatOptionalSubject(subjects[0]) : `${subjects.length} names`,
  );
}

/** Copies the row under the cursor as JSON, as `signalbox ls --json` prints it. */
export function copyJson(app: CopyingParts): void {
  const row = app.table.getJsonAt(app.state.tabs[app.state.tab].cursor.index);
  if (row === undefined) return app.showToast("nothing is selected");
  app.copy(formatJsonDocument(row), "the row as JSON");
}

/** Copies the command that shows the same. */
export function copyCommand(app: CopyingParts): void {
  const subject = app.getSubject();
  const { filter } = app.state.tabs[app.state.tab];
  const line =
    formatShowCommand(subject) ??
    `signalbox ls ${app.state.tab}${filter === "" ? "" : ` --filter ${quoteShellWord(filter)}`}`;
  const whole = [line, ...listContextWords(app).map(quoteShellWord)].join(" ");
  app.copy(whole, whole);
}

/** Copies the command line that runs the selected lock's last job again. */
export function copyRun(app: CopyingParts): void {
  const subject = app.getSubject();
  const lock = subject?.kind === "record" ? subject.about : subject;
  const [section] = lock?.kind === "lock" ? buildRerunSection(lock.name, app.liveView.snapshot) : [];
  if (section?.kind !== "lines")
    return app.showToast("run again: select a lock that has a history", "problem");
  app.copy(section.lines.join("\n"), section.lines.join(""));
}

function formatShowCommand(subject: Subject | undefined): string | undefined {
  if (subject?.kind === "record") return formatShowCommand(subject.about);
  if (subject === undefined || subject.kind === "drain") return undefined;
  return `signalbox show ${subject.kind} ${quoteShellWord(subject.name)}`;
}

function formatOptionalSubject(subject: Subject | undefined): string {
  return subject === undefined ? "" : formatSubjectName(subject);
}
