import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { basename } from "node:path";

/** The result of an editor. */
type EditorResult = { ok: true } | { ok: false; why: string };

/**
 * Runs the user's editor on a file, on this process's terminal, and waits for its end. Uses no shell: $EDITOR is a
 * path, or words separated by spaces (`code --wait`).
 * @param signal  ends the editor
 */
export async function runEditor(command: string, file: string, signal: AbortSignal): Promise<EditorResult> {
  const [program = "", ...words] = existsSync(command) ? [command] : command.split(/\s+/).filter(Boolean);
  if (program === "") return { ok: false, why: "no editor is set; set EDITOR" };
  const child = spawn(program, [...words, file], { stdio: "inherit" });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await new Promise((ended) => {
      child.once("error", (error) =>
        ended({ ok: false, why: `the editor cannot be started: ${error.message}` }),
      );
      child.once("close", (code, name) => {
        if (code === 0) ended({ ok: true });
        else ended({ ok: false, why: `the editor ${program} ended with ${name ?? code}` });
      });
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The result of a pager. */
type PagerResult = { ok: true } | { ok: false; why: string };

/** The pager without $PAGER. It shows colours, and no other sequences. */
export const USUAL_PAGER = "less -R";

/**
 * Shows a text in the user's pager, on this process's terminal, and waits for its end. Uses no shell: the command is a path, or
 * words separated by spaces. The pager may end before it has read everything.
 * @param signal  ends the pager
 */
export async function runPager(command: string, text: string, signal: AbortSignal): Promise<PagerResult> {
  const [program = "", ...words] = existsSync(command) ? [command] : command.split(/\s+/).filter(Boolean);
  if (program === "") return { ok: false, why: "no pager is set; set PAGER" };
  // With -F, which many set in $LESS, less would end at once for a short text, and nobody would see it.
  const more = basename(program) === "less" ? ["-+F"] : [];
  const child = spawn(program, [...words, ...more], { stdio: ["pipe", "inherit", "inherit"] });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  child.stdin.on("error", () => {}); // it has ended before it has read everything
  child.stdin.end(text);
  try {
    return await new Promise((ended) => {
      child.once("error", ({ code, message }: NodeJS.ErrnoException) =>
        ended({ ok: false, why: `no pager ${program} (${code ?? message}); set PAGER` }),
      );
      child.once("exit", (code, name) => {
        if (code === 0) ended({ ok: true });
        else ended({ ok: false, why: `the pager ${program} ended with ${name ?? code}` });
      });
    });
  } finally {
    signal.removeEventListener("abort", stop);
    child.stdin.destroy();
  }
}
