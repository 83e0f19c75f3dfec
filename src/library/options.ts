import { ConfigError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { nearest, quoted } from "../base/text.ts";
import type { Layer } from "../config/layers.ts";
import { SETTING_KEYS, type SettingKey, settingOf } from "../config/settings.ts";
import type { Duration } from "./claim-types.ts";

/** Where etcd is and how this process appears there. What is left out is as the command line has it. */
export interface ConnectOptions {
  /** Addresses of etcd's members: `["http://127.0.0.1:2379"]`. */
  endpoints?: readonly string[];
  /** What all keys in etcd begin with. Default: `/signalbox/`. */
  prefix?: string;
  transport?: "auto" | "http" | "grpc";
  /** How long etcd may be out of reach. */
  connectTimeout?: Duration;
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

/** The options as the strongest layer of the configuration. @throws ConfigError for an option that there is not. @internal */
export function optionLayer(options: ConnectOptions): Layer {
  const { config: _, env: __, log: ___, ...given } = options;
  const wrong = Object.keys(given).find((key) => !(SETTING_KEYS as string[]).includes(key));
  if (wrong !== undefined) {
    const meant = nearest(wrong, [...SETTING_KEYS, ...OTHERS]);
    const hint = meant === undefined ? "" : `; did you mean ${quoted(meant)}?`;
    throw new ConfigError(`${quoted(wrong)} is no option of connect${hint}`);
  }
  const values = given as { readonly [K in SettingKey]?: unknown };
  return (key) => {
    const value = values[key];
    if (value === undefined) return undefined;
    const isMillis = settingOf(key).kind.name === "DURATION" && typeof value === "number";
    return {
      value: isMillis ? `${value}ms` : value,
      source: `option ${key}`,
      refuse: (fault) => new ConfigError(`option ${key}: ${fault}`),
    };
  };
}
