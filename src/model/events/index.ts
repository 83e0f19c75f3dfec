export { type EventSpan, listEventsBetween } from "./between.ts";
export type { EventKind, SnapshotEvent } from "./event.ts";
export { EventLog } from "./event-log.ts";
