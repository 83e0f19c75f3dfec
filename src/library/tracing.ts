import type * as OpenTelemetry from "@opentelemetry/api";
import { ConfigError } from "./errors.ts";
import type { TaskMiddleware, WorkerTask } from "./types.ts";

/** Name of the tracer, as exporters show it. */
const TRACER = "signalbox";

/**
 * Creates a middleware that traces the tasks of a Worker with OpenTelemetry: a span of kind `CONSUMER` for each start, named
 * after the type, with the schedule, the run, the attempt and the scheduled time. Spans of the handler are its children. The
 * package `@opentelemetry/api` is optional: the program installs it, and sets up an SDK.
 * @throws ConfigError if the package is missing
 */
export async function createTaskTracing(): Promise<TaskMiddleware> {
  const api = await loadApi();
  return (task, next) => {
    const options = { kind: api.SpanKind.CONSUMER, attributes: buildAttributes(task) };
    const tracer = api.trace.getTracer(TRACER);
    return tracer.startActiveSpan(task.type, options, (span) => runInSpan(api, span, next));
  };
}

async function loadApi(): Promise<typeof OpenTelemetry> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" && code !== "MODULE_NOT_FOUND") throw error;
    throw new ConfigError("tracing needs a package that is missing: npm install @opentelemetry/api");
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
    span.setStatus({ code: SpanStatusCode.ERROR, message: failure.message });
    throw error;
  } finally {
    span.end();
  }
}

function buildAttributes({ id, run, attempt, scheduledTime, token }: WorkerTask) {
  return {
    "signalbox.schedule": id,
    "signalbox.run": run,
    "signalbox.attempt": attempt,
    "signalbox.scheduled_time": scheduledTime.toISOString(),
    "signalbox.token": token,
  };
}
