import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../../base/errors.ts";
import { clean } from "../../../base/text.ts";
import { isMillis, isText, parseJsonFields } from "../../../schedule/json-fields.ts";
import type { Handler, ScheduledTask, TaskResult } from "../handler.ts";
import { CommandHandler, type CommandHandlerOptions, type CommandReport } from "./command-handler.ts";
import type { HandlerPorts } from "./handler-ports.ts";

interface ModuleHandlerOptions extends Omit<CommandHandlerOptions, "command" | "hasWord"> {
  /** Path of the module. */
  module: string;
  /** Name of the exported function. Default: `default`. */
  export?: string | undefined;
}

/** The host program for modules is next to the bundle; when run from source, it is in the build output. */
const PLACES = ["task-host.mjs", "../../../../dist/task-host.mjs"];

/**
 * Runs tasks with a function of a JavaScript or TypeScript module, in a separate process, so that a module cannot
 * affect other tasks. A return completes the task, an exception fails it.
 */
export class ModuleHandler implements Handler {
  readonly #command: CommandHandler;
  readonly #retryWait: number | undefined;

  /** @throws ConfigError when the host program is missing */
  constructor(ports: HandlerPorts, { module, export: name, ...options }: ModuleHandlerOptions) {
    const command = [process.execPath, locateHost(), module, ...(name === undefined ? [] : [name])];
    this.#retryWait = options.retryWait;
    this.#command = new CommandHandler(ports, { ...options, command, hasWord: true });
  }

  async run(task: ScheduledTask): Promise<TaskResult> {
    return toTaskResult(await this.#command.runWithReport(task), this.#retryWait);
  }
}

/** Uses the result message of the host program, unless the process was ended from outside. */
function toTaskResult({ verdict, word }: CommandReport, retryWait: number | undefined): TaskResult {
  const isOwnEnd = ["ok", "retry", "failed"].includes(verdict.result);
  const { result, wait, reason } = parseJsonFields(word ?? "") ?? {};
  if (!isOwnEnd || (verdict.code ?? 0) > 125) return verdict;
  const { code, tail } = verdict;
  const kept = { ...(code !== undefined && { code }), ...(tail !== undefined && { tail }) };
  if (result === "ok") return { result, ...kept };
  const pause = isMillis(wait) ? wait : retryWait;
  if (result === "retry") return { result, ...(pause !== undefined && { wait: pause }), ...kept };
  if (isText(reason)) return { result: "failed", reason: clean(reason), ...kept };
  return { ...verdict, result: "failed", reason: verdict.reason ?? "the module gave no result" };
}

function locateHost(): string {
  const places = PLACES.map((place) => join(import.meta.dirname, place));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new ConfigError(
    `the host of modules is missing: ${places.join(" and ")}; build it with \`npm run build\``,
  );
}
