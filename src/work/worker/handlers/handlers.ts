import { type Definition, getScheduleType } from "../../../schedule/definition.ts";
import { COMMAND_TYPE, createTypeMatcher } from "../../../schedule/handler-types.ts";
import type { WorkerFile } from "../file/worker-file.ts";
import type { HandlerSpec } from "../file/worker-schema.ts";
import type { Handler, HandlerRegistry } from "../handler.ts";
import { CommandHandler } from "./command-handler.ts";
import type { HandlerPorts } from "./handler-ports.ts";
import { HttpHandler } from "./http-handler.ts";
import { ModuleHandler } from "./module-handler.ts";

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
  const findUnwrapped = (id: string, definition: Definition): Handler | undefined => {
    const { command } = definition;
    if (command === undefined)
      return table.find(({ matches }) => matches(getScheduleType(id, definition)))?.handler;
    return file.commands ? new CommandHandler(ports, { command, retryWait: file.retryWait }) : undefined;
  };
  return {
    types: [...(file.commands ? [COMMAND_TYPE] : []), ...file.handlers.map(({ type }) => type)],
    find(id, definition) {
      const handler = findUnwrapped(id, definition);
      return handler && wrap(handler, definition);
    },
  };
}

function createHandler(ports: HandlerPorts, spec: HandlerSpec, fallback: number | undefined): Handler {
  const { command, module, http, retryWait = fallback, ...options } = spec;
  if (http !== undefined) return new HttpHandler(ports, { http, timeout: options.timeout });
  if (module !== undefined) return new ModuleHandler(ports, { ...options, module, retryWait });
  return new CommandHandler(ports, { ...options, command: command ?? [], retryWait });
}
