import { type Definition, typeOf } from "../../schedule/definition.ts";
import { COMMANDS, typeMatcher } from "../../schedule/types.ts";
import type { Handler, Handlers } from "../schedule/handler.ts";
import { CommandHandler } from "./command-handler.ts";
import { ModuleHandler } from "./module-handler.ts";
import type { HandlerPorts } from "./ports.ts";
import type { HandlerSpec, WorkerFile } from "./worker-file.ts";

/** Puts what a definition asks for around a handler, such as its leases. */
export type Wrap = (handler: Handler, definition: Definition) => Handler;

/** Handlers as a worker's file has them. @throws ConfigError when what runs modules is missing */
export function handlersOf(
  ports: HandlerPorts,
  file: WorkerFile,
  wrap: Wrap = (handler) => handler,
): Handlers {
  const table = file.handlers.map((spec) => {
    return { matches: typeMatcher(spec.type), handler: handlerOf(ports, spec, file.retryWait) };
  });
  const found = (id: string, definition: Definition): Handler | undefined => {
    const { command } = definition;
    if (command === undefined) return table.find(({ matches }) => matches(typeOf(id, definition)))?.handler;
    return file.commands ? new CommandHandler(ports, { command, retryWait: file.retryWait }) : undefined;
  };
  return {
    types: [...(file.commands ? [COMMANDS] : []), ...file.handlers.map(({ type }) => type)],
    find(id, definition) {
      const handler = found(id, definition);
      return handler && wrap(handler, definition);
    },
  };
}

function handlerOf(ports: HandlerPorts, spec: HandlerSpec, fallback: number | undefined): Handler {
  const { command, module, retryWait = fallback, ...options } = spec;
  if (module !== undefined) return new ModuleHandler(ports, { ...options, module, retryWait });
  return new CommandHandler(ports, { ...options, command: command ?? [], retryWait });
}
