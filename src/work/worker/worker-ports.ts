import type { Log } from "../../base/log.ts";
import type { ObserverPorts } from "../observe/ports.ts";

/** Dependencies of workers. */
export interface SchedulePorts extends ObserverPorts {
  log: Log;
}
