import { typeOf } from "../../schedule/definition.ts";
import type { Entry } from "./entry.ts";
import type { WorkerListener } from "./events.ts";
import type { Handler, Handlers } from "./handler.ts";
import type { SchedulePorts } from "./ports.ts";

/** Finds handlers, and tells once of each type that has none here. */
export class KnownTypes {
  /** Asked each time: its handlers are others once the worker has read its file again. */
  readonly #source: { readonly handlers: Handlers };
  readonly #listener: WorkerListener;
  readonly #log: SchedulePorts["log"];
  readonly #unknown = new Set<string>();

  constructor(source: { readonly handlers: Handlers }, listener: WorkerListener, { log }: SchedulePorts) {
    this.#source = source;
    this.#listener = listener;
    this.#log = log;
  }

  /** Handlers are others now: what is missing is told again. */
  forget(): void {
    this.#unknown.clear();
  }

  handler({ id, definition }: Entry): Handler | undefined {
    if (definition === undefined) return undefined;
    const handler = this.#source.handlers.find(id, definition);
    const type = typeOf(id, definition);
    if (handler !== undefined || this.#unknown.has(type)) return handler;
    this.#unknown.add(type);
    this.#listener({ kind: "unknown", id, type });
    this.#log.info("no handler here for a type of schedules", { type, schedule: id });
    return undefined;
  }
}
