import { basename } from "node:path";
import type { Clock, WallTime } from "../../core/base/clock.ts";
import { type RunSpan, readTraceContext, type Span } from "../../core/base/trace.ts";
import type { SpanSender } from "../../core/process/span-sender.ts";
import { isFailure } from "../../schedule/state/outcome.ts";
import type { WorkerEvent } from "../events.ts";
import type { Handler } from "../handler.ts";
import { HttpHandler } from "../handlers/http-handler.ts";
import { createTaskTrace, describeTask, getTaskCaller } from "../task-trace.ts";

/** A task that was claimed, and what its handler did. */
interface OpenTask {
  claimedAt: WallTime;
  command?: Span;
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

  /** Returns a handler that describes what it does as a span. */
  wrap(handler: Handler): Handler {
    const isRequest = handler instanceof HttpHandler;
    return {
      run: async (task) => {
        const startedAt = this.#clock.getWallTime();
        const done = await handler.run(task);
        const endedAt = this.#clock.getWallTime();
        const [file] = task.definition.command ?? [];
        const name = basename(file ?? task.type);
        const attributes = isRequest
          ? { "http.response.status_code": done.code }
          : { "process.executable.name": file && name, "process.exit.code": done.code };
        const error = isFailure(done.result) ? String(done.code ?? done.result) : undefined;
        const open = this.#open.get(task.run);
        if (open !== undefined)
          open.command = { name, part: "command", kind: "CLIENT", startedAt, endedAt, attributes, error };
        return done;
      },
    };
  }

  handleEvent(event: WorkerEvent): void {
    const now = this.#clock.getWallTime();
    if (event.kind === "started") this.#open.set(event.run, { claimedAt: now });
    if (event.kind !== "ended") return;
    const { run = "" } = event.outcome;
    const open = this.#open.get(run);
    this.#open.delete(run);
    if (open !== undefined) this.#sender.send(buildTaskSpan(event, run, open, now));
  }
}

function buildTaskSpan(
  { id, type, definition, outcome, after = [] }: Extract<WorkerEvent, { kind: "ended" }>,
  run: string,
  { claimedAt, command }: OpenTask,
  endedAt: WallTime,
): RunSpan {
  const { scheduled, late, result, startedAt = claimedAt } = outcome;
  const { name, attributes } = describeTask({ ...outcome, id, type, scheduledTime: new Date(scheduled) });
  const parts = command === undefined ? [] : [command];
  if (command !== undefined && definition.leases !== undefined)
    parts.unshift({ name: "wait", startedAt: claimedAt, endedAt: command.startedAt });
  const span: Span = {
    name,
    kind: "CONSUMER",
    startedAt,
    endedAt,
    attributes: { ...attributes, "signalbox.late_ms": late, "signalbox.result": result },
    error: isFailure(result) ? result : undefined,
    parts: [
      { name: "claim", startedAt, endedAt: claimedAt },
      { name: "hold", startedAt: claimedAt, endedAt, parts },
    ],
    // The last one is its caller.
    links: after.slice(0, -1).flatMap(({ trace = {} }) => readTraceContext(trace) ?? []),
  };
  return { context: createTaskTrace({ run, definition }), caller: getTaskCaller(definition), span };
}
