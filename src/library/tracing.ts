import type * as OpenTelemetry from "@opentelemetry/api";
import { buildTraceVariables, readTraceContext } from "../base/trace.ts";
import type { Definition } from "../schedule/definition.ts";
import { describeTask } from "../worker/task-trace.ts";
import { ConfigError } from "./errors.ts";
import type { TaskMiddleware, WorkerTask } from "./types.ts";

/** Name of the tracer, as exporters show it. */
const TRACER = "signalbox";

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
    const { name, attributes } = describeTask({ ...task, scheduledTime: task.scheduledTime.toISOString() });
    const options = { kind: api.SpanKind.CONSUMER, attributes };
    const tracer = api.trace.getTracer(TRACER);
    return tracer.startActiveSpan(name, options, joinTrace(api, task), (span) => runInSpan(api, span, next));
  };
}

/**
 * Returns the variables that pass on the span in which the caller is active. The package is loaded with the first call; without it,
 * or without a span, there are none.
 */
export async function captureTrace(): Promise<Record<string, string> | undefined> {
  loading ??= loadApi();
  const api = await loading;
  const span = api?.trace.getSpanContext(api.context.active());
  if (api === undefined || span === undefined || !api.isSpanContextValid(span)) return undefined;
  const { traceId, spanId, traceFlags: flags, traceState } = span;
  const state = traceState?.serialize() ?? "";
  return buildTraceVariables({ traceId, spanId, flags, ...(state !== "" && { state }) });
}

/** Returns the trace in which a job was added: it is in the variables of the job. */
export function findJobTrace({ env = {} }: Pick<Definition, "env">): Pick<WorkerTask, "trace"> {
  const caller = readTraceContext(env);
  if (caller === undefined) return {};
  const { TRACEPARENT: traceparent = "", TRACESTATE: tracestate } = buildTraceVariables(caller);
  return { trace: { traceparent, ...(tracestate !== undefined && { tracestate }) } };
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

/** Returns the context of the program that has added the job, which is that of another process. */
function joinTrace(api: typeof OpenTelemetry, { trace }: WorkerTask): OpenTelemetry.Context {
  const active = api.context.active();
  const caller = readTraceContext({ TRACEPARENT: trace?.traceparent, TRACESTATE: trace?.tracestate });
  if (caller === undefined) return active;
  const { traceId, spanId, flags: traceFlags, state } = caller;
  const traceState = state === undefined ? {} : { traceState: api.createTraceState(state) };
  return api.trace.setSpanContext(active, { traceId, spanId, traceFlags, isRemote: true, ...traceState });
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
