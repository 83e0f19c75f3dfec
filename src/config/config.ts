import { ConfigError } from "../base/errors.ts";
import { clean } from "../base/text.ts";
import { checkLogin, checkTermination, checkTls, withSchemes } from "./checks.ts";
import { configFiles, type Env, type ReadFile, readFile, readPassword } from "./files.ts";
import { type Flags, fileLayer, flagLayer, type Given, type Layer, variableLayer } from "./layers.ts";
import { flagOf, SETTING_KEYS, type SettingKey, type Settings, settingOf, variableOf } from "./settings.ts";

export interface Config {
  readonly values: Settings;
  /** Where each value came from: `flag --ttl`, `environment SIGNALBOX_TTL`, `/etc/signalbox/config.json: ttl`, `default`. */
  readonly sources: Readonly<Record<SettingKey, string>>;
  /** Configuration files that were read, the strongest first. */
  readonly files: readonly string[];
}

export interface ConfigInput {
  flags?: Flags;
  env?: Env;
  readFile?: ReadFile;
  /** What a program says, before all others. */
  options?: Layer;
}

/**
 * The settings that hold: flags before `SIGNALBOX_*` variables, before etcdctl's own, before the user's file, before
 * the system's, before defaults. A setting is replaced as a whole. Costs one read for each configuration file and one
 * for a password file, as cron starts this every minute.
 * @throws UsageError for a flag's value, ConfigError for any other, both naming its source and quoting it
 */
export function resolveConfig({
  flags = {},
  env = {},
  readFile: read = readFile,
  options,
}: ConfigInput = {}): Config {
  const files = configFiles(namedFile(flags, env), env, read);
  const layers = [
    ...(options === undefined ? [] : [options]),
    flagLayer(flags),
    variableLayer(env, variableOf),
    variableLayer(env, (key) => settingOf(key).etcdctl),
    ...files.map(fileLayer),
  ];
  const values: Partial<Record<SettingKey, unknown>> = {};
  const sources: Partial<Record<SettingKey, string>> = {};
  for (const key of SETTING_KEYS) {
    const given = settledBy(layers, files.length, key);
    values[key] = given === undefined ? settingOf(key).default : given.value;
    sources[key] = given?.source ?? "default";
  }
  const found = {
    values: values as Settings,
    sources: sources as Config["sources"],
    files: files.map(({ path }) => path),
  };
  return checked(withPassword(found, layers, read));
}

/** `-c`, else SIGNALBOX_CONFIG. */
function namedFile(flags: Flags, env: Env): string | undefined {
  const { SIGNALBOX_CONFIG: variable = "" } = env;
  if (typeof flags.config === "string") return flags.config;
  return variable === "" ? undefined : variable;
}

/**
 * The strongest layer's value, read. Those in files are read in any case: a mistake that shows only once a flag is left
 * out would show at the wrong time. Weaker variables are not: etcdctl's may hold what only etcdctl understands.
 */
function settledBy(layers: readonly Layer[], files: number, key: SettingKey): Given | undefined {
  let strongest: Given | undefined;
  for (const [rank, layer] of layers.entries()) {
    if (strongest !== undefined && rank < layers.length - files) continue;
    const given = layer(key);
    if (given === undefined) continue;
    const parsed = settingOf(key).kind.parse(given.value);
    if ("fault" in parsed) throw given.refuse(parsed.fault);
    strongest ??= { ...given, value: parsed.value };
  }
  return strongest;
}

/** `passwordFile` is read, unless a stronger layer has the password itself. */
function withPassword(config: Config, layers: readonly Layer[], read: ReadFile): Config {
  const { password, passwordFile } = config.values;
  if (passwordFile === undefined) return config;
  const rank = (key: SettingKey) => layers.findIndex((layer) => layer(key) !== undefined);
  if (password !== undefined && rank("password") < rank("passwordFile")) return config;
  if (password !== undefined && rank("password") === rank("passwordFile")) {
    const { password: one, passwordFile: other } = config.sources;
    throw new ConfigError(`password and passwordFile are both set (${one}; ${other}); leave one of them out`);
  }
  return {
    ...config,
    values: { ...config.values, password: readPassword(passwordFile, read) },
    sources: { ...config.sources, password: `file ${passwordFile}` },
  };
}

function checked(config: Config): Config {
  const { values } = config;
  const endpoints = withSchemes(values.endpoints, values);
  const complete = { ...config, values: { ...values, endpoints } };
  checkTermination(complete);
  checkTls(complete);
  checkLogin(complete);
  return complete;
}

/** One line of `signalbox config`: the value fit for a terminal, passwords as `***`, `-` where there is none. */
export interface ConfigRow {
  key: SettingKey;
  value: string;
  source: string;
}

export function describeConfig({ values, sources }: Config): ConfigRow[] {
  return SETTING_KEYS.map((key) => ({
    key,
    value: clean(settingOf(key).kind.show(values[key])),
    source: clean(sources[key]),
  }));
}

/** What there is to know about each setting, for help and docs. */
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
    const { kind, short, etcdctl, default: standard, help } = settingOf(key);
    const variables = [variableOf(key), ...(etcdctl === undefined ? [] : [etcdctl])];
    const shown = standard === undefined ? "-" : kind.show(standard);
    return { key, kind: kind.name, flag: flagOf(key), short, variables, standard: shown, help };
  });
}
