import { ConfigError } from "../base/errors.ts";
import { isJsonObject } from "../base/parse-json.ts";
import { clean, findNearest, quoteText } from "../base/text.ts";
import type { ConfigFile } from "./files.ts";
import { type ConfigLayer, createSettingsLayer, type GivenValue } from "./layers.ts";
import { contextName } from "./setting-kinds.ts";
import { getSetting, SETTING_KEYS } from "./settings.ts";

/** The contexts of one configuration file: settings by name, for several clusters. */
interface FileContexts {
  readonly path: string;
  readonly contexts: ReadonlyMap<string, ConfigLayer>;
}

/** A context, and the files that have settings for it, highest priority first. */
export interface ContextEntry {
  readonly name: string;
  readonly files: readonly string[];
}

/** Names in an error message. */
const MOST_NAMES = 12;

/**
 * Reads the contexts of a configuration file. Checks the values of all of them: a mistake would otherwise appear only
 * when its context is used.
 * @throws ConfigError that names the file, the context and the setting
 */
export function readFileContexts({ path, settings }: ConfigFile): FileContexts {
  const where = clean(path);
  const contexts = Object.hasOwn(settings, "contexts") ? settings.contexts : {};
  if (!isJsonObject(contexts))
    throw new ConfigError(`${where}: contexts: it is not a set of contexts such as ${EXAMPLE}`);
  const layers = Object.entries(contexts).map(
    ([name, own]) => [name, readContext(path, where, name, own)] as const,
  );
  return { path, contexts: new Map(layers) };
}

const EXAMPLE = '{"prod": {"endpoints": ["https://etcd1.example.com:2379"]}}';

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
export function listContexts(files: readonly FileContexts[]): ContextEntry[] {
  const names = new Set(files.flatMap(({ contexts }) => [...contexts.keys()]));
  return [...names].map((name) => ({
    name,
    files: files.filter(({ contexts }) => contexts.has(name)).map(({ path }) => path),
  }));
}

/** Builds the error for a context that no file has. @param chosen  the name, and where it was given */
export function createUnknownContextError(chosen: GivenValue, known: readonly ContextEntry[]): Error {
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
