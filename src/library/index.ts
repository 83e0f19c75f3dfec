// The library: `import { connect } from "signalbox"`. Documented in docs/library.md.
export type * from "./claim-types.ts";
export * from "./errors.ts";
export type { ConnectOptions } from "./options.ts";
export type * from "./schedule-types.ts";
export { connect, type Signalbox } from "./signalbox.ts";
export { Worker } from "./worker.ts";
