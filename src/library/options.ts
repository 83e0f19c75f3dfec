import * as v from "valibot";
import { ConfigError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { ConfigLayer } from "../config/layers.ts";
import { getSetting, SETTING_KEYS, type SettingKey } from "../config/settings.ts";
import { parseOptions } from "./options-schema.ts";
import type { Duration } from "./types.ts";

/**
 * How to reach etcd, how this process appears there, and defaults for claims. Settings that are missing are read from where the
 * command line reads them: `signalbox config` shows each value and its source.
 */
export interface ConnectOptions {
  /** Name of a context in the configuration files: settings of one of several clusters. The options here override it. */
  context?: string;
  /** Addresses of etcd's members. Default: `["http://127.0.0.1:2379"]`. */
  endpoints?: readonly string[];
  /** Beginning of all keys in etcd. Default: `/signalbox/`. */
  prefix?: string;
  /** How to speak to etcd. Default: `auto`. */
  transport?: "auto" | "http" | "grpc";
  /** How long etcd may be out of reach at the start, over all attempts; at least 100 ms. Default: 10 s. */
  connectTimeout?: Duration;
  /** Id of etcd's cluster, as `signalbox init` prints it. Answers of another cluster are refused. Default: the
   * cluster that this user remembers on this host for the same endpoints and prefix, as the command does. */
  clusterId?: string;
  /** User of etcd. */
  user?: string;
  /** Password of the user. */
  password?: string;
  /** A file with the password, which nobody else can read. It is read again if etcd refuses the password. */
  passwordFile?: string;
  /** Whether the password may be sent without TLS. Default: `false`. */
  allowPlaintextPassword?: boolean;
  /** File with the certificate of the authority that signed etcd's certificates. */
  cacert?: string;
  /** File with the own certificate. */
  cert?: string;
  /** File with the key of the own certificate. */
  key?: string;
  /** The name that etcd's certificate must have. Default: the name in the address. */
  serverName?: string;
  /** Whether any certificate is accepted; for tests only. Default: `false`. */
  insecureSkipTlsVerify?: boolean;
  /** Full name of this host. Default: the name that the host gives itself. */
  host?: string;
  /** Default for `group` of claims: claim only if the host is a member of this group. */
  group?: string;
  /** Macros of this host, for names and numbers of leases. */
  macros?: Readonly<Record<string, string | number>>;
  /** How long a claim outlives a process that vanished: whole seconds, at least 2 s. Default: 30 s. */
  ttl?: Duration;
  /** How long before another run can get a claim its signal is aborted. Default: 10 s. */
  terminationTimeout?: Duration;
  /** Default for `maxHold` of claims. Default: no limit. */
  maxHold?: Duration;
  /** How long claims wait for leases, unless `wait` says otherwise. Default: no limit. */
  leaseTimeout?: Duration;
  /** Whether runs are added to the histories of their locks. Default: `true`. */
  history?: boolean;
  /** Default for `label` of claims. */
  label?: string;
  /** Refuse changes of schedules, with a SignalboxError whose `code` is `PERMISSION`. Default: `false`. */
  readOnly?: boolean;
  /** Path of the only configuration file to read. Default: the user's and the system's files. */
  config?: string;
  /** Variables to read settings from. Default: `process.env`; `{}` reads none. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Receives the log; `console` is accepted. Default: no log. */
  log?: Log;
}

/** Only the names are checked here: the configuration checks the values of all layers. */
const OPTIONS = v.entriesFromList([...SETTING_KEYS, "config", "env", "log"], v.optional(v.unknown()));

/**
 * Creates the configuration layer of the options, which overrides all other layers.
 * @throws ConfigError for an unknown option
 * @internal
 */
export function createOptionLayer(options: ConnectOptions): ConfigLayer {
  const values: { readonly [K in SettingKey]?: unknown } = parseOptions("connect", options, OPTIONS);
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
