import { ConfigError, type SignalboxError, UsageError } from "../base/errors.ts";
import { clean, nearest, quoted } from "../base/text.ts";
import { type ConfigFile, type Env, pathBeside } from "./files.ts";
import { flagOf, SETTING_KEYS, type SettingKey, settingOf, variableOf } from "./settings.ts";

/** Values of flags by setting, as `parseArgs` gives them; `config` names the only file to read. */
export type Flags = {
  readonly [K in SettingKey | "config"]?: string | boolean | readonly string[] | undefined;
};

/** A value as it was given, and where: `source` for listings, `refuse` for what is wrong with it. */
export interface Given {
  value: unknown;
  source: string;
  refuse(fault: string): SignalboxError;
}

/** One place where values come from. */
export type Layer = (key: SettingKey) => Given | undefined;

/** The flags. A mistake in one is one of usage (exit 64). @throws UsageError for a setting that has no flag */
export function flagLayer(flags: Flags): Layer {
  return (key) => {
    const value = flags[key];
    if (value === undefined) return undefined;
    const name = flagOf(key);
    if (name === undefined) {
      throw new UsageError(
        `${key} cannot be given on the command line; set it in a file, or in ${variableOf(key)}`,
      );
    }
    if (key === "user" && typeof value === "string" && value.includes(":")) {
      throw new UsageError(
        "--user takes no password (everybody can read a command line); use --password-file",
      );
    }
    return { value, source: `flag ${name}`, refuse: (fault) => new UsageError(`${name}: ${fault}`) };
  };
}

/** The variables of one program, ours or etcdctl's. An empty one counts as unset, as crontabs can do no better. */
export function variableLayer(env: Env, variable: (key: SettingKey) => string | undefined): Layer {
  const named = (key: SettingKey) => {
    const name = variable(key);
    const value = name === undefined ? undefined : env[name];
    return name === undefined || value === undefined || value === "" ? undefined : { name, value };
  };
  const login = loginOf(named("user"), named("password"));
  return (key) => {
    const found = key === "user" || key === "password" ? login[key] : named(key);
    if (found === undefined) return undefined;
    const { name, value } = found;
    return { value, source: `environment ${name}`, refuse: (fault) => new ConfigError(`${name}: ${fault}`) };
  };
}

interface Variable {
  name: string;
  value: string;
}

/** As etcdctl has it: `NAME:PASSWORD` in the user's variable, unless the password has its own. */
function loginOf(
  user: Variable | undefined,
  password: Variable | undefined,
): { user: Variable | undefined; password: Variable | undefined } {
  const colon = user?.value.indexOf(":") ?? -1;
  if (user === undefined || colon < 0 || password !== undefined) return { user, password };
  const [name, secret] = [user.value.slice(0, colon), user.value.slice(colon + 1)];
  return {
    user: name === "" ? undefined : { ...user, value: name },
    password: secret === "" ? undefined : { ...user, value: secret },
  };
}

/** Values that a program has gathered elsewhere, each with the words for where it stood. */
export function gatheredLayer(
  values: Readonly<Partial<Record<SettingKey, { value: unknown; source: string }>>>,
): Layer {
  return (key) => {
    const found = values[key];
    if (found === undefined) return undefined;
    return { ...found, refuse: (fault) => new ConfigError(`${found.source}: ${fault}`) };
  };
}

/** A configuration file. @throws ConfigError for a key that is no setting */
export function fileLayer({ path, settings }: ConfigFile): Layer {
  const where = clean(path);
  for (const key of Object.keys(settings)) {
    if (!(SETTING_KEYS as string[]).includes(key)) throw unknownKey(where, key, settings[key]);
  }
  return (key) => {
    if (!Object.hasOwn(settings, key)) return undefined;
    const value = settings[key];
    const isPath = settingOf(key).kind.isPath === true && typeof value === "string" && value !== "";
    return {
      value: isPath ? pathBeside(path, value) : value,
      source: `${where}: ${key}`,
      refuse: (fault) => new ConfigError(`${where}: ${key}: ${fault}`),
    };
  };
}

/** A text under an unknown key may be a password, so it is repeated only where the key is nearly that of a harmless setting. */
function unknownKey(where: string, key: string, value: unknown): ConfigError {
  const meant = SETTING_KEYS.find((one) => one === nearest(key, SETTING_KEYS));
  const harmless =
    meant === undefined ? ["number", "boolean"].includes(typeof value) : !settingOf(meant).credential;
  const shown = harmless ? ` (its value is ${clean(JSON.stringify(value), 60)})` : "";
  const hint = meant === undefined ? "see: signalbox config" : `did you mean ${quoted(meant)}?`;
  return new ConfigError(`${where}: ${quoted(key)} is no setting${shown}; ${hint}`);
}
