import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Millis } from "../../core/base/clock.ts";
import { ConfigError } from "../../core/base/errors.ts";
import { clean } from "../../core/base/text.ts";
import { NO_DEBUGGER } from "../../core/process/node-options.ts";
import { canBecomeUsers } from "../../core/process/user-account.ts";
import { type Definition, getScheduleType } from "../../schedule/definition.ts";
import {
  COMMAND_TYPE,
  canHandle,
  createTypeMatcher,
  getUserType,
  listSecretTypes,
} from "../../schedule/handler-types.ts";
import { isMillis, isText, parseJsonFields } from "../../schedule/json-fields.ts";
import type { SecretSpec } from "../file/secret-schema.ts";
import type { WorkerFile } from "../file/worker-file.ts";
import type { HandlerSpec } from "../file/worker-schema.ts";
import type { Handler, HandlerRegistry, TaskResult } from "../handler.ts";
import type { HandlerPorts } from "../worker-ports.ts";
import { CommandHandler, type CommandHandlerOptions, type CommandReport } from "./command-handler.ts";
import { HttpHandler } from "./http-handler.ts";
import { readSecretFile } from "./secrets.ts";

/** Wraps a handler with what the definition requires, such as leases. */
type HandlerWrapper = (handler: Handler, definition: Definition) => Handler;

/** Creates the handlers of a worker's file. @throws ConfigError when the host program for modules, or a secret, is missing */
export function createFileHandlers(
  ports: HandlerPorts,
  file: WorkerFile,
  wrap: HandlerWrapper = (handler) => handler,
): HandlerRegistry {
  const table = file.handlers.map((spec) => {
    return { matches: createTypeMatcher(spec.type), handler: createHandler(ports, spec, file.retryWait) };
  });
  const types = listOwnTypes(ports, file);
  const findUnwrapped = (id: string, definition: Definition): Handler | undefined => {
    const { command } = definition;
    if (command === undefined)
      return table.find(({ matches }) => matches(getScheduleType(id, definition)))?.handler;
    if (!canHandle(types, id, definition)) return undefined;
    const { runAs: user, secrets, secretFiles } = definition;
    const given = {
      secrets: pickSecrets(file.secrets, secrets),
      secretFiles: pickSecrets(file.secrets, secretFiles),
    };
    return new CommandHandler(ports, { command, user, ...given, retryWait: file.retryWait });
  };
  return {
    types: [...types, ...file.handlers.map(({ type }) => type)],
    // Who writes schedules chooses the commands of both; those of hooks run as the worker's user.
    hooks: types.includes(COMMAND_TYPE) ? "all" : "addresses",
    find(id, definition) {
      const handler = findUnwrapped(id, definition);
      return handler && wrap(handler, definition);
    },
  };
}

/**
 * Lists what the worker has for commands of schedules.
 * @throws ConfigError if it cannot become a user of its file, or a secret cannot be used
 */
function listOwnTypes({ user }: HandlerPorts, { commands, users = [user], secrets }: WorkerFile): string[] {
  const other = users.find((name) => name !== user);
  if (other !== undefined && !canBecomeUsers())
    throw new ConfigError(
      `users: this worker runs as ${user}, so it cannot run commands as ${other}; start it as root, or leave ${other} out`,
    );
  for (const spec of Object.values(secrets)) readSecretFile(spec, "in secrets");
  if (!commands) return [];
  const own = users.includes(user) ? [COMMAND_TYPE] : [];
  const given = Object.entries(secrets).flatMap(([name, { schedules }]) => listSecretTypes(name, schedules));
  return [...own, ...users.map(getUserType), ...given];
}

/** Returns where the secrets of variables are. @param wanted  variables, with names of secrets that are there */
function pickSecrets(
  secrets: WorkerFile["secrets"],
  wanted: Readonly<Record<string, string>> = {},
): Record<string, SecretSpec> {
  return Object.fromEntries(
    Object.entries(wanted).flatMap(([variable, name]) => {
      const spec = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
      return spec === undefined ? [] : [[variable, spec]];
    }),
  );
}

function createHandler(ports: HandlerPorts, spec: HandlerSpec, fallback: number | undefined): Handler {
  const { command, module, http, retryWait = fallback, ...options } = spec;
  if (http !== undefined) return new HttpHandler(ports, { http, timeout: options.timeout });
  if (module !== undefined) return createModuleHandler(ports, { ...options, module, retryWait });
  return new CommandHandler(ports, { ...options, command: command ?? [], retryWait });
}

interface ModuleHandlerOptions extends Omit<CommandHandlerOptions, "command" | "hasWord"> {
  /** Path of the module. */
  module: string;
  /** Name of the exported function. Default: `default`. */
  export?: string | undefined;
}

/** The host program for modules is next to the bundle; when run from source, it is in the build output. */
const TASK_HOST_PATHS = ["task-host.mjs", "../../../dist/task-host.mjs"];

/**
 * Creates a handler that runs tasks with a function of a JavaScript or TypeScript module, in a separate process, so that a module
 * cannot affect other tasks. A return completes the task, an exception fails it.
 * @throws ConfigError when the host program is missing
 */
export function createModuleHandler(
  ports: HandlerPorts,
  { module, export: name, ...options }: ModuleHandlerOptions,
): Handler {
  const command = [
    process.execPath,
    NO_DEBUGGER,
    locateHost(),
    module,
    ...(name === undefined ? [] : [name]),
  ];
  const handler = new CommandHandler(ports, { ...options, command, hasWord: true });
  return { run: async (task) => toTaskResult(await handler.runWithReport(task), options.retryWait) };
}

/** Uses the result message of the host program, unless the process was ended from outside. */
function toTaskResult({ verdict, word }: CommandReport, retryWait: Millis | undefined): TaskResult {
  const isOwnEnd = ["ok", "retry", "failed"].includes(verdict.result);
  const { result, wait, reason } = parseJsonFields(word ?? "") ?? {};
  if (!isOwnEnd || (verdict.code ?? 0) > 125) return verdict;
  const { code, tail } = verdict;
  const kept = { ...(code !== undefined && { code }), ...(tail !== undefined && { tail }) };
  if (result === "ok")
    return { result, ...kept, ...(verdict.reason !== undefined && { reason: verdict.reason }) };
  const pause = isMillis(wait) ? wait : retryWait;
  if (result === "retry") return { result, ...(pause !== undefined && { wait: pause }), ...kept };
  if (isText(reason)) return { result: "failed", reason: clean(reason), ...kept };
  return { ...verdict, result: "failed", reason: verdict.reason ?? "the module gave no result" };
}

function locateHost(): string {
  const places = TASK_HOST_PATHS.map((place) => join(import.meta.dirname, place));
  const found = places.find((place) => existsSync(place));
  if (found !== undefined) return found;
  throw new ConfigError(
    `the host of modules is missing: ${places.join(" and ")}; build it with \`npm run build\``,
  );
}
