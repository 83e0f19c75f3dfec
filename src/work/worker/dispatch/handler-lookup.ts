import { getScheduleType } from "../../../schedule/definition.ts";
import type { CachedSchedule } from "../cache/cached-schedule.ts";
import type { WorkerListener } from "../events.ts";
import type { Handler, HandlerRegistry } from "../handler.ts";
import type { SchedulePorts } from "../worker-ports.ts";

type LookupOptions = Readonly<{ handlers: HandlerRegistry; listener: WorkerListener }>;

/** Finds handlers, and reports each type without a handler once. */
export class HandlerLookup {
  /** The handlers are read on every lookup: they change when the worker reloads its file. */
  readonly #options: LookupOptions;
  readonly #log: SchedulePorts["log"];
  readonly #unknown = new Set<string>();

  constructor(options: LookupOptions, { log }: SchedulePorts) {
    this.#options = options;
    this.#log = log;
  }

  /** Call this when the handlers change: missing types are reported again. */
  forget(): void {
    this.#unknown.clear();
  }

  findHandler({ id, definition }: CachedSchedule): Handler | undefined {
    if (definition === undefined) return undefined;
    const handler = this.#options.handlers.find(id, definition);
    const type = getScheduleType(id, definition);
    if (handler !== undefined || this.#unknown.has(type)) return handler;
    this.#unknown.add(type);
    this.#options.listener({ kind: "unknown", id, type });
    this.#log.info("no handler for the type of a schedule", { type, schedule: id });
    return undefined;
  }
}
