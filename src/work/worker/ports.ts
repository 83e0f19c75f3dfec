import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Random } from "../../base/random.ts";
import type { CommandHost } from "../../process/command.ts";

/** What handlers need of the world. */
export interface HandlerPorts {
  clock: Clock;
  random: Random;
  log: Log;
  commands: CommandHost;
  /** This host's full name. */
  host: string;
  /** The environment of commands: the worker's own, without what gets into etcd. */
  env: Readonly<Record<string, string>>;
  /** Never shown: passwords of the worker's settings. */
  secrets: readonly string[];
  /** ms between TERM and KILL. */
  terminationTimeout: number;
}
