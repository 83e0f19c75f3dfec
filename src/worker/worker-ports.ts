import type { Log } from "../base/log.ts";
import type { ObserverPorts } from "../observe/ports.ts";
import type { RetentionLimits } from "../operate/retention.ts";

/** Dependencies of workers. */
export interface SchedulePorts extends ObserverPorts {
  log: Log;
  settings: ObserverPorts["settings"] & {
    /** Of records. Default: the worker deletes none. */
    retention?: RetentionLimits;
  };
  /** Runs an action when all that has arrived is handled. Default: in the next turn of the event loop. */
  runSoon?: (action: () => void) => void;
}
