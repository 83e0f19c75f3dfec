import { formatDuration } from "../base/clock.ts";
import { ConfigError } from "../base/errors.ts";
import { isJsonObject } from "../base/parse-json.ts";
import { clean, findNearest, quoteText } from "../base/text.ts";
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
  createSettingsLayer,
  createVariableLayer,
  type Flags,
  type GivenValue,
} from "./layers.ts";
import { contextName } from "./setting-kinds.ts";
import {
  getEnvVariableName,
  getFlagName,
  getSetting,
  SETTING_KEYS,
  type SettingKey,
  type Settings,
} from "./settings.ts";
import {
  canTerminateWithin,
  computeLargestTermination,
  computeRenewalPeriod,
  computeSafetyMargin,
  computeSmallestTtl,
} from "./ttl.ts";

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

/** A context, and the files that have settings for it, highest priority first. */
export interface ContextEntry {
  readonly name: string;
  readonly files: readonly string[];
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
 * context, the user's file, the system's file, defaults. The user's file has priority over the system's file for a context
 * too. A setting from one source replaces the whole setting of the sources below it. Reads each configuration file once and
 * at most one password file, because cron starts this every minute.
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

/** Checks that the command has time to end before the session can expire. @throws ConfigError with the numbers */
function checkTermination({ values, sources }: Config): void {
  const { ttl, terminationTimeout } = values;
  if (canTerminateWithin(terminationTimeout, ttl)) return;
  const [margin, renewal] = [
    formatDuration(computeSafetyMargin(ttl)),
    formatDuration(computeRenewalPeriod(ttl)),
  ];
  throw new ConfigError(
    `terminationTimeout ${formatDuration(terminationTimeout)} (${clean(sources.terminationTimeout)}) does not fit into ` +
      `ttl ${formatDuration(ttl)} (${clean(sources.ttl)}): with a margin of ${margin} and ${renewal} between renewals, ` +
      `set it to ${formatDuration(computeLargestTermination(ttl))} or less, or set ttl to ${formatDuration(computeSmallestTtl(terminationTimeout))} or more`,
  );
}

/**
 * Checks the TLS settings.
 * @throws ConfigError for a certificate without key or a key without certificate, and for TLS files with an address
 *   that does not use TLS
 */
function checkTls({ values, sources }: Config): void {
  const { cert, key, endpoints } = values;
  const plain = endpoints.find((endpoint) => endpoint.startsWith("http://"));
  const file = (["cacert", "cert", "key"] as const).find((name) => values[name] !== undefined);
  if (plain !== undefined && file !== undefined) {
    throw new ConfigError(
      `${file} is set (${clean(sources[file])}), but ${plain} (${clean(sources.endpoints)}) does not use TLS; ` +
        `write https://, or remove ${file}`,
    );
  }
  if ((cert === undefined) === (key === undefined)) return;
  const [there, missing] = cert === undefined ? (["key", "cert"] as const) : (["cert", "key"] as const);
  throw new ConfigError(
    `${there} is set (${clean(sources[there])}), but ${missing} is not; a certificate needs both`,
  );
}

/**
 * Checks the login.
 * @throws ConfigError for a user without password or a password without user, and for a password that would be sent
 *   without TLS
 */
function checkLogin({ values, sources }: Config): void {
  const { user, password, endpoints, allowPlaintextPassword } = values;
  if (user === undefined && password === undefined) return;
  if (user === undefined)
    throw new ConfigError(`a password is set (${clean(sources.password)}), but no user; set user too`);
  if (password === undefined) {
    throw new ConfigError(
      `user is set (${clean(sources.user)}), but no password; set passwordFile, or SIGNALBOX_PASSWORD`,
    );
  }
  const plain = endpoints.find((endpoint) => !endpoint.startsWith("https://"));
  if (plain === undefined || allowPlaintextPassword) return;
  throw new ConfigError(
    `the password would be sent to ${plain} (${clean(sources.endpoints)}) without TLS; use https://, ` +
      "or allow it with --allow-plaintext-password",
  );
}

/**
 * Adds a scheme to addresses without one, which etcdctl also accepts: https if any TLS setting is set, otherwise http.
 */
function addSchemes(endpoints: readonly string[], values: Settings): readonly string[] {
  const tls = values.cacert !== undefined || values.cert !== undefined || values.insecureSkipTlsVerify;
  return endpoints.map((one) => (one.includes("://") ? one : `${tls ? "https" : "http"}://${one}`));
}

/** The contexts of one configuration file: settings by name, for several clusters. */
interface FileContexts {
  readonly path: string;
  readonly contexts: ReadonlyMap<string, ConfigLayer>;
}

const EXAMPLE = '{"prod": {"endpoints": ["https://etcd1.example.com:2379"]}}';

/**
 * Reads the contexts of a configuration file. Checks the values of all of them: a mistake would otherwise appear only
 * when its context is used.
 * @throws ConfigError that names the file, the context and the setting
 */
function readFileContexts({ path, settings }: ConfigFile): FileContexts {
  const where = clean(path);
  const contexts = Object.hasOwn(settings, "contexts") ? settings.contexts : {};
  if (!isJsonObject(contexts))
    throw new ConfigError(`${where}: contexts: it is not a set of contexts such as ${EXAMPLE}`);
  const layers = Object.entries(contexts).map(
    ([name, own]) => [name, readContext(path, where, name, own)] as const,
  );
  return { path, contexts: new Map(layers) };
}

function readContext(path: string, where: string, name: string, own: unknown): ConfigLayer {
  const parsed = contextName.parse(name);
  if ("fault" in parsed) throw new ConfigError(`${where}: contexts: ${parsed.fault}`);
  const at = `${where}: contexts.${name}`;
  if (!isJsonObject(own))
    throw new ConfigError(`${at}: it is not an object with settings, such as {"prefix": "/signalbox/"}`);
  for (const key of ["context", "contexts"]) {
    if (Object.hasOwn(own, key))
      throw new ConfigError(`${at}: a context cannot have ${quoteText(key)}; remove it`);
  }
  const layer = createSettingsLayer(path, own, { at, separator: ".", source: `context ${name} of ${where}` });
  for (const key of SETTING_KEYS) {
    const given = layer(key);
    const value = given && getSetting(key).kind.parse(given.value);
    if (value !== undefined && "fault" in value) throw given?.createError(value.fault);
  }
  return layer;
}

/** Lists all contexts, in the order of the files. */
function listContexts(files: readonly FileContexts[]): ContextEntry[] {
  const names = new Set(files.flatMap(({ contexts }) => [...contexts.keys()]));
  return [...names].map((name) => ({
    name,
    files: files.filter(({ contexts }) => contexts.has(name)).map(({ path }) => path),
  }));
}

/** Names in an error message. */
const MOST_NAMES = 12;

/** Builds the error for a context that no file has. @param chosen  the name, and where it was given */
function createUnknownContextError(chosen: GivenValue, known: readonly ContextEntry[]): Error {
  const name = String(chosen.value);
  const names = known.map((one) => one.name);
  if (names.length === 0)
    return chosen.createError(
      `there is no context ${quoteText(name)}: the configuration has no contexts; add "contexts": ${EXAMPLE} to a file`,
    );
  const nearest = findNearest(name, names);
  const shown = names.slice(0, MOST_NAMES).join(", ") + (names.length > MOST_NAMES ? ", …" : "");
  return chosen.createError(
    `there is no context ${quoteText(name)}; ${nearest === undefined ? "" : `did you mean ${nearest}? `}known contexts: ${shown}`,
  );
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
