import type * as OpenTelemetry from "@opentelemetry/api";
import { buildTraceHeaders, buildTraceVariables, readTraceContext } from "../core/base/trace.ts";
import type { Definition } from "../schedule/definition.ts";
import { describeTask, getTaskCaller } from "../worker/task-trace.ts";
import { ConfigError } from "./errors.ts";
import type { TaskMiddleware, WorkerTask } from "./types.ts";

/** Name of the tracer, as exporters show it. */
const TRACER_NAME = "signalbox";

/**
 * Creates a middleware that traces the tasks of a Worker with OpenTelemetry: a span of kind `CONSUMER` for each start, named
 * `process` and the type, with the schedule, the run, the attempt and the scheduled time. It belongs to the trace in which the job
 * was added. Spans of the handler are its children. The package `@opentelemetry/api` is optional: the program installs it, and sets
 * up an SDK.
 * @throws ConfigError if the package is missing
 */
export async function createTaskTracing(): Promise<TaskMiddleware> {
  const api = await loadApi();
  if (api === undefined)
    throw new ConfigError("tracing needs a package that is missing: npm install @opentelemetry/api");
  return (task, next) => {
    const { name, attributes } = describeTask(task);
    const options = { kind: api.SpanKind.CONSUMER, attributes };
    const tracer = api.trace.getTracer(TRACER_NAME);
    const parent = api.propagation.extract(api.context.active(), task.trace ?? {});
    return tracer.startActiveSpan(name, options, parent, (span) => runInSpan(api, span, next));
  };
}

/** Returns the variables that pass on the active trace; none without the package, which the first call loads. */
export async function captureTrace(): Promise<Record<string, string> | undefined> {
  loading ??= loadApi();
  const api = await loading;
  const headers: { traceparent?: string; tracestate?: string } = {};
  api?.propagation.inject(api.context.active(), headers);
  const { traceparent: TRACEPARENT, tracestate: TRACESTATE } = headers;
  const caller = readTraceContext({ TRACEPARENT, TRACESTATE });
  return caller && buildTraceVariables(caller);
}

/** Returns the trace in which a job was added. */
export function findJobTrace(definition: Definition): Pick<WorkerTask, "trace"> {
  const caller = getTaskCaller(definition);
  return caller === undefined ? {} : { trace: buildTraceHeaders(caller) };
}

let loading: ReturnType<typeof loadApi> | undefined;

/** @returns undefined if the package is missing */
async function loadApi(): Promise<typeof OpenTelemetry | undefined> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

async function runInSpan(
  { SpanStatusCode }: typeof OpenTelemetry,
  span: OpenTelemetry.Span,
  next: () => Promise<void>,
): Promise<void> {
  try {
    await next();
  } catch (error) {
    const failure = error instanceof Error ? error : new Error(String(error));
    span.recordException(failure);
    span.setAttribute("error.type", failure.name);
    span.setStatus({ code: SpanStatusCode.ERROR, message: failure.message });
    throw error;
  } finally {
    span.end();
  }
}
