import { formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import { formatSingleDocument } from "../../commands/configure/documents.ts";
import { EditorFile } from "../../commands/editor.ts";
import type { ProgramEnd } from "../../commands/open-external-program.ts";
import { formatScheduleDocument } from "../../commands/schedule/schedule-document.ts";
import type { Command } from "../../commands/spec.ts";
import type { Snapshot } from "../../state/snapshot.ts";
import type { Subject } from "../../state/subject.ts";
import type { ConsoleTable } from "../data/console-table.ts";
import type { ConsoleJob } from "../data/jobs.ts";
import { openDialog } from "../overlays/dialog-openers.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import { formatDetailText } from "../parts/pane-lines.ts";
import { findChangeObstacle, formatSubjectName, getCommandById } from "../parts/row-actions.ts";

/** Loads what starts programs: seldom needed, and slow to load. */
const loadPrograms = () => import("../../commands/open-external-program.ts");

/** Shows what has the keyboard in the user's pager. */
export function openPager(app: ConsoleParts): void {
  const { text } = getShownText(app);
  void lendTo(app, async () => (await loadPrograms()).openUserPager(app, text, app.context.signal));
}

/** Opens a copy of what has the keyboard in the user's editor. The file is removed afterwards. */
export function openInEditor(app: ConsoleParts): void {
  const { name, text } = getShownText(app);
  void editCopy(app, name, text);
}

async function editCopy(app: ConsoleParts, name: string, text: string): Promise<void> {
  const sheet = createSheet(app, text, "signalbox.txt");
  if (sheet === undefined) return;
  try {
    if (await openSheet(app, sheet))
      app.showToast(sheet.isChanged ? `${name} was a copy: your changes have no effect` : `closed ${name}`);
  } finally {
    sheet.discard();
  }
}

/** Writes a text to a private file for an editor. Shows why, if that fails. */
function createSheet(app: ConsoleParts, text: string, name: string): EditorFile | undefined {
  try {
    return new EditorFile(text, name);
  } catch (error) {
    app.showToast(`no file for the editor: ${(error as Error).message}`, "problem");
    return undefined;
  }
}

/** Opens a file in the user's editor. @returns whether the editor succeeded; if not, shows why */
function openSheet(app: ConsoleParts, sheet: EditorFile): Promise<boolean> {
  return lendTo(app, async () => (await loadPrograms()).openUserEditor(app, sheet, app.context.signal));
}

/** The folders of paths. A message in one line has room for the names of programs only; the log has all. */
const FOLDERS = /(?<=^|\s)\/(?:[^\s/]+\/)+/g;

/** Runs a program on the terminal. Never rejects. @returns whether it succeeded; if not, shows why */
async function lendTo(app: ConsoleParts, run: () => Promise<ProgramEnd>): Promise<boolean> {
  try {
    const end = await app.lendTerminal(run);
    if (!end.ok) app.showToast(end.why.replace(FOLDERS, ""), "problem");
    if (!end.ok) app.log.add(end.why);
    return end.ok;
  } catch (error) {
    app.showToast((error as Error).message, "problem");
    return false;
  }
}

/** The definition of a row as a document, and the command that imports the document. */
interface EditableDefinition {
  /** For the user, and the key of its draft: `group web`. */
  target: string;
  text: string;
  command: Command;
  /** The arguments before the file. */
  args: readonly string[];
}

/**
 * Opens the definition of the selected group, resource or schedule in the user's editor. What the user writes goes through the
 * preview and the confirmation of an import. A text that was not stored is kept, and opened again the next time.
 * @returns false if the row has no definition, or nothing can be changed now
 */
export function openDefinition(app: ConsoleParts): boolean {
  const definition = findDefinition(app.getSubject(), app.liveView.snapshot);
  if (definition === undefined || findChangeObstacle(app) !== undefined) return false;
  void edit(app, definition);
  return true;
}

async function edit(app: ConsoleParts, definition: EditableDefinition): Promise<void> {
  const { target, text } = definition;
  const sheet = app.drafts.find(target) ?? createSheet(app, text, "signalbox.json");
  if (sheet === undefined) return;
  app.drafts.keep(target, sheet);
  const isDone = await openSheet(app, sheet);
  if (!sheet.isChanged) {
    app.drafts.discard(target);
    if (isDone) app.showToast(`${target}: nothing was changed`);
    return;
  }
  if (!isDone) return app.showToast(`${target}: your text is kept, E opens it again`, "problem");
  const subject = app.getSubject();
  const now = findDefinition(subject, app.liveView.snapshot);
  if (now?.target === target && now.text !== text)
    app.showToast(`${target} was changed by others meanwhile: read what the preview replaces`, "problem");
  const { command, args } = definition;
  openDialog(app, [{ command, args: [...args, sheet.path], target }], (jobs) => handleEnd(app, target, jobs));
}

/** Removes the text once it is stored. */
function handleEnd(app: ConsoleParts, target: string, jobs: readonly ConsoleJob[]): void {
  if (jobs.every(({ code }) => code === 0)) app.drafts.discard(target);
}

function findDefinition(subject: Subject | undefined, snapshot: Snapshot): EditableDefinition | undefined {
  if (subject?.kind === "record") return findDefinition(subject.about, snapshot);
  if (subject?.kind !== "group" && subject?.kind !== "resource" && subject?.kind !== "schedule")
    return undefined;
  const target = formatSubjectName(subject);
  const { name } = subject;
  if (subject.kind === "schedule") {
    const value = snapshot.schedules.get(name)?.value;
    if (value === undefined) return undefined;
    const text = formatScheduleDocument({ definitions: new Map([[name, value]]), calendars: new Map() });
    return { target, text, command: removeFlag("schedule import", "prune"), args: ["json"] };
  }
  const text = formatSingleDocument(snapshot, subject.kind, name);
  return { target, text, command: removeFlag("import", "replace"), args: [] };
}

/** Returns an import without the flag that removes everything that the document does not have: it has one definition only. */
function removeFlag(id: string, flag: string): Command {
  const command = getCommandById(id);
  return { ...command, flags: (command.flags ?? []).filter(({ name }) => name !== flag) };
}

/** A text for another program: without control characters, because that program may pass them to the terminal. */
interface ShownText {
  /** What it is, for messages: `the detail`. */
  name: string;
  text: string;
}

/** Columns of a text. A pager scrolls to the side, and an editor too. */
const TEXT_WIDTH = 240;
/** Maximum number of rows of a table: more take too long. */
const MOST_ROWS = 20_000;

/** Returns what has the keyboard as text: all of it, also what is scrolled out of view. */
function getShownText(app: ConsoleParts): ShownText {
  const own = app.overlays.top?.getText?.();
  if (own !== undefined) return joinLines("the text", own);
  switch (app.state.focus) {
    case "explorer":
      return joinLines(
        "the explorer",
        app.tree.nodes.map(({ depth, label, note }) => `${"  ".repeat(depth)}${label} ${note}`.trimEnd()),
      );
    case "table":
      return joinLines(`the table ${app.state.tab}`, listTableLines(app, app.table));
    case "detail":
      return joinLines("the detail", formatDetailText(app, TEXT_WIDTH));
    case "panel":
      return joinLines(`the panel ${app.state.panel.id}`, listPanelLines(app));
  }
}

/** Joins lines without their control characters. */
function joinLines(name: string, lines: readonly string[]): ShownText {
  return { name, text: `${lines.map((line) => clean(line).trimEnd()).join("\n")}\n` };
}

function listTableLines(app: ConsoleParts, table: ConsoleTable): string[] {
  const height = Math.min(table.length, MOST_ROWS);
  const look = app.theme.createLook(TEXT_WIDTH);
  const { head, rows } = table.buildRows({ top: 0, height }, app.getWallTime(), look);
  const more = table.length > height ? [`(${table.length - height} more rows)`] : [];
  const lines = [head, ...rows].map((spans) => spans.map(({ text }) => text).join(""));
  return [...(table.length === 0 ? [table.empty] : lines), ...more];
}

function listPanelLines(app: ConsoleParts): readonly string[] {
  switch (app.state.panel.id) {
    case "events":
      return app.events.list.map(({ at, text }) => `${formatInstant(at)} ${text}`);
    case "log":
      return app.log.lines;
    case "jobs":
      return app.jobs.list.flatMap(({ title, code, line, lines }) => [
        `${title}: ${code === undefined ? "running" : `exit code ${code}`}`,
        `$ ${line}`,
        ...lines.map((one) => `  ${one}`),
        "",
      ]);
    default: {
      const table = app.getPanelTable();
      return table === undefined ? [] : listTableLines(app, table);
    }
  }
}
