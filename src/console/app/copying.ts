import { shellWord } from "../../base/shell.ts";
import { json } from "../../commands/table.ts";
import { runAgain } from "../../model/detail/queue.ts";
import type { Subject } from "../../model/tables/view.ts";
import { nameOf } from "../act/deed.ts";
import type { App } from "./app.ts";
import { chosen } from "./marks.ts";

/** The names of what is chosen, one a line. */
export function copyName(app: App): void {
  const subjects = chosen(app);
  if (subjects.length === 0) return app.toast("nothing is selected");
  app.copy(
    subjects.map(({ name }) => name).join("\n"),
    subjects.length === 1 ? subjectName(subjects[0]) : `${subjects.length} names`,
  );
}

/** The row under the cursor as programs get it from `signalbox ls --json`. */
export function copyJson(app: App): void {
  const row = app.table.jsonAt(app.state.tabs[app.state.tab].cursor.index);
  if (row === undefined) return app.toast("nothing is selected");
  app.copy(json(row), "the row as JSON");
}

/** The command that shows the same. */
export function copyCommand(app: App): void {
  const subject = app.subject();
  const { filter } = app.state.tabs[app.state.tab];
  const line =
    showLine(subject) ??
    `signalbox ls ${app.state.tab}${filter === "" ? "" : ` --filter ${shellWord(filter)}`}`;
  app.copy(line, line);
}

/** The command line that runs the selected lock's last job again. */
export function copyRun(app: App): void {
  const subject = app.subject();
  const lock = subject?.kind === "record" ? subject.about : subject;
  const [section] = lock?.kind === "lock" ? runAgain(lock.name, app.sight.picture) : [];
  if (section?.kind !== "lines") return app.toast("run again: choose a lock that has a history", "problem");
  app.copy(section.lines.join("\n"), section.lines.join(""));
}

function showLine(subject: Subject | undefined): string | undefined {
  if (subject?.kind === "record") return showLine(subject.about);
  if (subject === undefined || subject.kind === "drain") return undefined;
  return `signalbox show ${subject.kind} ${shellWord(subject.name)}`;
}

function subjectName(subject: Subject | undefined): string {
  return subject === undefined ? "" : nameOf(subject);
}
