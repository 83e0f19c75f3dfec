import { ConfigError, type SignalboxError, UsageError } from "../base/errors.ts";
import { clean, findNearest, quoteText } from "../base/text.ts";
import { type ConfigFile, type Env, resolveBeside } from "./files.ts";
import { getEnvVariableName, getFlagName, getSetting, SETTING_KEYS, type SettingKey } from "./settings.ts";

/** Values of flags by setting, as `parseArgs` returns them. `config` names the only configuration file to read. */
export type Flags = {
  readonly [K in SettingKey | "config"]?: string | boolean | readonly string[] | undefined;
};

/** A value as given, with its source for listings. `createError` builds the error for an invalid value. */
export interface GivenValue {
  value: unknown;
  source: string;
  createError(fault: string): SignalboxError;
}

/** One source of values. */
export type ConfigLayer = (key: SettingKey) => GivenValue | undefined;

/**
 * Creates the layer of the flags. An invalid flag is a usage error (exit 64).
 * @throws UsageError for a setting that has no flag
 */
export function createFlagLayer(flags: Flags): ConfigLayer {
  return (key) => {
    const value = flags[key];
    if (value === undefined) return undefined;
    const name = getFlagName(key);
    if (name === undefined) {
      throw new UsageError(
        `${key} cannot be given on the command line; set it in a file, or in ${getEnvVariableName(key)}`,
      );
    }
    if (key === "user" && typeof value === "string" && value.includes(":")) {
      throw new UsageError(
        "--user must not contain a password (every user can read a command line); use --password-file",
      );
    }
    return { value, source: `flag ${name}`, createError: (fault) => new UsageError(`${name}: ${fault}`) };
  };
}

/**
 * Creates the layer of one program's variables, either signalbox's or etcdctl's. An empty variable counts as unset,
 * because a crontab cannot unset a variable.
 */
export function createVariableLayer(
  env: Env,
  findVariable: (key: SettingKey) => string | undefined,
): ConfigLayer {
  const readVariable = (key: SettingKey) => {
    const name = findVariable(key);
    const value = name === undefined ? undefined : env[name];
    return name === undefined || value === undefined || value === "" ? undefined : { name, value };
  };
  const login = splitLogin(readVariable("user"), readVariable("password"));
  return (key) => {
    const found = key === "user" || key === "password" ? login[key] : readVariable(key);
    if (found === undefined) return undefined;
    const { name, value } = found;
    return {
      value,
      source: `environment ${name}`,
      createError: (fault) => new ConfigError(`${name}: ${fault}`),
    };
  };
}

interface Variable {
  name: string;
  value: string;
}

/** Splits `NAME:PASSWORD` in the user variable, as etcdctl does, unless the password has its own variable. */
function splitLogin(
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

/** Creates a layer from values that a program collected elsewhere, each with a description of its source. */
export function createValueLayer(
  values: Readonly<Partial<Record<SettingKey, { value: unknown; source: string } | undefined>>>,
): ConfigLayer {
  return (key) => {
    const found = values[key];
    if (found === undefined) return undefined;
    return { ...found, createError: (fault) => new ConfigError(`${found.source}: ${fault}`) };
  };
}

/** Creates the layer of a configuration file. @throws ConfigError for a key that is not a setting */
export function createFileLayer({ path, settings }: ConfigFile): ConfigLayer {
  const where = clean(path);
  const { contexts: _, ...own } = settings; // `contexts` has layers of its own
  return createSettingsLayer(path, own, { at: where, separator: ": ", source: where });
}

/**
 * Creates the layer of an object with settings in a configuration file.
 * @param path  the file
 * @param names  where the object is, for errors, with what separates it from the name of a setting, and for listings
 * @throws ConfigError for a key that is not a setting
 */
export function createSettingsLayer(
  path: string,
  settings: Readonly<Record<string, unknown>>,
  { at, separator, source }: { at: string; separator: string; source: string },
): ConfigLayer {
  for (const key of Object.keys(settings)) {
    if (!(SETTING_KEYS as string[]).includes(key)) throw createUnknownKeyError(at, key, settings[key]);
  }
  return (key) => {
    if (!Object.hasOwn(settings, key)) return undefined;
    const value = settings[key];
    const isPath = getSetting(key).kind.isPath === true && typeof value === "string" && value !== "";
    return {
      value: isPath ? resolveBeside(path, value) : value,
      source: `${source}: ${key}`,
      createError: (fault) => new ConfigError(`${at}${separator}${key}: ${fault}`),
    };
  };
}

/**
 * Builds the error for an unknown key. Its value may be a password. The message repeats a text only if the key is
 * similar to the name of a setting that is not a credential.
 */
function createUnknownKeyError(where: string, key: string, value: unknown): ConfigError {
  const meant = SETTING_KEYS.find((one) => one === findNearest(key, SETTING_KEYS));
  const harmless =
    meant === undefined ? ["number", "boolean"].includes(typeof value) : !getSetting(meant).credential;
  const shown = harmless ? ` (its value is ${clean(JSON.stringify(value), 60)})` : "";
  const hint = meant === undefined ? "see: signalbox config" : `did you mean ${quoteText(meant)}?`;
  return new ConfigError(`${where}: unknown setting ${quoteText(key)}${shown}; ${hint}`);
}
