import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { fieldsOf, isMillis, isText } from "../../schedule/fields.ts";
import type { Handler, Task, Verdict } from "../schedule/handler.ts";
import { CommandHandler, type CommandOptions, type Report } from "./command-handler.ts";
import type { HandlerPorts } from "./ports.ts";

export interface ModuleOptions extends Omit<CommandOptions, "command" | "hasWord"> {
  /** A path. */
  module: string;
  /** The name of what it exports. Default: `default`. */
  export?: string | undefined;
}

/** The host of modules lies beside the bundle; run from source, it lies where the build puts it. */
const PLACES = ["task-host.mjs", "../../../dist/task-host.mjs"];

/**
 * Runs tasks with a function of a JavaScript or TypeScript module, in a process of its own: what a module does to its process, it
 * does to no other task. Returning finishes the task, throwing fails it.
 */
export class ModuleHandler implements Handler {
  readonly #command: CommandHandler;
  readonly #retryWait: number | undefined;

  /** @throws ConfigError when the host is missing */
  constructor(ports: HandlerPorts, { module, export: name, ...options }: ModuleOptions) {
    const command = [process.execPath, locateHost(), module, ...(name === undefined ? [] : [name])];
    this.#retryWait = options.retryWait;
    this.#command = new CommandHandler(ports, { ...options, command, hasWord: true });
  }

  async run(task: Task): Promise<Verdict> {
    return judged(await this.#command.report(task), this.#retryWait);
  }
}

/** What the host said counts, unless the process was ended from without. */
function judged({ verdict, word }: Report, retryWait: number | undefined): Verdict {
  const isOwnEnd = ["ok", "retry", "failed"].includes(verdict.result);
  const { result, wait, reason } = fieldsOf(word ?? "") ?? {};
  if (!isOwnEnd || (verdict.code ?? 0) > 125) return verdict;
  const { code, tail } = verdict;
  const kept = { ...(code !== undefined && { code }), ...(tail !== undefined && { tail }) };
  if (result === "ok") return { result, ...kept };
  const pause = isMillis(wait) ? wait : retryWait;
  if (result === "retry") return { result, ...(pause !== undefined && { wait: pause }), ...kept };
  if (isText(reason)) return { result: "failed", reason: clean(reason), ...kept };
  return { ...verdict, result: "failed", reason: verdict.reason ?? "the module's host said nothing" };
}

function locateHost(): string {
  const places = PLACES.map((place) => join(import.meta.dirname, place));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new ConfigError(
    `the host of modules is missing: ${places.join(" and ")}; build it with \`npm run build\``,
  );
}
