import * as v from "valibot";
import { isJsonObject } from "../../base/parse-json.ts";
import { refuseFault } from "../../base/schema.ts";
import { createTypeMatcher } from "../../schedule/handler-types.ts";
import { isCount } from "../../schedule/json-fields.ts";
import { ProcessStopError, UsageError } from "../errors.ts";
import { quoteOption } from "../options-schema.ts";
import type { Duration, Schedules, Task, TaskHandler, TaskMiddleware, WorkerTask } from "../types.ts";
import { findHandlerFault, type HandlersByType, wrapHandler } from "../worker-handlers.ts";
import type { FinishedTask, RunDueOptions } from "./test-types.ts";

const MOST = 1_000;

/** Options of `runDue`. */
export const RUN_OPTIONS = {
  handlers: v.pipe(
    v.custom<HandlersByType>(isJsonObject, quoteOption("is not an object with a function for each type")),
    refuseFault(findHandlerFault),
  ),
  middleware: v.optional(
    v.custom<readonly TaskMiddleware[]>(Array.isArray, quoteOption("is not a list")),
    [],
  ),
  most: v.optional(v.custom<number>(isCount, quoteOption("is not a whole number of 0 or more")), MOST),
} satisfies Record<keyof RunDueOptions, v.GenericSchema>;

/** Options that were checked. */
export interface RunSettings {
  handlers: HandlersByType;
  middleware: readonly TaskMiddleware[];
  most: number;
}

/** Runs tasks that are due. @param ran  the tasks so far, to which it adds @throws UsageError if they are too many */
export async function runDueTasks(
  schedules: Schedules,
  settings: RunSettings,
  ran: FinishedTask[],
): Promise<void> {
  const kept: Task[] = [];
  try {
    for (;;) {
      const task = await schedules.poll();
      if (task === undefined) return;
      const handle = findHandler(settings, task.type);
      if (handle === undefined) {
        kept.push(task);
        continue;
      }
      if (ran.length >= settings.most) {
        kept.push(task);
        throw new UsageError(
          `more than ${settings.most} tasks are due, the next one of ${task.id}; set \`most\``,
        );
      }
      const finished = await runTask(task, handle);
      if (finished.result === "released") kept.push(task);
      ran.push(finished);
    }
  } finally {
    for (const task of kept) await task.release();
  }
}

function findHandler({ handlers, middleware }: RunSettings, type: string): TaskHandler | undefined {
  const found = Object.entries(handlers).find(([pattern]) => createTypeMatcher(pattern)(type));
  return found && wrapHandler(found[1], middleware);
}

/** Runs a task and stores its result. A task that was released is given back later, because it would be due at once. */
async function runTask(task: Task, handle: TaskHandler): Promise<FinishedTask> {
  const { id, scheduledTime, attempt } = task;
  let asked: { wait?: Duration } | "released" | undefined;
  const { type, data, run, token, signal } = task;
  const facts: WorkerTask = {
    id,
    scheduledTime,
    attempt,
    type,
    data,
    run,
    token,
    signal,
    retry: (wait) => {
      asked ??= wait === undefined ? {} : { wait };
    },
    progress: () => {},
    release: () => {
      asked ??= "released";
    },
  };
  try {
    await handle(facts);
  } catch (error) {
    if (error instanceof ProcessStopError) return { id, scheduledTime, attempt, result: "released", error };
    await task.fail(String(error));
    return { id, scheduledTime, attempt, result: "failed", error };
  }
  if (asked === "released") return { id, scheduledTime, attempt, result: "released", error: undefined };
  await (asked === undefined ? task.finish() : task.retry(asked.wait));
  return { id, scheduledTime, attempt, result: asked === undefined ? "ok" : "retry", error: undefined };
}
