import * as kinds from "./kinds.ts";
import { endpoints, keyBindings, macros } from "./lists.ts";

/** One setting. Types, parsing, `signalbox config`, flags' help and the docs are all made from it. */
export interface Setting<T> {
  readonly kind: kinds.Kind<T>;
  readonly default: T;
  /** Half a sentence. */
  readonly help: string;
  /** Its flag without dashes, where that is not the key in kebab case; `false`: none, as everybody can read argv. */
  readonly flag?: string | false;
  readonly short?: string;
  /** The variable of etcdctl's that is read too. */
  readonly etcdctl?: string;
  /** Not passed on to the command that is run: it says how to get in. */
  readonly credential?: true;
}

type More = Omit<Setting<never>, "kind" | "default" | "help">;

function setting<T>(kind: kinds.Kind<T>, standard: T, help: string, more: More = {}): Setting<T> {
  return { kind, default: standard, help, ...more };
}

function unset<T>(kind: kinds.Kind<T>, help: string, more: More = {}): Setting<T | undefined> {
  return { kind: kinds.optional(kind), default: undefined, help, ...more };
}

const credential = true as const;

/** All settings, in the order in which they are listed. Durations in ms. */
export const SETTINGS = {
  endpoints: setting(endpoints, ["http://127.0.0.1:2379"], "addresses of etcd's members", {
    etcdctl: "ETCDCTL_ENDPOINTS",
  }),
  prefix: setting(kinds.prefix, "/signalbox/", "what all keys in etcd begin with"),
  transport: setting(kinds.oneOf("auto", "http", "grpc"), "auto", "how to speak to etcd"),
  connectTimeout: setting(
    kinds.duration({ least: 100 }),
    10_000,
    "how long etcd may be out of reach at the start",
  ),
  user: unset(kinds.text, "user of etcd; in a variable, NAME:PASSWORD does too", {
    etcdctl: "ETCDCTL_USER",
    credential,
  }),
  password: unset(kinds.secret, "its password", { flag: false, etcdctl: "ETCDCTL_PASSWORD", credential }),
  passwordFile: unset(kinds.file, "a file with its password, which nobody else can read", { credential }),
  allowPlaintextPassword: setting(kinds.flag, false, "send the password without TLS"),
  cacert: unset(kinds.file, "the authority that signed etcd's certificates", { etcdctl: "ETCDCTL_CACERT" }),
  cert: unset(kinds.file, "own certificate", { etcdctl: "ETCDCTL_CERT", credential }),
  key: unset(kinds.file, "key of the own certificate", { etcdctl: "ETCDCTL_KEY", credential }),
  serverName: unset(kinds.host, "the name to look for in etcd's certificate"),
  insecureSkipTlsVerify: setting(kinds.flag, false, "accept any certificate (for tests only)", {
    etcdctl: "ETCDCTL_INSECURE_SKIP_TLS_VERIFY",
  }),
  host: unset(kinds.host, "full name of this host, instead of the one it gives itself"),
  group: unset(kinds.text, "run only where this group holds the host", { short: "g" }),
  macros: setting(macros, {}, "this host's own macros, for names and numbers of leases", { flag: false }),
  ttl: setting(
    kinds.duration({ least: 2_000, whole: 1_000 }),
    30_000,
    "how long a lock outlives a runner that vanished",
  ),
  terminationTimeout: setting(
    kinds.duration(),
    10_000,
    "time between TERM and KILL for a command that must end",
  ),
  timeout: unset(kinds.limit, "end the command after this time (0: never)"),
  maxHold: unset(kinds.limit, "end the command when it has held its lock this long (0: never)"),
  leaseTimeout: unset(kinds.limit, "give up when leases are not granted in this time (0: never)"),
  grace: unset(kinds.limit, "keep the lock until this long after the grant (0: free it at once)"),
  busyExitCode: setting(kinds.integer(0, 255), 75, "exit code when nothing was started", { short: "E" }),
  history: setting(
    kinds.flag,
    true,
    "the lock's history; kept by default, a run without it costs one write less",
    { flag: "no-history" },
  ),
  killLeftovers: setting(kinds.flag, false, "end what the command left behind before the lock is freed"),
  recordArgs: setting(kinds.flag, false, "show the command's arguments to others (they can hold secrets)"),
  label: unset(kinds.text, "a word about the run, shown to others"),
  logFile: unset(kinds.file, "write the log there instead of standard error"),
  logLevel: setting(kinds.oneOf("debug", "info", "warn", "error"), "warn", "the least that is logged"),
  logFormat: setting(kinds.oneOf("text", "json"), "text", "how the log is written"),
  readOnly: setting(kinds.flag, false, "refuse every action of an operator"),
  theme: setting(
    kinds.oneOf("auto", "dark", "light", "ansi", "mono"),
    "auto",
    "colours of the console: for dark or light terminals, only their own sixteen, or none",
  ),
  mouse: setting(
    kinds.flag,
    true,
    "clicks and the wheel in the console; without, the terminal selects text",
    {
      flag: "no-mouse",
    },
  ),
  keyBindings: setting(keyBindings, {}, "keys of the console that are others than usual", { flag: false }),
};

export type SettingKey = keyof typeof SETTINGS;

/** The value of every setting. */
export type Settings = {
  readonly [K in SettingKey]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** A setting without its type, for code that goes through all of them. */
export function settingOf(key: SettingKey): Setting<unknown> {
  return SETTINGS[key] as Setting<unknown>;
}

/** `terminationTimeout` → `SIGNALBOX_TERMINATION_TIMEOUT`. */
export function variableOf(key: SettingKey): string {
  return `SIGNALBOX_${key.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** `terminationTimeout` → `--termination-timeout`; undefined where there is no flag. */
export function flagOf(key: SettingKey): string | undefined {
  const { flag = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) } = settingOf(key);
  return flag === false ? undefined : `--${flag}`;
}
