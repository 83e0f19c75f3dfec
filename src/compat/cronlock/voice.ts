import { clean } from "../../base/text.ts";
import type { Surroundings } from "../../commands/spec.ts";
import type { Tool } from "./lock-name.ts";

/** Where and how the tools speak: cronlock says plain lines, golock those of Go's slog. */
export class Voice {
  readonly #tool: Tool;
  readonly #world: Surroundings;
  #isVerbose = false;

  constructor(tool: Tool, world: Surroundings) {
    this.#tool = tool;
    this.#world = world;
  }

  get isVerbose(): boolean {
    return this.#isVerbose;
  }

  beVerbose(isVerbose: boolean): void {
    this.#isVerbose = isVerbose;
  }

  /** What is said only with CRONLOCK_VERBOSE=yes. */
  debug(text: string): void {
    if (this.#isVerbose) this.#say("DEBUG", text);
  }

  /** What has no effect: said to people, but not in every mail of cron's. */
  note(text: string): void {
    if (this.#isVerbose || this.#world.terminal.canAsk()) this.#say("INFO", text);
  }

  error(text: string): void {
    this.#say("ERROR", this.#tool === "golock" ? text : `cronlock: ${text}`);
  }

  /** The command was killed. cronlock says so on standard output, whatever becomes of that. */
  emergency(command: readonly string[], why: string): void {
    const words = clean(command.join(" "));
    if (this.#tool === "golock") return this.error(`emergency: had to kill [${words}] after ${why}`);
    try {
      this.#world.out(`emergency: had to kill '${words}' after ${clean(why)}\n`);
    } catch {
      // a full disk: the exit code tells
    }
  }

  #say(level: string, text: string): void {
    const line = this.#tool === "golock" ? `${goTime(new Date())} ${level} ${text}` : text;
    this.#world.err(`${clean(line)}\n`);
  }
}

/** Local time as Go's log has it: `2026/11/21 05:31:02`. */
function goTime(at: Date): string {
  const two = (part: number) => String(part).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("/");
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}
