import * as v from "valibot";
import {
  type Clock,
  formatDuration,
  listenForAbort,
  NO_LONGER_NEEDED,
  subtractTime,
  waitForAbort,
} from "../core/base/clock.ts";
import { isJsonObject, parseJson } from "../core/base/parse-json.ts";
import { refuseFault } from "../core/base/schema.ts";
import { clean, cleanLines, quoteText } from "../core/base/text.ts";
import { buildTraceHeaders } from "../core/base/trace.ts";
import { type Definition, getScheduleType } from "../schedule/definition.ts";
import { createTypeMatcher } from "../schedule/handler-types.ts";
import { toJsonData } from "../schedule/json-fields.ts";
import { LARGEST_RESULT } from "../schedule/state/outcome.ts";
import { findPatternFault } from "../worker/file/schema-parts.ts";
import {
  type Handler,
  type HandlerRegistry,
  type ScheduledTask,
  TaskLost,
  type TaskResult,
} from "../worker/handler.ts";
import { createLeaseAcquirer, createLeasedHandler } from "../worker/handlers/leased-handler.ts";
import { getTaskCaller } from "../worker/task-trace.ts";
import { type LibraryConnection, translated } from "./connection.ts";
import {
  ClosedError,
  PreemptedError,
  ProcessStopError,
  SignalboxError,
  TimeoutError,
  TooLargeError,
  UsageError,
} from "./errors.ts";
import { DURATION, parseArgument, quoteOption, type SessionTimes, TEXT } from "./options-schema.ts";
import type { TaskHandler, TaskMiddleware, WorkerTask } from "./types.ts";

/** Handlers by type, without the types of their data. */
type HandlersByType = Readonly<Record<string, TaskHandler>>;

/** Options of what runs tasks with functions of the program. */
export const HANDLER_OPTIONS = {
  handlers: v.pipe(
    v.custom<HandlersByType>(isJsonObject, quoteOption("is not an object with a function for each type")),
    refuseFault(findHandlerFault),
  ),
  middleware: v.optional(
    v.custom<readonly TaskMiddleware[]>(isFunctions, quoteOption("is not a list of functions")),
    [],
  ),
};

function isFunctions(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "function");
}

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
    const call = createHandlerCall(handle, middleware);
    const handler = createFunctionHandler(call, ports.clock, times.terminationTimeout, stopWorker);
    return { type, matches: createTypeMatcher(type), handler };
  });
  return {
    types: table.map(({ type }) => type),
    hooks: connection.hookPermission,
    find(id, definition) {
      if (definition.command !== undefined) return undefined;
      const handler = table.find(({ matches }) => matches(getScheduleType(id, definition)))?.handler;
      return handler && definition.leases?.length ? createLeasedHandler(leaseAcquirer, handler) : handler;
    },
  };
}

/** Returns what is wrong with the handlers. */
function findHandlerFault(handlers: HandlersByType): string | undefined {
  for (const [type, handle] of Object.entries<unknown>(handlers)) {
    const fault = findPatternFault(type);
    if (fault !== undefined) return fault;
    if (typeof handle !== "function") return `the handler of ${quoteText(type)} is not a function`;
  }
  return undefined;
}

/** Calls a handler and its middleware. @returns what the handler returned */
type HandlerCall = (task: WorkerTask) => Promise<unknown>;

/** Puts middleware around a handler. The first one is the outermost. */
export function createHandlerCall(handle: TaskHandler, middleware: readonly TaskMiddleware[]): HandlerCall {
  return async (task) => {
    let value: unknown;
    const inner = async (one: WorkerTask) => {
      value = await handle(one);
    };
    await middleware.reduceRight<TaskHandler>(wrapOnce, inner)(task);
    return value;
  };
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

const LONGEST_REASON = 500;

/**
 * Creates a handler that runs tasks with a function of this program. It returns when the function returns, or when the function
 * does not end in time after its signal was aborted.
 * @param stopWorker  called when the function throws a ProcessStopError
 */
function createFunctionHandler(
  call: HandlerCall,
  clock: Clock,
  terminationTimeout: number,
  stopWorker: () => void,
): Handler {
  /** @param over  aborted when the function has ended: a timer would keep the process alive */
  const waitUntilLate = async (task: ScheduledTask, signal: AbortSignal, over: AbortSignal) => {
    await waitForAbort(signal);
    const left = Math.max(0, subtractTime(task.getHorizon(), clock.now()));
    await clock.sleep(Math.min(terminationTimeout, left), over);
    return { result: "failed", reason: "its handler did not end after its signal was aborted" } as const;
  };
  return {
    async run(task) {
      const over = new AbortController();
      const ending = new AbortController(); // `AbortSignal.any` would stay in memory, with the listeners of the function
      const { signal } = ending;
      listenForAbort(task.signal, () => ending.abort(toTaskError(task.signal.reason)));
      const { timeout } = task.definition;
      if (timeout !== undefined)
        void clock.sleep(timeout, over.signal).then(
          () => ending.abort(new TimeoutError(`the task's timeout of ${formatDuration(timeout)} has passed`)),
          () => {},
        );
      try {
        const verdict = await Promise.race([
          callHandler(call, task, signal, stopWorker),
          waitUntilLate(task, signal, over.signal),
        ]);
        if (verdict.result === "ok" || !signal.aborted) return verdict;
        return toEndResult(signal.reason, verdict.reason);
      } finally {
        over.abort(NO_LONGER_NEEDED);
      }
    },
  };
}

async function callHandler(
  call: HandlerCall,
  task: ScheduledTask,
  signal: AbortSignal,
  stopWorker: () => void,
): Promise<TaskResult> {
  let asked: TaskResult | undefined;
  const facts: WorkerTask = {
    id: task.id,
    ...(task.host !== undefined && { host: task.host }),
    ...findJobTrace(task.definition),
    type: task.type,
    data: task.definition.data,
    run: task.run,
    token: task.token,
    scheduledTime: new Date(task.scheduled),
    attempt: task.attempt,
    signal,
    retry: (wait) => {
      asked ??= {
        result: "retry",
        ...(wait !== undefined && { wait: parseArgument("wait", wait, DURATION) }),
      };
    },
    ...buildCheckpointFacts(task.checkpoint, (text) => task.saveCheckpoint(text)),
    progress: (text) => task.reportProgress(parseArgument("text", text, TEXT)),
    release: () => {
      asked ??= { result: "released" };
    },
  };
  try {
    const value = await call(facts);
    return asked ?? { result: "ok", ...(task.definition.keepResult !== undefined && keepResult(value)) };
  } catch (error) {
    if (error instanceof ProcessStopError) {
      stopWorker(); // before the task is given back, so that this worker does not take it again
      return { result: "released", reason: formatReason(error) };
    }
    return { result: "failed", ...describeFailure(error) };
  }
}

/** Builds the properties of a task that are about checkpoints. @param last  JSON, or any text that a command has written */
export function buildCheckpointFacts(
  last: string | undefined,
  save: (text: string) => Promise<void>,
): Pick<WorkerTask, "checkpoint" | "lastCheckpoint"> {
  const lastCheckpoint = last === undefined ? undefined : parseJson(last);
  return {
    ...(lastCheckpoint !== undefined && { lastCheckpoint }),
    checkpoint: (data) => {
      const saved = translated(async () => save(JSON.stringify(toJsonData("checkpoint", data))));
      saved.catch(() => {}); // a program that does not wait for it is not ended
      return saved;
    },
  };
}

/**
 * Builds the result of a task that was aborted from outside. The reason of the abort decides the result, not what the
 * handler did after it.
 */
function toEndResult(reason: unknown, said: string | undefined): TaskResult {
  const lost = reason instanceof SignalboxError ? reason.cause : undefined;
  if (!(lost instanceof TaskLost)) return { result: "timeout", reason: said ?? formatReason(reason) };
  return { result: lost.result, reason: lost.message };
}

/** Converts the reason of a task's signal to an error of the library. */
function toTaskError(cause: unknown): SignalboxError {
  const isReleased = cause instanceof TaskLost && cause.result === "released";
  const message = cause instanceof Error ? cause.message : String(cause);
  return isReleased ? new ClosedError(message, { cause }) : new PreemptedError(message, { cause });
}

/** Returns the result to store, or why it is missing: what is done must not be done again. */
function keepResult(value: unknown): Pick<TaskResult, "value" | "errorCode" | "reason"> {
  try {
    return checkResult(value);
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error;
    return { errorCode: error.code, reason: error.message };
  }
}

/** Checks the result of a task. @throws TooLargeError, NotSupportedError */
export function checkResult(value: unknown): { value?: unknown } {
  if (value === undefined) return {};
  const data = toJsonData("result", value);
  const size = Buffer.byteLength(JSON.stringify(data));
  if (size <= LARGEST_RESULT) return { value: data };
  throw new TooLargeError(
    `the result has ${size} bytes, and at most ${LARGEST_RESULT} are kept; store it elsewhere, and return where`,
  );
}

/** Maximum length of a stack, characters. */
const LONGEST_STACK = 4_000;

/** Describes what a handler has thrown, for the outcome. */
export function describeFailure(error: unknown): Pick<TaskResult, "reason" | "errorCode" | "tail"> {
  const { code, stack } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return {
    reason: formatReason(error),
    ...(typeof code === "string" && { errorCode: clean(code, 60) }),
    ...(stack !== undefined && { tail: cleanLines(stack.slice(0, LONGEST_STACK)) }),
  };
}

function formatReason(error: unknown): string {
  return clean(error instanceof Error ? `${error.name}: ${error.message}` : String(error), LONGEST_REASON);
}

/** Returns the trace in which a job was added. */
export function findJobTrace(definition: Definition): Pick<WorkerTask, "trace"> {
  const caller = getTaskCaller(definition);
  return caller === undefined ? {} : { trace: buildTraceHeaders(caller) };
}
