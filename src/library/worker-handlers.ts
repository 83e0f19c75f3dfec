import { quoteText } from "../base/text.ts";
import { getScheduleType } from "../schedule/definition.ts";
import { createTypeMatcher } from "../schedule/handler-types.ts";
import { findPatternFault } from "../work/worker/file/pattern.ts";
import type { HandlerRegistry } from "../work/worker/handler.ts";
import { createLeaseAcquirer } from "../work/worker/handlers/lease-acquirer.ts";
import { LeasedHandler } from "../work/worker/handlers/leased-handler.ts";
import type { LibraryConnection } from "./connection.ts";
import { UsageError } from "./errors.ts";
import { FunctionHandler } from "./function-handler.ts";
import type { TaskHandler, TaskMiddleware, WorkerTask } from "./schedule-types.ts";
import type { SessionTimes } from "./session-times.ts";

/** Handlers by type, without the types of their data. */
export type HandlersByType = Readonly<Record<string, TaskHandler>>;

/** Creates the registry of the handlers, each within the middleware. @param stopWorker  for a ProcessStopError */
export function createHandlerRegistry(
  connection: LibraryConnection,
  handlers: HandlersByType,
  middleware: readonly TaskMiddleware[],
  times: SessionTimes,
  stopWorker: () => void,
): HandlerRegistry {
  const { ports, facts, user } = connection;
  const leaseAcquirer = createLeaseAcquirer(ports, { facts, user, ...times });
  const table = Object.entries(handlers).map(([type, handle]) => {
    const wrapped = wrapHandler(handle, middleware);
    const handler = new FunctionHandler(wrapped, ports.clock, times.terminationTimeout, stopWorker);
    return { type, matches: createTypeMatcher(type), handler };
  });
  return {
    types: table.map(({ type }) => type),
    find(id, definition) {
      if (definition.command !== undefined) return undefined;
      const handler = table.find(({ matches }) => matches(getScheduleType(id, definition)))?.handler;
      return handler && definition.leases?.length ? new LeasedHandler(leaseAcquirer, handler) : handler;
    },
  };
}

/** Returns what is wrong with the handlers. */
export function findHandlerFault(handlers: HandlersByType): string | undefined {
  for (const [type, handle] of Object.entries<unknown>(handlers)) {
    const fault = findPatternFault(type);
    if (fault !== undefined) return fault;
    if (typeof handle !== "function") return `the handler of ${quoteText(type)} is not a function`;
  }
  return undefined;
}

/** Puts middleware around a handler. The first one is the outermost. */
export function wrapHandler(handle: TaskHandler, middleware: readonly TaskMiddleware[]): TaskHandler {
  return middleware.reduceRight<TaskHandler>(wrapOnce, handle);
}

function wrapOnce(inner: TaskHandler, around: TaskMiddleware): TaskHandler {
  return (task: WorkerTask) => {
    let isCalled = false;
    return around(task, async () => {
      if (isCalled) throw new UsageError("a middleware called next() twice");
      isCalled = true;
      await inner(task);
    });
  };
}
