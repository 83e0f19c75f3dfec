export { eventsBetween, type Span } from "./between.ts";
export type { EventKind, PictureEvent } from "./event.ts";
export { EventLog } from "./log.ts";
