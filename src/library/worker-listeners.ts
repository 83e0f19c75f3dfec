import type { WorkerEvent } from "../work/worker/events.ts";
import type { TaskEnded, WorkerEvents } from "./worker-events.ts";

type Listener = (event: never) => void;

/** The listeners of one worker. */
export class WorkerListeners {
  readonly #listeners = new Map<keyof WorkerEvents, Set<Listener>>();

  /** Adds a listener. @returns a function that removes it */
  add<K extends keyof WorkerEvents>(kind: K, listener: (event: WorkerEvents[K]) => void): () => void {
    const list = this.#listeners.get(kind) ?? new Set();
    this.#listeners.set(kind, list);
    list.add(listener);
    return () => list.delete(listener);
  }

  /** Passes an event of the engine on. An error of a listener does not keep the others from being called. */
  handleEvent(event: WorkerEvent): void {
    const errors: unknown[] = [];
    for (const listener of this.#listeners.get(event.kind) ?? []) {
      try {
        listener(toPublicEvent(event) as never);
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}

function toPublicEvent(event: WorkerEvent): WorkerEvents[keyof WorkerEvents] {
  switch (event.kind) {
    case "joined":
      return { worker: event.worker };
    case "left":
      return { worker: event.worker, reason: event.reason };
    case "started": {
      const { id, type, scheduled, late, run, attempt } = event;
      return { id, type, scheduledTime: new Date(scheduled), late, run, attempt };
    }
    case "ended":
      return toTaskEnded(event);
    case "skipped": {
      const { scheduled, count = 1, reason } = event.outcome;
      return { id: event.id, type: event.type, scheduledTime: new Date(scheduled), count, reason };
    }
    case "unknown":
      return { id: event.id, type: event.type };
    case "clock":
      return { state: event.state, skew: event.skew };
    default:
      return { running: event.running, concurrency: event.concurrency };
  }
}

function toTaskEnded({
  id,
  type,
  outcome,
  again,
  isDead,
}: Extract<WorkerEvent, { kind: "ended" }>): TaskEnded {
  const { scheduled, run, result, reason } = outcome;
  const nextTime = again === undefined ? undefined : new Date(again);
  return { id, type, scheduledTime: new Date(scheduled), run, result, reason, nextTime, isDead };
}
