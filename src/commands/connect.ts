import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { type Config, resolveConfig } from "../config/config.ts";
import type { Layer } from "../config/layers.ts";
import { thisMachine } from "../config/machine.ts";
import type { Settings } from "../config/settings.ts";
import { openStore } from "../etcd/open.ts";
import type { Store } from "../etcd/store.ts";
import { storeOptions } from "../etcd/store-options.ts";
import { type HostFacts, hostFacts } from "../fleet/host.ts";
import { realClock } from "../process/clock.ts";
import { realRandom } from "../process/random.ts";
import { type Keys, keysUnder } from "../protocol/keys.ts";
import { type LogSink, openLog } from "./logging.ts";
import type { Call, Surroundings } from "./spec.ts";

/** What a command that talks to etcd works with. */
export interface Connection {
  config: Config;
  settings: Settings;
  store: Store;
  keys: Keys;
  clock: Clock;
  random: Random;
  log: LogSink;
  facts: HostFacts;
}

/** What a front end brings along. */
export interface Supply {
  /** Settings before all others. */
  options?: Layer;
  /** A log in a form of its own. @param wall  wall clock, ms since the epoch */
  openLog?(settings: Settings, wall: () => number): LogSink;
}

/** Settles the configuration and opens what it asks for; etcd is reached with the first call. @throws ConfigError, UsageError */
export async function connect(
  call: Call,
  world: Surroundings,
  { options, openLog: openOwn }: Supply = {},
): Promise<Connection> {
  const config = resolveConfig({ flags: call.settings, env: world.env, ...(options && { options }) });
  const { values } = config;
  const clock = realClock();
  const log = openOwn?.(values, clock.wall) ?? openLog(logOptions(call, values), clock.wall);
  const store = await openStore(storeOptions(values), { clock, unit: realRandom.unit });
  const facts = hostFacts(thisMachine, { host: values.host, macros: values.macros });
  return {
    config,
    settings: values,
    store,
    keys: keysUnder(values.prefix),
    clock,
    random: realRandom,
    log,
    facts,
  };
}

function logOptions({ verbosity }: Call, { logFile: file, logLevel, logFormat: format }: Settings) {
  const asked = verbosity >= 2 ? ("debug" as const) : verbosity === 1 ? ("info" as const) : undefined;
  return { file, level: asked ?? logLevel, format, isQuiet: verbosity < 0 };
}
