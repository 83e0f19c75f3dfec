import type { Log } from "../../base/log.ts";
import type { ObserverPorts } from "../observe/ports.ts";

/** What workers need of the world. */
export interface SchedulePorts extends ObserverPorts {
  log: Log;
}
