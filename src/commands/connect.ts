import { readFileSync, statSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import type { Random } from "../base/random.ts";
import { type Config, resolveConfig } from "../config/config.ts";
import { thisMachine } from "../config/machine.ts";
import type { Settings } from "../config/settings.ts";
import { openStore, type StoreOptions, type TlsOptions } from "../etcd/open.ts";
import type { Store } from "../etcd/store.ts";
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

/** Settles the configuration and opens what it asks for; etcd is reached with the first call. @throws ConfigError, UsageError */
export async function connect(call: Call, world: Surroundings): Promise<Connection> {
  const config = resolveConfig({ flags: call.settings, env: world.env });
  const { values } = config;
  const clock = realClock();
  const log = openLog({ ...logOptions(call, values) }, clock.wall);
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

/** What a store is opened with. @throws ConfigError */
export function storeOptions(values: Settings): StoreOptions {
  const tls = tlsOptions(values);
  return {
    endpoints: [...values.endpoints],
    transport: values.transport,
    allowPlaintextPassword: values.allowPlaintextPassword,
    ...(values.user !== undefined && { user: values.user }),
    ...(values.password !== undefined && { password: values.password }),
    ...(tls !== undefined && { tls }),
  };
}

/** TLS as the settings want it; undefined where no endpoint is https. */
function tlsOptions(values: Settings): TlsOptions | undefined {
  if (!values.endpoints.some((endpoint) => endpoint.startsWith("https:"))) return undefined;
  const { cacert, cert, key, serverName } = values;
  if (key !== undefined) checkPrivate(key);
  return {
    ...(cacert !== undefined && { ca: pem("cacert", cacert) }),
    ...(cert !== undefined && { cert: pem("cert", cert) }),
    ...(key !== undefined && { key: pem("key", key) }),
    ...(serverName !== undefined && { serverName }),
    insecureSkipVerify: values.insecureSkipTlsVerify,
  };
}

function pem(setting: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new ConfigError(`${setting}: ${(cause as Error).message}`, { cause });
  }
}

/** A key that everybody can read is nobody's key. The group may read it: that is how services share one. */
function checkPrivate(path: string): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o007) !== 0)
    throw new ConfigError(`key: ${path} can be read by everybody; run: chmod o= ${path}`);
}
