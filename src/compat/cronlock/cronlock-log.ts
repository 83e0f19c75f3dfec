import { clean } from "../../base/text.ts";
import type { CommandIo } from "../../commands/spec.ts";
import { formatLogTime } from "../front-end.ts";
import type { CronlockTool } from "./variables.ts";

/** Writes messages in the format of the tool: plain lines for cronlock, lines of Go's slog for golock. */
export class CronlockLog {
  readonly #tool: CronlockTool;
  readonly #io: CommandIo;
  #isVerbose = false;

  constructor(tool: CronlockTool, io: CommandIo) {
    this.#tool = tool;
    this.#io = io;
  }

  get isVerbose(): boolean {
    return this.#isVerbose;
  }

  setVerbose(isVerbose: boolean): void {
    this.#isVerbose = isVerbose;
  }

  /** Writes a message only if CRONLOCK_VERBOSE=yes. */
  debug(text: string): void {
    if (this.#isVerbose) this.#write("DEBUG", text);
  }

  /**
   * Writes a message about something without effect: on a terminal or in verbose mode, but not into every mail of
   * cron.
   */
  info(text: string): void {
    if (this.#isVerbose || this.#io.terminal.canAsk()) this.#write("INFO", text);
  }

  /** Writes the line of golock with the lock's name, which CRONLOCK_SHOW_KEY asks for. cronlock has none. */
  reportKey(text: string, isShown: boolean): void {
    if (isShown) this.#write("INFO", text);
    else if (this.#tool === "golock") this.debug(text);
  }

  error(text: string): void {
    this.#write("ERROR", this.#tool === "golock" ? text : `cronlock: ${text}`);
  }

  /** Reports that the command was killed. cronlock writes this to standard output. Write errors are ignored. */
  reportKilledCommand(command: readonly string[], why: string): void {
    const words = clean(command.join(" "));
    if (this.#tool === "golock") return this.error(`emergency: had to kill [${words}] after ${why}`);
    try {
      this.#io.writeOutput(`emergency: had to kill '${words}' after ${clean(why)}\n`);
    } catch {
      // a full disk: the exit code shows the result
    }
  }

  #write(level: string, text: string): void {
    const line = this.#tool === "golock" ? `${formatLogTime(new Date(), "/")} ${level} ${text}` : text;
    this.#io.writeError(`${clean(line)}\n`);
  }
}
