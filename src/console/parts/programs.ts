import { EditorFile } from "../../cli/frame/editor.ts";
import type { ProgramEnd } from "../../cli/frame/open-external-program.ts";
import { getErrorMessage } from "../../core/base/errors.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { ConsoleJob } from "../data/jobs.ts";

/** Loads the functions that start programs: rarely needed, and slow to load. */
export const loadPrograms = () => import("../../cli/frame/open-external-program.ts");

/** Writes a text to a private file for an editor. If that fails, shows why. */
export function createSheet(app: ConsoleApp, text: string, name: string): EditorFile | undefined {
  try {
    return new EditorFile(text, name);
  } catch (error) {
    app.showToast(`no file for the editor: ${getErrorMessage(error)}`, "problem");
    return undefined;
  }
}

/** Opens a file in the user's editor. @returns whether the editor succeeded; if not, shows why */
export function openSheet(app: ConsoleApp, sheet: EditorFile): Promise<boolean> {
  return lendTo(app, async () =>
    (await loadPrograms()).openUserEditor(app.ports.io, sheet, app.context.signal),
  );
}

/**
 * Opens a text in the user's editor. A text that was not stored is kept, and opened again the next time.
 * @param key  the key that opens it again
 * @returns undefined if there is nothing to store; then shows why
 */
export async function editDraft(
  app: ConsoleApp,
  target: string,
  { text, name, key }: { text: string; name: string; key: string },
): Promise<EditorFile | undefined> {
  const sheet = app.drafts.find(target) ?? createSheet(app, text, name);
  if (sheet === undefined) return undefined;
  app.drafts.keep(target, sheet);
  const isDone = await openSheet(app, sheet);
  if (sheet.isChanged && isDone) return sheet;
  if (sheet.isChanged) app.showToast(`${target}: your text is kept, ${key} opens it again`, "problem");
  else app.drafts.discard(target);
  if (!sheet.isChanged && isDone) app.showToast(`${target}: nothing was changed`);
  return undefined;
}

/** Matches the folders of paths. A message of one line has room only for the names of programs; the log has the paths. */
const FOLDERS = /(?<=^|\s)\/(?:[^\s/]+\/)+/g;

/** Runs a program on the terminal. Never rejects. @returns whether it succeeded; if not, shows why */
export async function lendTo(app: ConsoleApp, run: () => Promise<ProgramEnd>): Promise<boolean> {
  try {
    const end = await app.ports.lendTerminal(run);
    if (!end.ok) app.showToast(end.why.replace(FOLDERS, ""), "problem");
    if (!end.ok) app.log.add(end.why);
    return end.ok;
  } catch (error) {
    app.showToast(getErrorMessage(error), "problem");
    return false;
  }
}

/** Removes the text of a target once the jobs have stored it. */
export function discardStored(app: ConsoleApp, target: string, jobs: readonly ConsoleJob[]): void {
  if (jobs.every(({ code }) => code === 0)) app.drafts.discard(target);
}
