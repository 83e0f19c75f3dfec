import { createRunTrace, readTraceContext, type TraceContext } from "../core/base/trace.ts";
import type { Definition } from "../schedule/definition.ts";

/** Returns the trace of the program that added the schedule, from the variables of the definition. */
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
