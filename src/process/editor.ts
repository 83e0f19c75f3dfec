import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

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
