import { ConfigError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { ConfigLayer } from "../config/layers.ts";
import { getSetting, SETTING_KEYS, type SettingKey } from "../config/settings.ts";
import type { Duration } from "./claim-types.ts";
import { checkOptions } from "./option-values.ts";

/** Where etcd is and how this process appears there. What is left out is as the command line has it. */
export interface ConnectOptions {
  /** Addresses of etcd's members: `["http://127.0.0.1:2379"]`. */
  endpoints?: readonly string[];
  /** What all keys in etcd begin with. Default: `/signalbox/`. */
  prefix?: string;
  transport?: "auto" | "http" | "grpc";
  /** How long etcd may be out of reach. */
  connectTimeout?: Duration;
  /** The id of etcd's cluster, as `signalbox init` prints it. Answers of another cluster are refused. */
  clusterId?: string;
  user?: string;
  password?: string;
  passwordFile?: string;
  allowPlaintextPassword?: boolean;
  cacert?: string;
  cert?: string;
  key?: string;
  serverName?: string;
  insecureSkipTlsVerify?: boolean;
  /** Full name of this host. */
  host?: string;
  /** Claims are made only where this group holds the host. */
  group?: string;
  /** This host's own macros, for names and numbers of leases. */
  macros?: Readonly<Record<string, string | number>>;
  ttl?: Duration;
  terminationTimeout?: Duration;
  maxHold?: Duration;
  leaseTimeout?: Duration;
  history?: boolean;
  label?: string;
  readOnly?: boolean;
  /** The only configuration file to read, instead of the user's and the system's. */
  config?: string;
  /** Variables to read settings from. Default: `process.env`; `{}` reads none. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Where it says what it does; `console` will do. Default: nowhere. */
  log?: Log;
}

const OTHERS = ["config", "env", "log"];

/**
 * Creates the configuration layer of the options, which overrides all other layers.
 * @throws ConfigError for an unknown option
 * @internal
 */
export function createOptionLayer(options: ConnectOptions): ConfigLayer {
  const { config: _, env: __, log: ___, ...given } = options;
  checkOptions("connect", options, [...SETTING_KEYS, ...OTHERS]);
  const values = given as { readonly [K in SettingKey]?: unknown };
  return (key) => {
    const value = values[key];
    if (value === undefined) return undefined;
    const isMillis = getSetting(key).kind.name === "DURATION" && typeof value === "number";
    return {
      value: isMillis ? `${value}ms` : value,
      source: `option ${key}`,
      createError: (fault) => new ConfigError(`option ${key}: ${fault}`),
    };
  };
}
