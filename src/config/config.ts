import { ConfigError } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import { addSchemes, checkLogin, checkTermination, checkTls } from "./checks.ts";
import { type ContextEntry, createUnknownContextError, listContexts, readFileContexts } from "./contexts.ts";
import {
  type ConfigFile,
  type Env,
  type FileReader,
  readConfigFiles,
  readFileWithMode,
  readPassword,
} from "./files.ts";
import {
  type ConfigLayer,
  createFileLayer,
  createFlagLayer,
  createVariableLayer,
  type Flags,
  type GivenValue,
} from "./layers.ts";
import {
  getEnvVariableName,
  getFlagName,
  getSetting,
  SETTING_KEYS,
  type SettingKey,
  type Settings,
} from "./settings.ts";

export interface Config {
  readonly values: Settings;
  /**
   * The source of each value: `flag --ttl`, `environment SIGNALBOX_TTL`, `/etc/signalbox/config.json: ttl`, `default`.
   */
  readonly sources: Readonly<Record<SettingKey, string>>;
  /** Configuration files that were read, highest priority first. */
  readonly files: readonly string[];
  /** All contexts in these files. */
  readonly contexts: readonly ContextEntry[];
  /** Settings of the active context that a stronger source replaces. */
  readonly overridden: readonly SettingKey[];
}

export interface ConfigInput {
  flags?: Flags;
  env?: Env;
  readFile?: FileReader;
  /** Options passed by a program. They override all other sources. */
  options?: ConfigLayer;
}

/**
 * Resolves the settings. The sources in order of priority: flags, `SIGNALBOX_*` variables, etcdctl's variables, the
 * context, the user's file, the system's file, defaults. The user's file has priority over the system's file for a context too. A setting from one source replaces the whole setting of the sources below
 * it. Reads each configuration file once and at most one password file, because cron starts this every minute.
 * @throws UsageError for the value of a flag, ConfigError for any other value; both quote the value and name its source
 */
export function resolveConfig({
  flags = {},
  env = {},
  readFile: read = readFileWithMode,
  options,
}: ConfigInput = {}): Config {
  const files = readConfigFiles(getNamedFile(flags, env), env, read);
  const strong = [
    ...(options === undefined ? [] : [options]),
    createFlagLayer(flags),
    createVariableLayer(env, getEnvVariableName),
    createVariableLayer(env, (key) => getSetting(key).etcdctl),
  ];
  const plain = files.map(createFileLayer);
  const { contexts, active } = chooseContext(files, [...strong, ...plain]);
  const layers = [...strong, ...active, ...plain];
  const values: Partial<Record<SettingKey, unknown>> = {};
  const sources: Partial<Record<SettingKey, string>> = {};
  for (const key of SETTING_KEYS) {
    const given = resolveSetting(layers, files.length, key);
    values[key] = given === undefined ? getSetting(key).default : given.value;
    sources[key] = given?.source ?? "default";
  }
  const found = {
    values: values as Settings,
    sources: sources as Config["sources"],
    files: files.map(({ path }) => path),
    contexts,
    overridden: findOverridden(layers, strong.length, active),
  };
  return checkConfig(addPassword(found, layers, read));
}

/**
 * Finds the layers of the context that the other layers name: none, or one for each file that has it.
 * @throws ConfigError or UsageError for a name that no file has
 */
function chooseContext(
  files: readonly ConfigFile[],
  layers: readonly ConfigLayer[],
): { contexts: ContextEntry[]; active: ConfigLayer[] } {
  const read = files.map(readFileContexts);
  const contexts = listContexts(read);
  const chosen = resolveSetting(layers, files.length, "context");
  if (chosen === undefined) return { contexts, active: [] };
  const active = read.flatMap((one) => one.contexts.get(String(chosen.value)) ?? []);
  if (active.length === 0) throw createUnknownContextError(chosen, contexts);
  return { contexts, active };
}

function findOverridden(
  layers: readonly ConfigLayer[],
  strong: number,
  active: readonly ConfigLayer[],
): SettingKey[] {
  if (active.length === 0) return [];
  const isSet = (some: readonly ConfigLayer[], key: SettingKey) =>
    some.some((layer) => layer(key) !== undefined);
  return SETTING_KEYS.filter((key) => isSet(active, key) && isSet(layers.slice(0, strong), key));
}

/** Lists all contexts of the configuration files, even if the chosen one does not exist. @throws ConfigError */
export function listNamedContexts(flags: Flags, env: Env): ContextEntry[] {
  return listContexts(readConfigFiles(getNamedFile(flags, env), env).map(readFileContexts));
}

/** Returns the file named by `-c`, otherwise by SIGNALBOX_CONFIG. */
function getNamedFile(flags: Flags, env: Env): string | undefined {
  const { SIGNALBOX_CONFIG: variable = "" } = env;
  if (typeof flags.config === "string") return flags.config;
  return variable === "" ? undefined : variable;
}

/**
 * Parses the value of the layer with the highest priority. Values in files are always parsed, even if a flag overrides
 * them: otherwise a mistake in a file would only appear when the flag is omitted. Overridden variables are not parsed:
 * etcdctl's variables may have values that only etcdctl understands.
 */
function resolveSetting(
  layers: readonly ConfigLayer[],
  files: number,
  key: SettingKey,
): GivenValue | undefined {
  let strongest: GivenValue | undefined;
  for (const [rank, layer] of layers.entries()) {
    if (strongest !== undefined && rank < layers.length - files) continue;
    const given = layer(key);
    if (given === undefined) continue;
    const parsed = getSetting(key).kind.parse(given.value);
    if ("fault" in parsed) throw given.createError(parsed.fault);
    strongest ??= { ...given, value: parsed.value };
  }
  return strongest;
}

/** Reads `passwordFile`, unless a layer with a higher priority sets the password itself. */
function addPassword(config: Config, layers: readonly ConfigLayer[], read: FileReader): Config {
  const { password, passwordFile } = config.values;
  if (passwordFile === undefined) return config;
  const getLayerRank = (key: SettingKey) => layers.findIndex((layer) => layer(key) !== undefined);
  if (password !== undefined && getLayerRank("password") < getLayerRank("passwordFile")) {
    // Do not read the file, now or later: it may contain the password of another user.
    const sources = { ...config.sources, passwordFile: `overridden by ${config.sources.password}` };
    return { ...config, values: { ...config.values, passwordFile: undefined }, sources };
  }
  if (password !== undefined && getLayerRank("password") === getLayerRank("passwordFile")) {
    const { password: one, passwordFile: other } = config.sources;
    throw new ConfigError(`password and passwordFile are both set (${one}; ${other}); leave one of them out`);
  }
  return {
    ...config,
    values: { ...config.values, password: readPassword(passwordFile, read) },
    sources: { ...config.sources, password: `file ${passwordFile}` },
  };
}

function checkConfig(config: Config): Config {
  const { values } = config;
  const endpoints = addSchemes(values.endpoints, values);
  const complete = { ...config, values: { ...values, endpoints } };
  checkTermination(complete);
  checkTls(complete);
  checkLogin(complete);
  return complete;
}

/** Lists the lines of `signalbox config`. Values are safe for a terminal: passwords are `***`, and `-` means no value. */
export function describeConfig({ values, sources }: Config) {
  return SETTING_KEYS.map((key) => ({
    key,
    value: clean(getSetting(key).kind.show(values[key])),
    source: clean(sources[key]),
  }));
}

/** Describes one setting, for help and docs. */
export interface SettingRow {
  key: SettingKey;
  kind: string;
  flag: string | undefined;
  short: string | undefined;
  variables: readonly string[];
  standard: string;
  help: string;
}

export function describeSettings(): SettingRow[] {
  return SETTING_KEYS.map((key) => {
    const { kind, short, etcdctl, default: standard, help } = getSetting(key);
    const variables = [getEnvVariableName(key), ...(etcdctl === undefined ? [] : [etcdctl])];
    const shown = standard === undefined ? "-" : kind.show(standard);
    return { key, kind: kind.name, flag: getFlagName(key), short, variables, standard: shown, help };
  });
}
