import * as kinds from "./setting-kinds.ts";
import { endpoints, keyBindings, macros, users } from "./setting-kinds.ts";
import { userCommands } from "./user-commands.ts";

/** One setting. Types, parsing, `signalbox config`, the help of flags and the docs are derived from it. */
interface Setting<T> {
  readonly kind: kinds.SettingKind<T>;
  readonly default: T;
  /** A short phrase. */
  readonly help: string;
  /** The flag without dashes, if it is not the key in kebab case. `false`: no flag, because everybody can read argv. */
  readonly flag?: string | false;
  readonly short?: string;
  /** The etcdctl variable that is also read. */
  readonly etcdctl?: string;
  /** Removed from the command's environment, because it gives access to etcd. */
  readonly credential?: true;
}

type SettingOptions = Omit<Setting<never>, "kind" | "default" | "help">;

function defineSetting<T>(
  kind: kinds.SettingKind<T>,
  standard: T,
  help: string,
  more: SettingOptions = {},
): Setting<T> {
  return { kind, default: standard, help, ...more };
}

function defineOptionalSetting<T>(
  kind: kinds.SettingKind<T>,
  help: string,
  more: SettingOptions = {},
): Setting<T | undefined> {
  return { kind: kinds.createOptionalKind(kind), default: undefined, help, ...more };
}

const credential = true as const;

/** All settings, in the order of listings. */
export const SETTINGS = {
  context: defineOptionalSetting(
    kinds.contextName,
    "name of the context, which is a set of settings in the configuration file, for one of several clusters",
  ),
  endpoints: defineSetting(endpoints, ["http://127.0.0.1:2379"], "addresses of etcd's members", {
    etcdctl: "ETCDCTL_ENDPOINTS",
  }),
  clusterId: defineOptionalSetting(
    kinds.clusterId,
    "id of etcd's cluster, as printed by signalbox init; answers of other clusters are refused",
  ),
  prefix: defineSetting(kinds.prefix, "/signalbox/", "prefix of all keys in etcd"),
  transport: defineSetting(
    kinds.createEnumKind("auto", "http", "grpc"),
    "auto",
    "protocol of the connection to etcd",
  ),
  connectTimeout: defineSetting(
    kinds.createDurationKind({ least: 100 }),
    10_000,
    "how long all attempts to reach etcd at the start may take together",
  ),
  user: defineOptionalSetting(kinds.text, "etcd user; in a variable also NAME:PASSWORD", {
    etcdctl: "ETCDCTL_USER",
    credential,
  }),
  password: defineOptionalSetting(kinds.secret, "password of the etcd user", {
    flag: false,
    etcdctl: "ETCDCTL_PASSWORD",
    credential,
  }),
  passwordFile: defineOptionalSetting(
    kinds.file,
    "file with the password of the etcd user; no other user may read it",
    {
      credential,
    },
  ),
  allowPlaintextPassword: defineSetting(kinds.flag, false, "send the password without TLS"),
  cacert: defineOptionalSetting(kinds.file, "file with the authority that signed etcd's certificates", {
    etcdctl: "ETCDCTL_CACERT",
  }),
  cert: defineOptionalSetting(kinds.file, "file with the client certificate", {
    etcdctl: "ETCDCTL_CERT",
    credential,
  }),
  key: defineOptionalSetting(kinds.file, "file with the key of the client certificate", {
    etcdctl: "ETCDCTL_KEY",
    credential,
  }),
  serverName: defineOptionalSetting(kinds.host, "name that etcd's certificate must have"),
  insecureSkipTlsVerify: defineSetting(kinds.flag, false, "accept any certificate (for tests only)", {
    etcdctl: "ETCDCTL_INSECURE_SKIP_TLS_VERIFY",
  }),
  host: defineOptionalSetting(
    kinds.host,
    "full name of this host, instead of the one that the system reports",
  ),
  group: defineOptionalSetting(kinds.text, "run only if this host is in the group", { short: "g" }),
  macros: defineSetting(macros, {}, "own macros of this host, for names and numbers of leases", {
    flag: false,
  }),
  ttl: defineSetting(
    kinds.createDurationKind({ least: 2_000, whole: 1_000 }),
    30_000,
    "how long a lock stays after its runner has vanished",
  ),
  terminationTimeout: defineSetting(
    kinds.createDurationKind(),
    10_000,
    "time between TERM and KILL for a command that must end",
  ),
  timeout: defineOptionalSetting(kinds.limit, "end the command after this time (0: never)"),
  maxHold: defineOptionalSetting(
    kinds.limit,
    "end the command when it has held its lock this long (0: never)",
  ),
  leaseTimeout: defineOptionalSetting(
    kinds.limit,
    "give up when leases are not granted in this time (0: never)",
  ),
  grace: defineOptionalSetting(
    kinds.limit,
    "keep the lock until this long after the grant (0: free it at once)",
  ),
  busyExitCode: defineSetting(kinds.createIntegerKind(0, 255), 75, "exit code when nothing was started", {
    short: "E",
  }),
  history: defineSetting(kinds.flag, true, "record the run in the lock's history", {
    flag: "no-history",
  }),
  killLeftovers: defineSetting(
    kinds.flag,
    false,
    "end the processes that the command left behind, before the lock is freed",
  ),
  recordArgs: defineSetting(
    kinds.flag,
    false,
    "show the command's arguments to others (they can contain secrets); long ones are cut",
  ),
  outputDirectory: defineOptionalSetting(
    kinds.file,
    "directory of kept output, only for its user (default: /var/log/signalbox/output for root, else signalbox/output in $XDG_STATE_HOME)",
  ),
  outputSize: defineSetting(
    kinds.createSizeKind(16 * 1024),
    1024 * 1024,
    "how much output of each run is kept on its host, the newest (0: a worker keeps none)",
  ),
  outputAge: defineSetting(kinds.createDurationKind(), 7 * 86_400_000, "how long output is kept on its host"),
  archiveFile: defineOptionalSetting(
    kinds.file,
    "file of this host to which workers and runs also write what their histories get, for `ls history --archive` (default: none)",
  ),
  archiveSize: defineSetting(
    kinds.createSizeKind(4 * 1024),
    64 * 1024 * 1024,
    "size at which that file is renamed, and a new one begins",
  ),
  archiveCount: defineSetting(
    kinds.createIntegerKind(1, 10_000),
    10,
    "number of files to keep, with the current one",
  ),
  retentionAge: defineSetting(
    kinds.limit,
    90 * 86_400_000,
    "how long audit records, histories of locks and outcomes of schedules are kept (0: any time)",
  ),
  retentionCount: defineSetting(
    kinds.createIntegerKind(0, 999_999_999),
    10_000,
    "how many audit records are kept, and histories of how many locks, the newest (0: all)",
  ),
  label: defineOptionalSetting(kinds.text, "short description of the run, shown to others"),
  agent: defineSetting(
    kinds.createEnumKind("auto", "start", "never", "always"),
    "auto",
    "whether an agent serves a run: if there is one (start: and a run without one starts it for the next runs), never, or else the run fails",
  ),
  agentSocket: defineOptionalSetting(
    kinds.file,
    "socket of the agent (default: /run/signalbox/agent.sock for root, else in $XDG_RUNTIME_DIR or /tmp/signalbox-UID); a run reads it only from its flag and its variable",
  ),
  agentAllow: defineSetting(
    users,
    [],
    "other users, and groups as %GROUP, that the agent serves; root and its own user are always served",
  ),
  logFile: defineOptionalSetting(kinds.file, "write the log to this file instead of standard error"),
  logLevel: defineSetting(
    kinds.createEnumKind("debug", "info", "warn", "error"),
    "warn",
    "lowest level that is logged",
  ),
  logFormat: defineSetting(kinds.createEnumKind("text", "json"), "text", "how the log is written"),
  readOnly: defineSetting(kinds.flag, false, "refuse every action of an operator"),
  theme: defineSetting(
    kinds.createEnumKind("auto", "dark", "light", "contrast", "ansi", "mono"),
    "auto",
    "colours of the console: as the terminal's background is, for dark or light ones, with high contrast, only the terminal's own sixteen, or none",
  ),
  mouse: defineSetting(kinds.flag, true, "use clicks and the wheel in the console", {
    flag: "no-mouse",
  }),
  hyperlinks: defineSetting(
    kinds.flag,
    true,
    "link pages of the documentation in the console, if the terminal shows links",
    { flag: "no-hyperlinks" },
  ),
  notify: defineSetting(
    kinds.flag,
    true,
    "ring the terminal's bell when a watched row changes in the console",
    { flag: "no-notify" },
  ),
  keyBindings: defineSetting(keyBindings, {}, "keys of the console that differ from the defaults", {
    flag: false,
  }),
  userCommands: defineSetting(
    userCommands,
    [],
    "the user's own commands in the console, for rows of some kinds",
    {
      flag: false,
    },
  ),
};

export type SettingKey = keyof typeof SETTINGS;

/** The value of every setting. */
export type Settings = {
  readonly [K in SettingKey]: (typeof SETTINGS)[K] extends Setting<infer T> ? T : never;
};

export const SETTING_KEYS = Object.keys(SETTINGS) as SettingKey[];

/** Returns a setting without its type, for code that processes all settings. */
export function getSetting(key: SettingKey): Setting<unknown> {
  return SETTINGS[key] as Setting<unknown>;
}

/** `terminationTimeout` → `SIGNALBOX_TERMINATION_TIMEOUT`. */
export function getEnvVariableName(key: SettingKey): string {
  return `SIGNALBOX_${key.replace(/[A-Z]/g, "_$&").toUpperCase()}`;
}

/** `terminationTimeout` → `--termination-timeout`; undefined if the setting has no flag. */
export function getFlagName(key: SettingKey): string | undefined {
  const { flag = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`) } = getSetting(key);
  return flag === false ? undefined : `--${flag}`;
}

/** Describes the flag of a setting: `--no-history` is for what the setting does not do. */
export function getFlagHelp(key: SettingKey): string {
  const { flag, help } = getSetting(key);
  return flag !== false && flag?.startsWith("no-") ? `do not ${help}` : help;
}
