import type { Clock, Millis } from "../core/base/clock.ts";
import type { Log } from "../core/base/log.ts";
import type { Random } from "../core/base/random.ts";
import type { CommandHost } from "../core/process/guarded-command/command.ts";
import type { ObserverPorts } from "../site/observe/ports.ts";
import type { RetentionLimits } from "../site/operate/retention.ts";
import type { OutputStorage } from "../site/output/output-keeper.ts";

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

/** What handlers need from their environment. */
export interface HandlerPorts {
  clock: Clock;
  random: Random;
  log: Log;
  commands: CommandHost;
  /** This host's full name. */
  host: string;
  /** Name of the user of this process. */
  user: string;
  /** The environment of commands: the worker's own, without values that give access to etcd. */
  env: Readonly<Record<string, string | undefined>>;
  /** Passwords of the worker's settings, which must not appear in output. */
  secrets: readonly string[];
  /** Where output is kept, and the runs that this process runs now; undefined to keep none. */
  output?: { storage: OutputStorage; running: Set<string> } | undefined;
  /** Time between TERM and KILL. */
  terminationTimeout: Millis;
}
