import { typeOf } from "../../schedule/definition.ts";
import type { Claimed } from "./claim.ts";
import { type Task, TaskLost } from "./handler.ts";
import type { Presence } from "./presence.ts";

/** A task that runs, and the means to end it. */
export interface RunningTask {
  readonly task: Task;
  readonly claimed: Claimed;
  /** Its signal is aborted with this reason, once. */
  end(reason: TaskLost): void;
}

/** A claimed occurrence as handlers see it. Its signal follows the session's. */
export function taskOf(claimed: Claimed, presence: Presence): RunningTask {
  const ending = new AbortController();
  const end = (reason: TaskLost) => ending.abort(reason);
  const { session } = presence;
  const lost = () => end(new TaskLost("lost", String((session.signal.reason as Error).message)));
  if (session.signal.aborted) lost();
  session.signal.addEventListener("abort", lost, { once: true, signal: ending.signal });
  const { id, definition, running, token, key } = claimed;
  const task: Task = {
    ...{ id, definition, key, type: typeOf(id, definition), token: String(token), signal: ending.signal },
    ...{ scheduled: running.scheduled, late: running.late, attempt: running.attempt, run: running.run },
    horizon: () => session.horizon,
    onExtended: (listener) => presence.onExtended(listener),
  };
  return { task, claimed, end };
}
