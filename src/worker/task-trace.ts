import type { Clock } from "../base/clock.ts";
import {
  createPartTrace,
  createRunTrace,
  readTraceContext,
  type Span,
  type TraceContext,
} from "../base/trace.ts";
import type { SpanSender } from "../process/span-sender.ts";
import type { Definition } from "../schedule/definition.ts";
import { isFailure } from "../schedule/state/outcome.ts";
import type { WorkerEvent } from "./events.ts";
import type { ScheduledTask } from "./handler.ts";

/** A start of an occurrence, as spans describe it. */
interface TracedTask {
  id: string;
  type: string;
  run?: string | undefined;
  attempt?: number | undefined;
  token?: string | undefined;
  /** ISO 8601. */
  scheduledTime: string;
}

/** Returns the trace of whoever added the schedule: it is in the variables of the definition. */
export function getTaskCaller({ env = {} }: Pick<Definition, "env">): TraceContext | undefined {
  return readTraceContext(env);
}

export function createTaskTrace({
  run,
  definition,
}: {
  run: string;
  definition: Pick<Definition, "env">;
}): TraceContext {
  return createRunTrace(run, getTaskCaller(definition));
}

/** Describes a task with OpenTelemetry's attributes for the consumer of a message. */
export function describeTask({
  id,
  type,
  run,
  attempt,
  token,
  scheduledTime,
}: TracedTask): Pick<Span, "name" | "attributes"> {
  return {
    name: `process ${type}`,
    attributes: {
      "messaging.system": "signalbox",
      "messaging.operation.name": "process",
      "messaging.operation.type": "process",
      "messaging.destination.name": type,
      "messaging.message.id": `${id}@${scheduledTime}`,
      "signalbox.schedule": id,
      "signalbox.run": run,
      "signalbox.attempt": attempt,
      "signalbox.scheduled_time": scheduledTime,
      "signalbox.token": token,
    },
  };
}

/** A part of a task that has ended: its command or request, or the wait for its leases. */
export type TaskPart = Pick<Span, "name" | "kind" | "attributes" | "error">;

interface OpenTask {
  /** When its claim was answered, wall clock, ms. */
  claimedAt: number;
  /** Each with the name of its context. */
  parts: { what: string; part: TaskPart; startedAt: number; endedAt: number }[];
}

/** Sends the spans of tasks when their results are stored. */
export class TaskTraces {
  readonly #clock: Clock;
  readonly #sender: SpanSender;
  /** By run. */
  readonly #open = new Map<string, OpenTask>();

  constructor(clock: Clock, sender: SpanSender) {
    this.#clock = clock;
    this.#sender = sender;
  }

  /** Begins a part of a task. @returns a function to call at its end */
  begin({ run }: Pick<ScheduledTask, "run">, what: "command" | "wait"): (part: TaskPart) => void {
    const startedAt = this.#clock.getWallTime();
    return (part) =>
      this.#open.get(run)?.parts.push({ what, part, startedAt, endedAt: this.#clock.getWallTime() });
  }

  handleEvent(event: WorkerEvent): void {
    if (event.kind === "started")
      this.#open.set(event.run, { claimedAt: this.#clock.getWallTime(), parts: [] });
    if (event.kind !== "ended") return;
    const { run = "" } = event.outcome;
    const open = this.#open.get(run);
    this.#open.delete(run);
    if (open !== undefined) this.#sender.send(buildSpans(event, run, open, this.#clock.getWallTime()));
  }
}

/** Builds the spans of a task: its claim, and its hold with the parts. */
function buildSpans(
  { id, type, definition, outcome }: Extract<WorkerEvent, { kind: "ended" }>,
  run: string,
  { claimedAt, parts }: OpenTask,
  endedAt: number,
): Span[] {
  const { attempt, token, startedAt = claimedAt, late, result } = outcome;
  const context = createTaskTrace({ run, definition });
  const hold = createPartTrace(context, "hold");
  const scheduledTime = new Date(outcome.scheduled).toISOString();
  const { name, attributes } = describeTask({ id, type, run, attempt, token, scheduledTime });
  const step = { kind: "internal" as const, parent: context, attributes: {} };
  return [
    {
      name,
      kind: "consumer",
      context,
      parent: getTaskCaller(definition),
      startedAt,
      endedAt,
      attributes: { ...attributes, "signalbox.late_ms": late, "signalbox.result": result },
      error: isFailure(result) ? result : undefined,
    },
    { ...step, name: "claim", context: createPartTrace(context, "claim"), startedAt, endedAt: claimedAt },
    { ...step, name: "hold", context: hold, startedAt: claimedAt, endedAt },
    ...parts.map(({ what, part, ...times }) => ({
      ...part,
      ...times,
      context: createPartTrace(context, what),
      parent: hold,
    })),
  ];
}
