import { formatSingleDocument } from "../../commands/configure/transfer/single-document.ts";
import { formatScheduleDocument } from "../../commands/schedule/transfer/schedule-document.ts";
import type { Command } from "../../commands/spec.ts";
import type { Snapshot } from "../../model/snapshot/snapshot.ts";
import type { Subject } from "../../model/views/view.ts";
import type { ConsoleJob } from "../data/jobs.ts";
import { openDialog } from "../overlays/open-dialog.ts";
import { findChangeObstacle } from "../parts/change-obstacle.ts";
import type { DialogPorts, DraftAccess, SubjectAccess } from "../parts/parts.ts";
import { formatSubjectName, getCommandById } from "../parts/row-action.ts";
import { createSheet, type ExternalParts, openSheet } from "./open-external.ts";

type DefinitionParts = DialogPorts & DraftAccess & ExternalParts & SubjectAccess;

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
export function openDefinition(app: DefinitionParts): boolean {
  const definition = findDefinition(app.getSubject(), app.liveView.snapshot);
  if (definition === undefined || findChangeObstacle(app) !== undefined) return false;
  void edit(app, definition);
  return true;
}

async function edit(app: DefinitionParts, definition: EditableDefinition): Promise<void> {
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
function handleEnd(app: DefinitionParts, target: string, jobs: readonly ConsoleJob[]): void {
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
