import { basename } from "node:path";
import type { Clock } from "../base/clock.ts";
import {
  createRunTrace,
  type RunSpan,
  readTraceContext,
  type Span,
  type TraceContext,
} from "../base/trace.ts";
import type { SpanSender } from "../process/span-sender.ts";
import type { Definition } from "../schedule/definition.ts";
import { isFailure } from "../schedule/state/outcome.ts";
import type { WorkerEvent } from "./events.ts";
import type { Handler } from "./handler.ts";
import { HttpHandler } from "./handlers/http-handler.ts";

/** Returns the trace of whoever added the schedule: it is in the variables of the definition. */
export function getTaskCaller({ env = {} }: Pick<Definition, "env">): TraceContext | undefined {
  return readTraceContext(env);
}

/** Returns the context of a start of an occurrence. */
export function createTaskTrace(task: { run: string; definition: Pick<Definition, "env"> }): TraceContext {
  return createRunTrace(task.run, getTaskCaller(task.definition));
}

/** Describes a start of an occurrence with OpenTelemetry's attributes for the consumer of a message. */
export function describeTask(task: {
  id: string;
  type: string;
  run?: string;
  attempt?: number;
  token?: string;
  scheduledTime: Date;
}) {
  const { id, type } = task;
  const scheduled = task.scheduledTime.toISOString();
  const attributes = {
    "messaging.system": "signalbox",
    "messaging.operation.name": "process",
    "messaging.operation.type": "process",
    "messaging.destination.name": type,
    "messaging.message.id": `${id}@${scheduled}`,
    "signalbox.schedule": id,
    "signalbox.run": task.run,
    "signalbox.attempt": task.attempt,
    "signalbox.scheduled_time": scheduled,
    "signalbox.token": task.token,
  };
  return { name: `process ${type}`, attributes };
}

/** Sends the spans of tasks when their results are stored. Instants are wall clock, ms since the epoch. */
export class TaskTraces {
  readonly #clock: Clock;
  readonly #sender: SpanSender;
  /** When tasks were claimed, and what their handlers did; by run. */
  readonly #open = new Map<string, { claimedAt: number; command?: Span }>();

  constructor(clock: Clock, sender: SpanSender) {
    this.#clock = clock;
    this.#sender = sender;
  }

  /** Returns a handler that describes what it does as a span. */
  wrap(handler: Handler): Handler {
    const key = handler instanceof HttpHandler ? "http.response.status_code" : "process.exit.code";
    return {
      run: async (task) => {
        const startedAt = this.#clock.getWallTime();
        const done = await handler.run(task);
        const endedAt = this.#clock.getWallTime();
        const [file = task.type] = task.definition.command ?? [];
        const attributes = { "process.executable.name": basename(file), [key]: done.code };
        const error = isFailure(done.result) ? String(done.code ?? done.result) : undefined;
        const open = this.#open.get(task.run);
        const span = { name: basename(file), part: "command", startedAt, endedAt, attributes, error };
        if (open !== undefined) open.command = { ...span, kind: "CLIENT" };
        return done;
      },
    };
  }

  handleEvent(event: WorkerEvent): void {
    const now = this.#clock.getWallTime();
    if (event.kind === "started") this.#open.set(event.run, { claimedAt: now });
    if (event.kind !== "ended") return;
    const { run = "" } = event.outcome;
    const { claimedAt = now, command } = this.#open.get(run) ?? {};
    this.#open.delete(run);
    const waited = command && event.definition.leases !== undefined;
    const waits = waited ? [{ name: "wait", startedAt: claimedAt, endedAt: command.startedAt }] : [];
    const parts = command ? [...waits, command] : [];
    this.#sender.send(buildTaskSpan(event, run, { name: "hold", startedAt: claimedAt, endedAt: now, parts }));
  }
}

function buildTaskSpan(
  { id, type, definition, outcome }: Extract<WorkerEvent, { kind: "ended" }>,
  run: string,
  hold: Span,
): RunSpan {
  const { scheduled, late, result, startedAt = hold.startedAt } = outcome;
  const { name, attributes } = describeTask({ ...outcome, id, type, scheduledTime: new Date(scheduled) });
  const span: Span = {
    name,
    kind: "CONSUMER",
    startedAt,
    endedAt: hold.endedAt,
    attributes: { ...attributes, "signalbox.late_ms": late, "signalbox.result": result },
    error: isFailure(result) ? result : undefined,
    parts: [{ name: "claim", startedAt, endedAt: hold.startedAt }, hold],
  };
  return { context: createTaskTrace({ run, definition }), caller: getTaskCaller(definition), span };
}
