import { runEditor, runPager, USUAL_PAGER } from "../../core/process/editor-and-pager.ts";

export { runCaptured, runOnTerminal } from "../../core/process/editor-and-pager.ts";

import type { CommandIo } from "./command.ts";

/** How another program on the terminal has ended. */
export type ProgramEnd = { ok: true } | { ok: false; why: string };

export function openUserPager(
  { env: { PAGER } }: CommandIo,
  text: string,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  return runPager(PAGER || USUAL_PAGER, text, signal);
}

export function openUserEditor(
  { env: { VISUAL, EDITOR } }: CommandIo,
  { path }: { readonly path: string },
  signal: AbortSignal,
): Promise<ProgramEnd> {
  return runEditor(VISUAL || EDITOR || "vi", path, signal);
}
