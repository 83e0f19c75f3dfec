import { EditorFile } from "../../commands/editor/editor-file.ts";
import type { ProgramEnd } from "../../commands/editor/open-external-program.ts";
import type {
  EnvironmentAccess,
  LogAccess,
  SettingsAccess,
  TerminalControl,
  ToastAccess,
} from "../parts/parts.ts";
import { getShownText, type ShownTextParts } from "./shown-text.ts";

export type ExternalParts = EnvironmentAccess & LogAccess & SettingsAccess & TerminalControl & ToastAccess;

/** Loads what starts programs: seldom needed, and slow to load. */
const loadPrograms = () => import("../../commands/editor/open-external-program.ts");

/** Shows what has the keyboard in the user's pager. */
export function openPager(app: ExternalParts & ShownTextParts): void {
  const { text } = getShownText(app);
  void lendTo(app, async () => (await loadPrograms()).openUserPager(app, text, app.context.signal));
}

/** Opens a copy of what has the keyboard in the user's editor. The file is removed afterwards. */
export function openInEditor(app: ExternalParts & ShownTextParts): void {
  const { name, text } = getShownText(app);
  void editCopy(app, name, text);
}

async function editCopy(app: ExternalParts, name: string, text: string): Promise<void> {
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
export function createSheet(app: ToastAccess, text: string, name: string): EditorFile | undefined {
  try {
    return new EditorFile(text, name);
  } catch (error) {
    app.showToast(`no file for the editor: ${(error as Error).message}`, "problem");
    return undefined;
  }
}

/** Opens a file in the user's editor. @returns whether the editor succeeded; if not, shows why */
export function openSheet(app: ExternalParts, sheet: EditorFile): Promise<boolean> {
  return lendTo(app, async () => (await loadPrograms()).openUserEditor(app, sheet, app.context.signal));
}

/** The folders of paths. A message in one line has room for the names of programs only; the log has all. */
const FOLDERS = /(?<=^|\s)\/(?:[^\s/]+\/)+/g;

/** Runs a program on the terminal. Never rejects. @returns whether it succeeded; if not, shows why */
async function lendTo(
  app: LogAccess & TerminalControl & ToastAccess,
  run: () => Promise<ProgramEnd>,
): Promise<boolean> {
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
